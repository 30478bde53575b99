"""Run directories for the report's tests: generated once, copied for whoever changes one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sample_run

from chaosk.report.axis import Axis
from chaosk.report.source import Source, read
from chaosk.report.tables import Frame
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Verdict

Rows = Iterable[dict[str, Any]]


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """A whole run directory; not to be changed."""
    return sample_run.sample_run(tmp_path_factory.mktemp("pristine") / "run")


@pytest.fixture
def make_run(pristine: RunDir, tmp_path: Path) -> Callable[..., RunDir]:
    """Makes a copy of the run directory, with another verdict if one is given."""

    def make(verdict: Verdict | None = None) -> RunDir:
        run = RunDir(tmp_path / "run")
        shutil.copytree(pristine.root, run.root, dirs_exist_ok=True)
        if verdict is not None:
            run.verdict.write_text(verdict.model_dump_json(), encoding="utf-8")
        return run

    return make


@pytest.fixture
def source(pristine: RunDir) -> Source:
    """The pristine run, read."""
    return read(pristine)


@pytest.fixture
def axis() -> Axis:
    """From 5 s before the timeline's start to 61 s after it."""
    return Axis(sample_run.ZERO, int(sample_run.ns(-5)), int(sample_run.ns(61)))


@pytest.fixture
def frame() -> Callable[[str, Rows], Frame]:
    """Makes a batch of a table from rows; a missing column is empty."""

    def make(table: str, rows: Rows) -> Frame:
        return Frame(pa.RecordBatch.from_pylist(list(rows), schema=SCHEMAS[table]))

    return make

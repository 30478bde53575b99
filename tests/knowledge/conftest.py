"""Run directories with events for the comparison's tests: generated once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sample_run
from sample_history import run_of
from sample_run import Shape

from chaosk.campaign.history.stored_run import StoredRun, stored
from chaosk.rundir.paths import RunDir


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """A run directory with events; not to be changed."""
    run = RunDir(tmp_path_factory.mktemp("events") / "run")
    sample_run.write_events(run, Shape(rate=50))
    return run


@pytest.fixture
def make(tmp_path: Path, events: RunDir) -> Callable[..., StoredRun]:
    """Makes a judged run of that name with those events; the rest is as for ``run_of``."""

    def made(name: str, **changes: Any) -> StoredRun:
        run = run_of(tmp_path / name, **changes)
        shutil.copytree(events.events, run.events)
        return stored(run)

    return made

"""A run whose tables are read in parts, as those of a long one are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import pyarrow.parquet as pq
import pytest

from chaosk.analysis.glances import rows as event_rows
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.paths import RunDir

ROWS = 7
"""Rows of a part."""


def divide(rundir: RunDir) -> None:
    """Write each table again, in row groups of a few rows."""
    for path in rundir.events.glob("*.parquet"):
        pq.write_table(pq.read_table(path), path, row_group_size=ROWS)


def unasked() -> NoReturn:
    """Fail, in the place of a session: Spark is not needed."""
    raise AssertionError("Spark is asked for")


@contextmanager
def in_parts(rows: EventRows) -> Iterator[EventRows]:
    """The same rows, in parts."""
    divide(rows.case.rundir)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_rows, "PART", ROWS)
        yield EventRows(rows.case)

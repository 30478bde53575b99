"""Reading event tables with pyarrow: a table that is missing or damaged is an AnalysisError that says what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from chaosk.core.errors import AnalysisError
from chaosk.rundir.events import TABLES


@contextmanager
def reading(events: Path, name: str) -> Iterator[Path]:
    """Give the file of an event table; raises AnalysisError if it cannot be read meanwhile."""
    path = events / f"{name}.parquet"
    try:
        yield path
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error


def read(
    events: Path, name: str, columns: Sequence[str] | None = None, wanted: pc.Expression | None = None
) -> pa.Table:
    """Return the rows of an event table for which a condition holds; raises AnalysisError if it cannot be read."""
    with reading(events, name) as path:
        return pq.read_table(path, columns=None if columns is None else list(columns), filters=wanted)


class EventFile:
    """One event table, of which single columns are read; text as codes with a dictionary, as it is in the file."""

    def __init__(self, events: Path, name: str) -> None:
        """Open it; raises AnalysisError if it cannot be read."""
        self._events, self._name = events, name
        texts = [column.name for column in TABLES[name].columns if column.kind == "string"]
        with reading(events, name) as path:
            self._file = pq.ParquetFile(path, read_dictionary=texts)

    @property
    def groups(self) -> int:
        """Number of its row groups."""
        return int(self._file.num_row_groups)

    def length(self, group: int) -> int:
        """Return the number of rows of a row group."""
        return int(self._file.metadata.row_group(group).num_rows)

    def rows(self, group: int) -> pa.Table:
        """Return all columns of a row group; raises AnalysisError if they cannot be read."""
        with reading(self._events, self._name):
            return self._file.read_row_group(group)

    def column(self, name: str, group: int | None = None) -> Any:  # noqa: ANN401 - chunks of any type
        """Return a column, of one row group if one is named; raises AnalysisError if it cannot be read."""
        with reading(self._events, self._name):
            if group is not None:
                return self._file.read_row_group(group, columns=[name])[name]
            return self._file.read(columns=[name])[name]


def _unreadable(path: Path, error: BaseException) -> AnalysisError:
    what = "is missing" if isinstance(error, FileNotFoundError) else f"is damaged ({str(error).splitlines()[0][:200]})"
    if isinstance(error, FileNotFoundError):
        what += " (a run that another version of chaosk recorded may not have it)"
    return AnalysisError(
        f"{path}: the event table {what}, so the run cannot be judged; "
        f"if {path.parent.with_name('live')} still holds the live streams, delete {path.parent} and analyze again"
    )

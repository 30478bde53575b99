"""Filters for events: by the value of a column, and by a window of the run's time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from chaosk.core.errors import UsageError
from chaosk.core.suggest import instead
from chaosk.rundir.events import TABLES, Column, Table
from chaosk.rundir.events.store import scan
from chaosk.rundir.paths import RunDir

_WHERE = re.compile(r"(?P<column>\w+)(?P<sign>!?=)(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on a row: a column equals a value, or does not; None stands for an empty column."""

    column: str
    value: Any
    negated: bool = False

    def holds(self, batch: pa.RecordBatch) -> Any:  # noqa: ANN401 - Arrow's stubs type each kind of array apart
        """Return a mask of the rows that satisfy the condition."""
        values: Any = batch.column(self.column)
        if self.value is None:
            return pc.is_valid(values) if self.negated else pc.is_null(values)
        if isinstance(self.value, list):
            return pa.array([(value == self.value) != self.negated for value in values.to_pylist()], pa.bool_())
        wanted: Any = pa.scalar(self.value, values.type)
        if self.negated:
            return pc.or_kleene(pc.not_equal(values, wanted), pc.is_null(values))
        return pc.equal(values, wanted)


@dataclass(frozen=True, slots=True)
class Window:
    """A time window on one column, nanoseconds of the run's monotonic clock; None leaves a bound open."""

    column: str
    begin: int | None
    end: int | None

    def holds(self, batch: pa.RecordBatch) -> Any:  # noqa: ANN401 - as above
        """Return a mask of the rows in the window; a row without a time is in no window."""
        times: Any = batch.column(self.column)
        mask: Any = pc.is_valid(times)
        for bound, inside in ((self.begin, pc.greater_equal), (self.end, pc.less)):
            if bound is not None:
                wanted: Any = pa.scalar(bound, pa.int64())
                mask = pc.and_kleene(mask, inside(times, wanted))
        return mask


def table_of(name: str) -> Table:
    """Return the event table of that name; raises UsageError naming the nearest one."""
    if name not in TABLES:
        raise UsageError(f"{name}: there is no such event table; {instead(name, TABLES)}")
    return TABLES[name]


def parse_where(table: Table, text: str) -> Where:
    """Parse ``column=value`` or ``column!=value``; no value means an empty column. Raises UsageError."""
    found = _WHERE.fullmatch(text)
    if not found:
        raise UsageError(f"{text!r} is not a condition; write column=value or column!=value, like outcome=fail")
    columns = {column.name: column for column in table.columns}
    name = found["column"]
    if name not in columns:
        raise UsageError(f"{table.name} has no column {name!r}; {instead(name, columns)}")
    return Where(name, _value(columns[name], found["value"]), negated=found["sign"] == "!=")


def _value(column: Column, text: str) -> Any:  # noqa: ANN401 - of the column's kind
    if not text:
        return None
    try:
        match column.kind:
            case "string":
                return text
            case "bool":
                return {"true": True, "false": False}[text.lower()]
            case "double":
                return float(text)
            case "ints":
                return [int(each) for each in text.split(",")]
            case _:
                return int(text)
    except (ValueError, KeyError):
        kinds = {"bool": "true or false", "double": "a number", "ints": "whole numbers with commas, like 0,1,2"}
        wanted = kinds.get(column.kind, "a whole number")
        raise UsageError(f"{column.name} is {wanted}, not {text!r}") from None


def time_column(table: Table) -> str | None:
    """Return the first column of a table that is a time, as the time of its rows; None if there is none."""
    return next((column.name for column in table.columns if column.kind == "time"), None)


def zero(rundir: RunDir) -> int | None:
    """Return the zero of the run's time: the start of the timeline, else of the first phase; None if none began."""
    began: dict[str, int] = {}
    for batch in scan(rundir, "phases"):
        for row in batch.to_pylist():
            began.setdefault(row["phase"], row["began"])
    return began.get("timeline", min(began.values(), default=None))


def window(table: Table, origin: int | None, begin: float | None, end: float | None) -> Window | None:
    """Return the window from ``begin`` to ``end``, seconds after ``origin``; raises UsageError if there can be none."""
    if begin is None and end is None:
        return None
    column = time_column(table)
    if column is None:
        raise UsageError(f"{table.name} has no times, so --from and --to choose nothing; leave them out")
    if origin is None:
        raise UsageError("the run has no phase yet, so there is no time to count --from and --to from; leave them out")
    bounds = [None if bound is None else origin + round(bound * 1e9) for bound in (begin, end)]
    return Window(column, bounds[0], bounds[1])


def select(
    batches: Iterable[pa.RecordBatch], conditions: Sequence[Where | Window], limit: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows that satisfy every condition, in order, at most ``limit``."""
    left = limit
    for each in batches:
        batch = each
        for condition in conditions:
            batch = batch.filter(condition.holds(batch))
        if left is not None:
            batch = batch.slice(0, left)
            left -= batch.num_rows
        if batch.num_rows:
            yield batch
        if left == 0:
            return

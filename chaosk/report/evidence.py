"""Evidence rows as tables: the same columns for every row, moments as seconds since the timeline's start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chaosk.events import TABLES
from chaosk.report.words import since
from chaosk.verdict import Cell, Row

_MOMENTS = {
    column.name
    for table in TABLES.values()
    for column in table.columns
    if column.kind == "long" and column.meaning.startswith(("when", "begin", "end of"))
}
_NEAR = 7 * 24 * 3600 * 10**9
"""A number further from the timeline's start than a week of nanoseconds is no moment of the run."""


@dataclass(frozen=True, slots=True)
class Table:
    """Evidence ready to be shown."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def evidence_table(rows: Sequence[Row], zero: int) -> Table:
    """The rows with every column that any of them has, in the order in which they come."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table(columns, tuple(tuple(_text(name, row.get(name), zero) for name in columns) for row in rows))


def _text(column: str, value: Cell, zero: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and is_moment(column, value, zero):
        return since((value - zero) / 1e9)
    if isinstance(value, tuple):
        return ", ".join(str(item) for item in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def is_moment(column: str, value: int, zero: int) -> bool:
    """Whether a number is a moment of the run's monotonic clock."""
    return (column in _MOMENTS or column.endswith("_at")) and abs(value - zero) < _NEAR

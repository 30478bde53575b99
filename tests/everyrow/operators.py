"""What can become of a row: gone, there twice, at another offset, at another time, in another place."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.history import Row
from everyrow.kinds import TIME, Kind, Rows

SHIFTED: dict[str, tuple[str, ...]] = {
    "sends": ("offset",), "reads": ("offset",), "seeks": ("offset",), "commits": ("offset",), "fetched": ("offset",),
    "txn_offsets": ("offset",), "outputs": ("offset",), "groups": ("offset",), "audit": ("offset",),
    "audit_ranges": ("log_start", "end"), "markers": ("offset",), "stretches": ("first", "last", "marker"),
    "dumps": ("log_start", "end"), "copies": ("first", "last"),
    "offsets": ("log_start", "high_watermark", "last_stable", "log_end"),
    "tallies": ("count",), "ends": ("rows",), "stream_ends": ("rows",),
}  # fmt: skip
"""By table the columns that are offsets, or count rows."""
FAR = 2_000_000_000
"""Nanoseconds that a row is moved in time."""


def changed(kind: Kind, rows: Rows, partitions: dict[str, int]) -> Iterator[tuple[str, list[Row]]]:
    """By operator, the rows of the table after it; ``partitions`` by topic how many there are."""
    table, row = rows[kind.table], rows[kind.table][kind.number]
    yield "drop", [each for number, each in enumerate(table) if number != kind.number]
    yield "repeat", [*table, row]
    for column in SHIFTED.get(kind.table, ()):
        for step in (1, -1):
            if (row[column] is not None or step > 0) and (moved := (row[column] or 0) + step) >= 0:
                yield f"{column} {step:+d}", _with(table, {kind.number: {column: moved}})
    columns = SHIFTED.get(kind.table, ())[:1] or TIME.get(kind.table, ())
    if kind.next is not None and columns and any(row[c] != table[kind.next][c] for c in columns):
        pair = (kind.number, kind.next)
        mine, other = ({column: table[number][column] for column in columns} for number in pair)
        yield "swap", _with(table, {kind.number: other, kind.next: mine})
    times = {column: row[column] for column in TIME.get(kind.table, ()) if row[column] is not None}
    for word, step in (("earlier", -FAR), ("later", FAR)):
        if times:
            yield word, _with(table, {kind.number: {column: at + step for column, at in times.items()}})
    if row.get("partition") is not None:
        away = 1 if row["partition"] != 1 or partitions.get(row["topic"], 1) < 2 else 0
        yield "elsewhere", _with(table, {kind.number: {"partition": away}})


def _with(table: list[Row], changes: dict[int, Row]) -> list[Row]:
    return [row | changes.get(number, {}) for number, row in enumerate(table)]

"""What a twist is, and what all of them share: the rows of one record, of one process, of one partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

from analysis.history import SENDER, VALUE, History, Row

Twist = Callable[[History, Random], None]
"""Changes a history; one that finds nothing to change leaves it as it is."""
Kind = TypeVar("Kind", bound=Twist)
Value = tuple[str, int, int]
"""Producer, its incarnation, and the sequence number."""
WROTE, SAW = ("sends", "outputs"), ("reads", "audit", "failures")
"""Tables with a row of the writer of a record, and of those that saw it."""
PLACED = ("sends", "reads", "audit", "failures")
"""Tables that say at which place in a log a record is."""
LEVELS = ("read_uncommitted", "read_committed")
SECOND = 1_000_000_000

TWISTS: dict[str, Twist] = {}
"""Every twist by its name."""


def twist(make: Kind) -> Kind:
    """Register a twist."""
    TWISTS[make.__name__] = make
    return make


def value_of(table: str, row: Row) -> Value | None:
    """The value that a row is about; None if its payload is not ours."""
    names = SENDER if table in WROTE else VALUE
    value = (row[names[0]], row[names[1]], row[names[2]])
    return None if None in value else value


def sent(history: History, draw: Random) -> Value | None:
    """The value of any record that was sent; None if none was."""
    rows = history.rows["sends"]
    return value_of("sends", draw.choice(rows)) if rows else None


def about(history: History, value: Value, *tables: str) -> Iterator[tuple[str, Row]]:
    """The rows of a record, with their table."""
    for table in tables or (*WROTE, *SAW):
        for row in history.rows[table]:
            if value_of(table, row) == value:
                yield table, row


def forget(history: History, table: str, gone: Callable[[Row], bool]) -> None:
    """Remove rows of a table."""
    history.rows[table] = [row for row in history.rows[table] if not gone(row)]


def some(draw: Random, names: Sequence[str]) -> tuple[str, ...]:
    """Mostly all names, else all but one, or one."""
    one = draw.choice(names)
    return draw.choice([tuple(names), tuple(names), tuple(name for name in names if name != one), (one,)])


def next_n(history: History, probe: str, incarnation: int) -> int:
    """The number of the next delivery of a process."""
    mine = (row["n"] for row in history.rows["reads"] if (row["probe"], row["incarnation"]) == (probe, incarnation))
    return max(mine, default=-1) + 1


def renumbered(history: History) -> None:
    """Deliveries of each process are numbered in the order of their times."""
    count: dict[tuple[str, int], int] = {}
    for row in sorted(history.rows["reads"], key=lambda row: (row["at"], row["n"])):
        process = (row["probe"], row["incarnation"])
        row["n"] = count[process] = count.get(process, -1) + 1


def end_of(history: History, topic: str, partition: int | None) -> int:
    """One past the last known offset of a partition."""
    rows = (row for table in PLACED for row in history.rows[table])
    mine = (row["offset"] for row in rows if (row["topic"], row["partition"]) == (topic, partition))
    return max((offset for offset in mine if offset is not None), default=-1) + 1


def readers(history: History) -> list[str]:
    """The probes that were given anything."""
    return sorted({row["probe"] for row in history.rows["reads"]})


def moment(history: History, draw: Random) -> float:
    """Seconds of a moment at which something was going on."""
    return draw.uniform(-5, 20)


def copied(rows: Sequence[Row], **changed: object) -> list[Row]:
    """The rows again, with these values."""
    return [row | changed for row in rows]

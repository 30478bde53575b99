"""A story: the rows of one made-up run with all that is known to be true about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from analysis.history import Row, ns
from truth.logs import Fate, Log, Place, Value

from chaosk.rundir.events.arrow import SCHEMAS

TOPICS: dict[str, Row] = {
    "orders": {"min.insync.replicas": 2},
    "trimmed": {"min.insync.replicas": 2},
    "dirty": {"unclean.leader.election.enable": "true"},
    "compacted": {"cleanup.policy": "compact"},
    "results": {"min.insync.replicas": 2},
}
"""The topics of every story by what is special about them, with their settings."""
INTO = "results"
"""The topic that applications write their outputs to; nobody else writes to it."""
END = 60
"""Seconds after which the probes are told to end; nothing is sent after 20, so what waits then waits for long."""
RUN_ENDED = ns(END)
"""When the time that is measured ends."""
LEVELS = ("read_uncommitted", "read_committed")


@dataclass(frozen=True, slots=True)
class Planted:
    """One row that a check must find, because somebody planted it."""

    check: str
    severity: str
    key: tuple[Any, ...]
    """What tells the row apart, see ``truth.told.KEYS``."""


@dataclass
class Story:
    """One made-up run."""

    seed: int
    logs: dict[Place, Log] = field(default_factory=dict)
    fates: dict[str, Fate] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in SCHEMAS})
    expected: set[Planted] = field(default_factory=set)
    known: bool = True
    """Whether what is expected is all there is to find; else only two opinions of it can be compared."""
    plants: list[str] = field(default_factory=list)
    """Names of what was planted, in order."""
    free: list[Place] = field(default_factory=list)
    """Partitions in which nothing was planted yet; those of outputs are never among them."""
    cut: set[str] = field(default_factory=set)
    """Groups of which a process was killed in any of the stories that are judged in one run with this one."""
    tapped: bool = False
    """Whether anything was planted in what applications did that read, write and commit."""

    def add(self, table: str, **values: Any) -> Row:
        """Add a row; what is not given is empty. Times are nanoseconds here."""
        row: Row = dict.fromkeys(SCHEMAS[table].names) | values
        self.rows[table].append(row)
        return row

    def all(self, table: str, **wanted: Any) -> list[Row]:
        """The rows with these values."""
        return [row for row in self.rows[table] if all(row[name] == value for name, value in wanted.items())]

    def drop(self, table: str, gone: Callable[[Row], bool]) -> None:
        """Remove rows."""
        self.rows[table] = [row for row in self.rows[table] if not gone(row)]

    def settings(self, value: Value) -> Row:
        """The settings of the process that wrote a value."""
        (row,) = self.all("incarnations", probe=value[0], incarnation=value[1])
        return row

    def expect(self, check: str, severity: str, *key: Any) -> None:
        """A check must find this row."""
        self.expected.add(Planted(check, severity, key))

    def isolation(self, member: tuple[str, int]) -> str:
        """The isolation level that a process reads at."""
        (row,) = self.all("incarnations", probe=member[0], incarnation=member[1])
        return str(row["isolation"])

    def killed(self) -> set[tuple[str, int]]:
        """The processes without an end marker."""
        ended = {(row["probe"], row["incarnation"]) for row in self.rows["ends"]}
        return {(row["probe"], row["incarnation"]) for row in self.rows["incarnations"]} - ended

    def cut_off(self) -> set[str]:
        """The groups of which a process was killed."""
        killed, rows = self.killed(), self.rows["incarnations"]
        return {row["group"] for row in rows if row["group"] is not None and member_of(row) in killed}

    def readers(self) -> Iterator[Row]:
        """The rows of ``incarnations`` of consumers."""
        return (row for row in self.rows["incarnations"] if row["kind"] == "consume")


def random(*seed: object) -> Random:
    """Random draws that a seed repeats."""
    return Random(repr(seed))  # noqa: S311 - repeatable, not secret


def value_of(row: Row) -> Value | None:
    """The value of a row of ``reads`` or ``audit``; None for a record that is not of this run."""
    return (row["producer"], row["producer_incarnation"], row["seq"]) if row["intact"] else None


def place_of(row: Row) -> Place:
    """Topic and partition of a row."""
    return row["topic"], row["partition"]


def member_of(row: Row) -> tuple[str, int]:
    """The process that a row is of."""
    return row["probe"], row["incarnation"]


def named(place: Place) -> Row:
    """Topic and partition as columns."""
    return {"topic": place[0], "partition": place[1]}

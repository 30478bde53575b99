"""Start of what each reader is owed by partition, and the time since which no member owned it.

These are small tables, in pure Python. A debt begins with the reader's position, independent of the first delivery. The
position is the committed offset that it found, or the offset that it sought before it read anything. With nothing
committed, it is the result of ``auto.offset.reset``: the log start, or its end as the probe asked for it (a row of
``seeks``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any

from chaosk.analysis.case import Case, Process
from chaosk.analysis.completeness import gone
from chaosk.analysis.event_files import read
from chaosk.analysis.readers import Reader, patience, readers

Row = dict[str, Any]
_NEVER = 2**62
_Key = tuple[str, str, int]
"""Reader, topic and partition."""


@dataclass(frozen=True, slots=True)
class Debt:
    """One partition of one reader. Times are nanoseconds, positions are offsets; None: unknown."""

    reader: str
    topic: str
    partition: int
    latest: bool
    """True if ``auto.offset.reset`` puts it, or any of its members, at the end."""
    mixed: bool
    """True if it puts other members elsewhere."""
    since: int | None
    """First assignment to a member."""
    orphaned: int | None
    """Time since which no member owned it at the end (if none ever did, the reader's start); None if one did."""
    patience: int
    """Longest time without an owner that time-outs explain."""
    dismissed: str | None
    """Reason why it is owed nothing at the end."""
    dismissed_at: int | None
    """End of its last process."""
    asked: bool
    """True if a member received the committed offset, and used it."""
    answered: int | None
    """Time of that answer."""
    assumed: int | None
    """Start without any recorded row; None if unknown."""
    found: int | None
    """First committed offset found; None if there was none."""
    sought_at: int | None
    """Time of a member's first seek or reset."""
    sought: int | None
    """Its offset."""
    later: int | None
    """Highest offset of later seeks."""


SCHEMA = (
    "reader string, topic string, partition int, latest boolean, mixed boolean, since long, orphaned long, "
    "patience long, dismissed string, dismissed_at long, asked boolean, answered long, assumed long, found long, "
    "sought_at long, sought long, later long"
)
"""Columns of a frame of debts."""


def debts(case: Case) -> list[tuple[Any, ...]]:
    """Return one row per partition that a reader is owed, see :class:`Debt`; raises AnalysisError if unreadable."""
    given, found, sought = (_by_key(case, name) for name in ("assignments", "fetched", "seeks"))
    known: dict[tuple[str, str], set[int]] = defaultdict(set)
    for name, topic, partition in (*given, *found):
        known[name, topic].add(partition)
    holders = _holders(case)
    rows: list[tuple[Any, ...]] = []
    for reader in readers(case):
        for partition in sorted(_partitions(case, reader) | known[reader.name, reader.topic]):
            key = (reader.name, reader.topic, partition)
            orphaned = holders.left(reader.name, given[key])
            rows.append(astuple(_debt(reader, partition, orphaned, (given[key], found[key], sought[key]))))
    return rows


def _partitions(case: Case, reader: Reader) -> set[int]:
    """Return the topic's partitions that the reader is configured to read."""
    shape = case.topics.get(reader.topic)
    numbers = set(range(shape.partitions)) if shape is not None else set[int]()
    return numbers if reader.partitions is None else numbers & reader.partitions


def _debt(reader: Reader, partition: int, orphaned: int | None, rows: tuple[list[Row], list[Row], list[Row]]) -> Debt:
    given, found, sought = rows
    asked = min(found, key=lambda row: row["completed"], default=None)
    turns = sorted(sought, key=lambda row: row["at"])
    first, rest = turns[:1], turns[1:]
    return Debt(
        reader=reader.name,
        topic=reader.topic,
        partition=partition,
        latest=reader.latest,
        mixed=reader.mixed,
        since=min((row["at"] for row in given if row["kind"] == "assign"), default=None),
        orphaned=orphaned,
        patience=patience(reader, partition, owned=bool(given)),
        dismissed=reader.dismissed,
        dismissed_at=reader.dismissed_at,
        asked=asked is not None and reader.start == "committed",
        answered=None if asked is None else asked["completed"],
        assumed=0 if not reader.latest and (reader.alone or reader.start == "beginning") else None,
        found=None if asked is None else asked["offset"],
        sought_at=first[0]["at"] if first else None,
        sought=first[0]["offset"] if first else None,
        later=max((row["offset"] for row in rest), default=None),
    )


@dataclass(frozen=True, slots=True)
class _Holders:
    """Times in which members may have owned partitions."""

    ended: int
    """Time at which the probes were asked to end."""
    gone: dict[Process, int]
    """Latest possible end by process without an end marker."""
    began: dict[str, int]
    """Start of its first process by reader."""
    first: int
    """Start of the run."""

    def left(self, reader: str, given: list[Row]) -> int | None:
        """Return the time since which no member owned a partition, at the end; None if one did."""
        terms = list(self._terms(given))
        if any(began <= self.ended <= over for began, over in terms):
            return None
        return max((over for _, over in terms), default=self.began.get(reader, self.first))

    def _terms(self, given: list[Row]) -> Iterator[tuple[int, int]]:
        """Yield start and end of each member's ownership; a killed member's ends with its process."""
        by_member: dict[tuple[Process, int], list[Row]] = defaultdict(list)
        for row in given:
            by_member[(row["probe"], row["incarnation"]), row["assignment"]].append(row)
        for (process, _), rows in by_member.items():
            began = min((row["at"] for row in rows if row["kind"] == "assign"), default=None)
            if began is not None:
                taken = (row["at"] for row in rows if row["kind"] != "assign")
                yield began, max(began, min(taken, default=self.gone.get(process, _NEVER)))


def _holders(case: Case) -> _Holders:
    began: dict[str, int] = {}
    for worker in case.workers:
        began[worker.reader] = min(worker.started, began.get(worker.reader, worker.started))
    unended = case.unended
    lost = {(w.probe, w.incarnation): gone(case, w) for w in case.workers if (w.probe, w.incarnation) in unended}
    return _Holders(case.run.ended, lost, began, case.run.began)


def _by_key(case: Case, table: str) -> dict[_Key, list[Row]]:
    found: dict[_Key, list[Row]] = defaultdict(list)
    if not case.rows[table]:
        return found
    whose = {(worker.probe, worker.incarnation): worker.reader for worker in case.workers}
    for row in read(case.events, table).to_pylist():
        reader = row.get("group") or whose.get((row["probe"], row["incarnation"]), row["probe"])
        found[reader, row["topic"], row["partition"]].append(row)
    return found

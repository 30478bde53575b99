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
class ReaderAbsence:
    """Time between two processes of a reader that begins at the end of the log whenever it comes."""

    since: int
    """End of the earlier process's last assignment, monotonic nanoseconds."""
    until: int
    """Assignment to the later one."""
    end: int | None
    """Offset at which the later one began; None: the cluster did not answer where the log ended."""


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
    absences: tuple[ReaderAbsence, ...]
    """Times in which no process of a reader was there that begins at the end each time; none of others."""


SCHEMA = (
    "reader string, topic string, partition int, latest boolean, mixed boolean, since long, orphaned long, "
    "patience long, dismissed string, dismissed_at long, asked boolean, answered long, assumed long, found long, "
    "sought_at long, sought long, later long, absences array<struct<since: long, until: long, end: long>>"
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
            absences = tuple(holders.absences(given[key], sought[key])) if reader.anew else ()
            rows.append(astuple(_debt(reader, partition, orphaned, absences, (given[key], found[key], sought[key]))))
    return rows


def _partitions(case: Case, reader: Reader) -> set[int]:
    """Return the topic's partitions that the reader is configured to read."""
    shape = case.topics.get(reader.topic)
    numbers = set(range(shape.partitions)) if shape is not None else set[int]()
    return numbers if reader.partitions is None else numbers & reader.partitions


def _debt(
    reader: Reader,
    partition: int,
    orphaned: int | None,
    absences: tuple[ReaderAbsence, ...],
    rows: tuple[list[Row], list[Row], list[Row]],
) -> Debt:
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
        absences=absences,
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

    def absences(self, given: list[Row], sought: list[Row]) -> Iterator[ReaderAbsence]:
        """Yield the times between two processes; none if an earlier one may have held the partition all the while."""
        spans = {process: self._span(rows) for process, rows in _by_process(given).items()}
        known = sorted((span, process) for process, span in spans.items() if span is not None)
        for number, ((began, over), process) in enumerate(known):
            since = max((earlier for (_, earlier), _ in known[:number]), default=None)
            if since is not None and since <= began:
                mine = [row for row in sought if _process(row) == process and began <= row["at"] <= over]
                first = min(mine, key=lambda row: row["at"], default=None)
                yield ReaderAbsence(since, began, None if first is None else first["offset"])

    def _terms(self, given: list[Row]) -> Iterator[tuple[int, int]]:
        """Yield start and end of each member's ownership; a killed member's ends with its process."""
        by_term: dict[int, list[Row]] = defaultdict(list)
        for mine in _by_process(given).values():
            by_term.clear()
            for row in mine:
                by_term[row["assignment"]].append(row)
            for rows in by_term.values():
                if (span := self._span(rows)) is not None:
                    yield span

    def _span(self, rows: list[Row]) -> tuple[int, int] | None:
        """Return start and end of what rows of one process say; None if it was given nothing.

        Without a row of the end it is the latest possible end of the process.
        """
        given = [row for row in rows if row["kind"] == "assign"]
        if not given:
            return None
        began, last = min(row["at"] for row in given), max(row["assignment"] for row in given)
        taken = (row["at"] for row in rows if row["kind"] != "assign" and row["assignment"] == last)
        return began, max(began, min(taken, default=self.gone.get(_process(rows[0]), _NEVER)))


def _by_process(given: list[Row]) -> dict[Process, list[Row]]:
    rows: dict[Process, list[Row]] = defaultdict(list)
    for row in given:
        rows[_process(row)].append(row)
    return rows


def _process(row: Row) -> Process:
    return row["probe"], row["incarnation"]


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

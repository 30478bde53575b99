"""Where each reader's debt begins, partition by partition, and since when nobody reads it: small tables, pure Python.

A debt begins with the reader's position, not with what it happened to be given first: at the committed offset that it
found, at the offset that it sought before it read anything, or, where nothing was committed, where
``auto.offset.reset`` says: at the log's start, or at its end as the probe asked for it (a row of ``seeks``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any

import pyarrow.parquet as pq

from chaosk.analysis.case import Case, Process
from chaosk.analysis.completeness import gone
from chaosk.analysis.readers import Reader, readers
from chaosk.analysis.reading import unreadable

Row = dict[str, Any]
_NEVER = 2**62
_Key = tuple[str, str, int]
"""Reader, topic and partition."""


@dataclass(frozen=True, slots=True)
class Debt:
    """What is known of one partition of one reader. Times are nanoseconds, positions are offsets; None: unknown."""

    reader: str
    topic: str
    partition: int
    latest: bool
    """Whether ``auto.offset.reset`` puts it, or any of its members, at the end."""
    mixed: bool
    """Whether it puts others elsewhere."""
    since: int | None
    """When a member was first given it."""
    orphaned: int | None
    """Since when no member held it any more in the end (or ever, then since the reader began); None if one did."""
    patience: int
    """How long that may last."""
    dismissed: str | None
    """Why it is owed nothing in the end."""
    dismissed_at: int | None
    """When the last of its processes was gone that way."""
    asked: bool
    """Whether a member was told what is committed, and went by it."""
    answered: int | None
    """When it was told."""
    assumed: int | None
    """Where it begins if nobody wrote anything down of that; None if that tells nothing."""
    found: int | None
    """The committed offset that was found first; None if there was none."""
    sought_at: int | None
    """When a member first sought, or was reset."""
    sought: int | None
    """To which offset."""
    later: int | None
    """The highest offset that a member sought after that."""


SCHEMA = (
    "reader string, topic string, partition int, latest boolean, mixed boolean, since long, orphaned long, "
    "patience long, dismissed string, dismissed_at long, asked boolean, answered long, assumed long, found long, "
    "sought_at long, sought long, later long"
)
"""Columns of a frame of debts."""


def debts(case: Case) -> list[tuple[Any, ...]]:
    """One row per partition that a reader is owed, see :class:`Debt`; raises AnalysisError for an unreadable table."""
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
    """The topic's partitions as far as the reader is to read them."""
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
        patience=reader.patience,
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
    """How long members can have held partitions."""

    ended: int
    """When the probes were told to end."""
    gone: dict[Process, int]
    """By process that left no end marker, when it was gone at the latest."""
    began: dict[str, int]
    """By reader, when its first process was ready."""
    first: int
    """When the run began."""

    def left(self, reader: str, given: list[Row]) -> int | None:
        """Since when no member has held a partition, in the end; None if one did."""
        terms = list(self._terms(given))
        if any(began <= self.ended <= over for began, over in terms):
            return None
        return max((over for _, over in terms), default=self.began.get(reader, self.first))

    def _terms(self, given: list[Row]) -> Iterator[tuple[int, int]]:
        """From when until when a member held it; one that was killed until it was gone."""
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
    try:
        rows = pq.read_table(case.events / f"{table}.parquet").to_pylist()
    except OSError as error:
        raise unreadable(case.rundir, table, error) from error
    for row in rows:
        reader = row.get("group") or whose.get((row["probe"], row["incarnation"]), row["probe"])
        found[reader, row["topic"], row["partition"]].append(row)
    return found

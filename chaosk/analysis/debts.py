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
_Key = tuple[str, str, int]
"""Reader, topic and partition."""


@dataclass(frozen=True, slots=True)
class Debt:
    """What is known of one partition of one reader. Times are nanoseconds, positions are offsets; None: unknown."""

    reader: str
    topic: str
    partition: int
    latest: bool
    """Whether ``auto.offset.reset`` puts it at the end."""
    since: int | None
    """When a member was first given it."""
    orphaned: int | None
    """Since when no member held it any more in the end (or ever, then since the reader began); None if one did."""
    patience: int
    """How long that may last."""
    dismissed: str | None
    """Why it is owed nothing in the end."""
    asked: bool
    """Whether a member was told what is committed, and went by it."""
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
    "reader string, topic string, partition int, latest boolean, since long, orphaned long, patience long, "
    "dismissed string, asked boolean, assumed long, found long, sought_at long, sought long, later long"
)
"""Columns of a frame of debts."""


def debts(case: Case) -> list[tuple[Any, ...]]:
    """One row per partition that a reader is owed, see :class:`Debt`; raises AnalysisError for an unreadable table."""
    given, found, sought = (_by_key(case, name) for name in ("assignments", "fetched", "seeks"))
    rows: list[tuple[Any, ...]] = []
    for reader in readers(case):
        for partition in _partitions(case, reader, (*given, *found)):
            key = (reader.name, reader.topic, partition)
            rows.append(astuple(_debt(case, reader, partition, (given[key], found[key], sought[key]))))
    return rows


def _partitions(case: Case, reader: Reader, known: tuple[_Key, ...]) -> list[int]:
    """The topic's partitions as far as the reader is to read them, and those of topics of that name before it."""
    shape = case.topics.get(reader.topic)
    numbers = set(range(shape.partitions)) if shape is not None else set[int]()
    if reader.partitions is not None:
        numbers &= reader.partitions
    return sorted(
        numbers | {partition for name, topic, partition in known if (name, topic) == (reader.name, reader.topic)}
    )


def _debt(case: Case, reader: Reader, partition: int, rows: tuple[list[Row], list[Row], list[Row]]) -> Debt:
    given, found, sought = rows
    asked = min(found, key=lambda row: row["completed"], default=None)
    turns = sorted(sought, key=lambda row: row["at"])
    first, rest = turns[:1], turns[1:]
    return Debt(
        reader=reader.name,
        topic=reader.topic,
        partition=partition,
        latest=reader.latest,
        since=min((row["at"] for row in given if row["kind"] == "assign"), default=None),
        orphaned=_orphaned(case, reader, given),
        patience=reader.patience,
        dismissed=reader.dismissed,
        asked=asked is not None and reader.start == "committed",
        assumed=0 if not reader.latest and (reader.alone or reader.start == "beginning") else None,
        found=None if asked is None else asked["offset"],
        sought_at=first[0]["at"] if first else None,
        sought=first[0]["offset"] if first else None,
        later=max((row["offset"] for row in rest), default=None),
    )


def _orphaned(case: Case, reader: Reader, given: list[Row]) -> int | None:
    """Since when nobody has held it, in the end."""
    terms = list(_terms(case, given))
    if any(began <= case.run.ended <= ended for began, ended in terms):
        return None
    if terms:
        return max(ended for _, ended in terms)
    members = [worker.started for worker in case.workers if worker.reader == reader.name]
    return min(members, default=case.run.began)


def _terms(case: Case, given: list[Row]) -> Iterator[tuple[int, int]]:
    """From when until when a member held it; one that was killed until it was gone."""
    workers = {(worker.probe, worker.incarnation): worker for worker in case.workers}
    by_member: dict[tuple[Process, int], list[Row]] = defaultdict(list)
    for row in given:
        by_member[(row["probe"], row["incarnation"]), row["assignment"]].append(row)
    for (process, _), rows in by_member.items():
        began = min((row["at"] for row in rows if row["kind"] == "assign"), default=None)
        if began is None:
            continue
        over = min((row["at"] for row in rows if row["kind"] != "assign"), default=None)
        if over is None:
            worker = workers.get(process)
            over = gone(case, worker) if worker is not None and process in case.unended else case.record.ended
        yield began, max(over, began)


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

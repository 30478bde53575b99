"""Ledger: an answer for every acknowledged record, for the log and for each reader that is owed it.

An account is counted from two sides: delivered records (or those in the log) from the sightings, all others from the
answers of ``frames.absent`` and ``frames.lacking``. So a query that loses records, or counts them twice, leads to an
account that does not add up to the acknowledged records.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, PlaceKey
from chaosk.analysis.events import Events
from chaosk.analysis.frames.absent import EXCUSED, absent
from chaosk.analysis.frames.lacking import lacking
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.frames.values import given_to, values
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.written import written
from chaosk.analysis.readers import Reader, readers
from chaosk.analysis.screens import screened
from chaosk.analysis.uncommitted import uncommitted
from chaosk.rundir.verdict import Account, Finding, Guard, Severity

_OF_THE_LOG = ("audit", "audit_ranges", "offsets", "remakings")
_OF_READERS = (*_OF_THE_LOG, "reads", "assignments", "fetched", "seeks")
"""Event tables on which a violation of the log, and of a reader, depends: it is not proven if they lack rows."""
ANSWERING = frozenset({"lost", "unseen"})
"""Checks that report the violations among the answers. There is no ledger without them."""
_SHORT = "its event tables lack rows, or have rows that were not written"
_EXCUSED = frozenset({EXCUSED, "allowed"})


@dataclass
class _Page:
    """One account in progress."""

    topic: str
    reader: str
    owed: int
    delivered: int = 0
    violation: int = 0
    excused: Counter[str] = field(default_factory=Counter)
    not_judged: Counter[str] = field(default_factory=Counter)

    def enter(self, severity: str, reason: str | None, count: int) -> None:
        if severity == "violation":
            self.violation += count
        elif severity in _EXCUSED:
            self.excused[reason or ""] += count
        else:
            self.not_judged[reason or ""] += count

    def account(self, uncommitted: int | None) -> Account:
        return Account(
            topic=self.topic,
            reader=self.reader,
            owed=self.owed,
            delivered=self.delivered,
            violation=self.violation,
            excused=dict(sorted(self.excused.items())),
            not_judged=dict(sorted(self.not_judged.items())),
            uncommitted=uncommitted,
        )


def accounts(events: Events) -> tuple[Account, ...]:
    """Return all accounts by topic: the log's, then each reader's by name; none for topics without records."""
    found = events.once(screened)
    of_the_log, of_readers = bool(found["missing"]), bool(found["missing"] or found["lacking"])
    lines = _lines(events, of_the_log=of_the_log, of_readers=of_readers)
    acknowledged = Counter({line.place: line.count for line in lines if line.what == _OWED})
    pages = {(page.topic, page.reader): page for page in _pages(events.case, acknowledged)}
    given = _delivered(events, lines, acknowledged)
    chosen = {(reader.topic, reader.name): reader for reader in readers(events.case)}
    for key, page in pages.items():
        if of_readers if page.reader else of_the_log:
            here = (count for place, count in given[page.reader].items() if _within(page, chosen.get(key), place))
            page.delivered = sum(here)
        else:
            page.delivered = page.owed
    for line in lines:
        if line.what == _ANSWERED:
            rests_on = _OF_READERS if line.reader else _OF_THE_LOG
            doubtful = events.case.short(*rests_on) or events.case.surplus("sends", *rests_on)
            proven = line.severity != "violation" or not doubtful
            severity, reason = (line.severity, line.reason) if proven else ("unproven", _SHORT)
            pages[line.topic, line.reader].enter(severity, reason, line.count)
    left = uncommitted(events)
    return tuple(page.account(left.get(key)) for key, page in pages.items())


def _within(page: _Page, reader: Reader | None, place: PlaceKey) -> bool:
    return place[0] == page.topic and (reader is None or _reads(reader, place[1]))


def _pages(case: Case, acknowledged: Counter[PlaceKey]) -> Iterator[_Page]:
    by_topic: dict[str, list[Reader]] = defaultdict(list)
    for reader in readers(case):
        by_topic[reader.topic].append(reader)
    for topic in sorted({topic for topic, _ in acknowledged}):
        mine = {partition: count for (name, partition), count in acknowledged.items() if name == topic}
        yield _Page(topic, "", sum(mine.values()))
        for reader in by_topic[topic]:
            yield _Page(topic, reader.name, sum(count for number, count in mine.items() if _reads(reader, number)))


def _reads(reader: Reader, partition: int) -> bool:
    return reader.partitions is None or partition in reader.partitions


_OWED, _SUSPECTED, _DELIVERED, _ANSWERED = "owed", "suspected", "delivered", "answered"


@dataclass(frozen=True, slots=True)
class _Line:
    """Number of records of a partition, or of a topic, that are owed, suspected, delivered to a reader, or answered."""

    what: str
    reader: str
    topic: str
    partition: int
    severity: str
    reason: str
    count: int

    @property
    def place(self) -> PlaceKey:
        return self.topic, self.partition


def _lines(events: Events, *, of_the_log: bool, of_readers: bool) -> list[_Line]:
    """Return all counts, in one job since planning is expensive; without Spark if nothing is missing."""
    if events.glances and not of_the_log and not of_readers:
        return list(_owed(events.rows))
    rows = _count(sends(events).filter("written"), _OWED)
    if of_the_log or of_readers:
        written = events.frame(values).filter("written")
        rows = rows.unionByName(_count(written, _SUSPECTED))
        rows = rows.unionByName(_count(_sighted(events, written).filter("there"), _DELIVERED))
    if of_the_log:
        rows = rows.unionByName(_count(events.frame(absent).filter("written"), _ANSWERED))
    if of_readers:
        rows = rows.unionByName(_count(events.frame(lacking), _ANSWERED))
    return [_Line(**row.asDict()) for row in events.gathered(rows).collect()]


def _owed(rows: EventRows) -> Iterator[_Line]:
    """Count the owed records of a small run, with numpy."""
    wanted = written(rows)
    columns = np.stack([column[wanted] for column in rows.columns("sends", "topic", "partition")])
    places, counts = np.unique(columns, axis=1, return_counts=True)
    for (topic, partition), count in zip(places.T.tolist(), counts.tolist(), strict=True):
        yield _Line(_OWED, "", rows.word("topic", topic) or "", partition, "", "", count)


def _count(rows: DataFrame, what: str) -> DataFrame:
    """Count rows by reader, partition, severity and reason, as far as the rows have these columns."""
    empty: dict[str, str | int] = {"reader": "", "severity": "", "reason": "", "partition": -1}
    keys = ["topic", *(name for name in empty if name in rows.columns)]
    others = {name: F.lit(value) for name, value in empty.items() if name not in rows.columns}
    counts = rows.groupBy(*keys).count().withColumns({**others, "what": F.lit(what)})
    filled = {name: F.coalesce(name, F.lit(value)) for name, value in empty.items()}
    return counts.withColumns(filled).select("what", "reader", "topic", "partition", "severity", "reason", "count")


def _sighted(events: Events, written: DataFrame) -> DataFrame:
    """Return one row per value and account: ``reader``, topic, partition, ``there`` (delivered, or in the log)."""
    names = sorted({reader.name for reader in readers(events.case)})
    pairs = [F.struct(F.lit("").alias("reader"), (F.col("stored") & F.col("visible")).alias("there"))]
    pairs += [
        F.struct(F.lit(name).alias("reader"), given_to(events.case, F.lit(name)).alias("there")) for name in names
    ]
    sighted = written.select("topic", "partition", F.explode(F.array(*pairs)).alias("pair"))
    return sighted.select("topic", "partition", "pair.*")


def _delivered(events: Events, lines: Sequence[_Line], acknowledged: Counter[PlaceKey]) -> dict[str, Counter[PlaceKey]]:
    """Count the delivered records by reader and partition: those of ``values``, and all settled ones."""
    suspected = Counter({line.place: line.count for line in lines if line.what == _SUSPECTED})
    settled = Counter[PlaceKey]() if events.small else acknowledged - suspected
    found: dict[str, Counter[PlaceKey]] = defaultdict(lambda: Counter(settled))
    for line in lines:
        if line.what == _DELIVERED:
            found[line.reader][line.place] += line.count
    return found


def audited(accounts: Sequence[Account], findings: Sequence[Finding], guards: Sequence[Guard]) -> Iterator[Guard]:
    """Yield guards for a ledger that does not add up, and for answers that the verdict does not report elsewhere."""
    for account in accounts:
        whose = f"of {account.topic} for {account.reader}" if account.reader else f"of {account.topic}"
        if not account.balanced:
            what = (
                f"the ledger {whose} does not add up: {account.owed:,} records are owed, {account.answered:,} answered"
            )
            yield Guard(guard="ledger_unbalanced", what=what)
        if account.not_judged and not guards:
            reasons = ", ".join(f"{count:,} ({why})" for why, count in account.not_judged.items())
            yield Guard(guard="not_judged", what=f"acknowledged records {whose} cannot be judged: {reasons}")
        if account.violation and not any(finding.severity is Severity.VIOLATION for finding in findings):
            what = f"the ledger {whose} has {account.violation:,} violations, and no check found any"
            yield Guard(guard="ledger_disagrees", what=what)

"""The ledger: an answer for every acknowledged record, of the log and of each reader that is owed it.

An account is counted from two sides: what was delivered (or is in the log) from the sightings, what was not from the
answers of ``frames.absent`` and ``frames.lacking``. So a query that loses records, or counts them twice, shows as an
account that does not add up to what was acknowledged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, PlaceKey
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.absent import EXCUSED, absent
from chaosk.analysis.frames.lacking import lacking
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.frames.values import given_to, values
from chaosk.analysis.readers import Reader, readers
from chaosk.analysis.screens import screened
from chaosk.analysis.uncommitted import uncommitted
from chaosk.verdict import Account, Finding, Guard, Severity

_EXCUSED = frozenset({EXCUSED, "allowed"})


@dataclass
class _Page:
    """One account as it fills up."""

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
    """Every account of the run, by topic: the log's, then each reader's by name; none of topics without records."""
    acknowledged = _acknowledged(events)
    pages = list(_pages(events.case, acknowledged))
    found = events.once(screened)
    if found["missing"]:
        _of_the_log(events, pages, acknowledged)
    else:
        _all_delivered(page for page in pages if not page.reader)
    if found["missing"] or found["lacking"]:
        _of_readers(events, pages, acknowledged)
    else:
        _all_delivered(page for page in pages if page.reader)
    left = uncommitted(events)
    return tuple(page.account(left.get((page.topic, page.reader))) for page in pages)


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


def _all_delivered(pages: Iterable[_Page]) -> None:
    for page in pages:
        page.delivered = page.owed


def _acknowledged(events: Events) -> Counter[PlaceKey]:
    """How many records count as written, by partition."""
    rows = sends(events).filter("written").groupBy(*PLACE).count()
    return Counter({(row["topic"], row["partition"]): int(row["count"]) for row in events.gathered(rows).collect()})


def _of_the_log(events: Events, pages: Sequence[_Page], acknowledged: Counter[PlaceKey]) -> None:
    shown = F.col("stored") & F.col("visible")
    there = _delivered(events, shown, acknowledged)
    rows = events.frame(absent).filter("written").groupBy("topic", "severity", "reason").count()
    by_topic = {page.topic: page for page in pages if not page.reader}
    for page in by_topic.values():
        page.delivered = sum(count for (topic, _), count in there.items() if topic == page.topic)
    for row in events.gathered(rows).collect():
        by_topic[row["topic"]].enter(row["severity"], row["reason"], int(row["count"]))


def _of_readers(events: Events, pages: Sequence[_Page], acknowledged: Counter[PlaceKey]) -> None:
    by_name = {(page.topic, page.reader): page for page in pages if page.reader}
    for reader in readers(events.case):
        if (page := by_name.get((reader.topic, reader.name))) is not None:
            there = _delivered(events, given_to(events.case, F.lit(reader.name)), acknowledged)
            page.delivered = sum(
                count for (topic, number), count in there.items() if topic == reader.topic and _reads(reader, number)
            )
    rows = events.frame(lacking).groupBy("topic", "reader", "severity", "reason").count()
    for row in events.gathered(rows).collect():
        by_name[row["topic"], row["reader"]].enter(row["severity"], row["reason"], int(row["count"]))


def _delivered(events: Events, there: Column, acknowledged: Counter[PlaceKey]) -> Counter[PlaceKey]:
    """By partition how many acknowledged records are ``there``: of ``values``, and all that are settled."""
    written = events.frame(values).filter("written")
    suspected = _count(events, written) if not events.small else acknowledged
    return (acknowledged - suspected) + _count(events, written.filter(there))


def _count(events: Events, rows: DataFrame) -> Counter[PlaceKey]:
    counts = events.gathered(rows.groupBy(*PLACE).count()).collect()
    return Counter({(row["topic"], row["partition"]): int(row["count"]) for row in counts})


def audited(accounts: Sequence[Account], findings: Sequence[Finding], guards: Sequence[Guard]) -> Iterator[Guard]:
    """Guards for a ledger that does not add up, and for answers in it that nothing else in the verdict tells of."""
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

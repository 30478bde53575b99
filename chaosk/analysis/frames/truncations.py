"""Truncations of logs in this run, and their evidence, which is required to excuse a loss.

A log is truncated if a replica without all of it becomes leader: after an unclean election, or after all hosts with the
records lost power (``chaosk.analysis.unflushed``). A topic setting that permits an unclean election is no evidence. The
election of a broker outside of the ISR is. ISR and leaders are those of the watcher's samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, PlaceKey, TimeSpan
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.observed_settings import unclean
from chaosk.analysis.unflushed import cut_power

SURE = 5_000_000_000
"""Nanoseconds that a leader may precede the first sample that names it, and outlast the last one."""
UNCLEAN = "an unclean election cut the log back"
DARK = "every replica that held it lost unflushed data while the other replicas were offline"
UNSEEN = "an unclean election was allowed and may have taken place: no sample shows the ISR before the election"
"""Reasons why a loss is allowed, or unproven, see :func:`excused`."""


class Truncation(NamedTuple):
    """A truncation of one log, certain or possible."""

    topic: str
    partition: int
    cut_at: int
    """First offset removed: one past the last one that the tail audit found of earlier epochs. 0: unknown."""
    since: int
    """First time at which the new log was seen; monotonic nanoseconds."""
    until: int
    """Latest time at which records may have been acknowledged and delivered from the old log."""
    epoch: int | None
    """Leader epoch of the new log; None if unknown."""
    why: str
    """``UNCLEAN``, ``DARK`` or ``UNSEEN``."""
    words: str
    """Description of the evidence, for display."""

    @property
    def seen(self) -> bool:
        """True if it is certain, so that it excuses; otherwise it leaves a row unproven."""
        return self.why != UNSEEN


def truncations(events: Events) -> tuple[Truncation, ...]:
    """Return all truncations of a run, by place and time; call it through ``events.once(truncations)``."""
    case = events.case
    power = {
        (topic, number): spans for topic in case.topics for number, spans in sorted(cut_power(case, topic).items())
    }
    topics = {topic for topic in case.topics if unclean(case, topic)} | {topic for topic, _ in power}
    if not topics or not case.rows["partitions"]:
        return ()
    reigns = _reigns(case, topics)
    found = [each for place in sorted(reigns) for each in _elections(case, place, reigns[place])]
    for place, spans in power.items():
        found += [_dark(place, reigns.get(place, {}), *span) for span in spans]
    if not found:
        return ()
    nothing: Reaches = {"audit": {}, "reads": {}}
    ends = _ends(events, found)
    in_order = sorted(found, key=lambda one: (one.topic, one.partition, one.since))
    return tuple(_cut(case, each, ends.get((each.topic, each.partition), nothing)) for each in in_order)


def excused(
    events: Events, offset: Column | None = None, at: Column | None = None, *, later: Column | None = None
) -> Iterator[tuple[Column, str, str]]:
    """Yield cases for ``meaning``: rows with topic and partition that a truncation of this run explains.

    ``offset``: of the missing record, or the reader's position, which must have been removed. ``at``: time of the
    acknowledgement or delivery, which must precede the end of the old log. ``later``: time of the observed effect,
    which must follow the truncation. A null is not compared. Rows are ``allowed`` with ``UNCLEAN`` or ``DARK``, and
    ``unproven`` with ``UNSEEN``.
    """
    found = events.once(truncations)
    for why in (UNCLEAN, DARK, UNSEEN):
        mine = [_holds(each, offset, at, later) for each in found if each.why == why]
        if mine:
            yield reduce(or_, mine), "unproven" if why == UNSEEN else "allowed", why


def _holds(cut: Truncation, offset: Column | None, at: Column | None, later: Column | None) -> Column:
    holds = (F.col("topic") == cut.topic) & (F.col("partition") == cut.partition)
    if offset is not None:
        holds = holds & F.coalesce(offset >= cut.cut_at, F.lit(True))
    if at is not None:
        holds = holds & F.coalesce(at <= cut.until, F.lit(True))
    if later is not None:
        holds = holds & F.coalesce(later >= cut.since - SURE, F.lit(True))
    return holds


@dataclass(slots=True)
class Reign:
    """A leader epoch according to the watcher's samples."""

    leader: int = -1
    named: int = 0
    """Time at which its leader was first named; 0 if there was none."""
    first: frozenset[int] = frozenset()
    """ISR in the first sample with its leader."""
    isr: frozenset[int] = frozenset()
    """Latest ISR that was new from the broker that reported it."""
    changed: int = 0
    """Time of that report."""
    last: int = 0
    """Time of the last sample with this epoch."""
    told: dict[int, frozenset[int]] = field(default_factory=dict)
    """Latest ISR by reporting broker."""
    heard: dict[int, int] = field(default_factory=dict)
    """Time of that report by broker."""

    def has_it_in_sync(self, broker: int) -> bool:
        """Return True if a report still had the broker in sync ``SURE`` after the ISR last changed."""
        return any(broker in isr and self.heard[asked] > self.changed + SURE for asked, isr in self.told.items())


Reigns = dict[int, Reign]
"""By leader epoch."""


def _reigns(case: Case, topics: Iterable[str]) -> dict[PlaceKey, Reigns]:
    names = ["topic", "partition", "at", "asked", "leader", "leader_epoch", "isr"]
    wanted = pc.field("topic").isin(sorted(topics))
    table = pq.read_table(case.events / "partitions.parquet", columns=names, filters=wanted).sort_by("at")
    found: dict[PlaceKey, Reigns] = {}
    for batch in table.to_batches():
        for row in batch.to_pylist():
            if row["leader_epoch"] is not None:
                reigns = found.setdefault((row["topic"], row["partition"]), {})
                _heard(reigns.setdefault(row["leader_epoch"], Reign()), row["at"], row["asked"], row)
    return found


def _heard(reign: Reign, at: int, asked: int, row: dict[str, object]) -> None:
    isr, leader = frozenset(row["isr"] or ()), int(str(row["leader"]))  # type: ignore[call-overload] # a list
    reign.last = at
    if leader >= 0 and reign.leader < 0:
        reign.leader, reign.named, reign.first = leader, at, isr
    reign.heard[asked] = at
    if reign.told.get(asked) != isr:
        reign.told[asked] = reign.isr = isr
        reign.changed = at


def _elections(case: Case, place: PlaceKey, reigns: Reigns) -> Iterator[Truncation]:
    """Yield the elections that were unclean, or may have been.

    After an unclean election the ISR is only the new leader, until others have followed it: no earlier in-sync replica
    is in the ISR when it is first named. An empty ISR tells nothing about earlier members (KIP-966). An election is
    uncertain if brokers contradict each other about the ISR for longer than metadata takes to propagate.
    """
    for epoch, reign in sorted(reigns.items()):
        earlier = sorted(number for number in reigns if number < epoch)
        known = [number for number in earlier if reigns[number].isr]
        if reign.leader < 0 or not known:
            continue
        before, gap = reigns[known[-1]].isr, epoch - earlier[-1] > 1
        fair = reign.leader in before or reign.first & before
        if fair and not (gap and reign.first == {reign.leader}):
            continue
        names = ", ".join(map(str, sorted(before)))
        words = f"broker {reign.leader} became leader in epoch {epoch}, and the ISR had been {names}"
        last = max(reigns[number].last for number in earlier)
        if not unclean(case, place[0], TimeSpan("election", min(last, reign.named), reign.named)):
            continue
        until = max(reign.named, last) + SURE
        why = UNSEEN if fair or reigns[known[-1]].has_it_in_sync(reign.leader) else UNCLEAN
        yield Truncation(*place, 0, reign.named, until, epoch, why, words)


def _dark(place: PlaceKey, reigns: Reigns, began: int, ended: int) -> Truncation:
    """Return the loss of power of all hosts of a partition, and the epoch in which its log continued."""
    after = [number for number, reign in reigns.items() if reign.named > began]
    earlier = [reign.last for number, reign in reigns.items() if after and number < min(after)]
    since = min((reigns[number].named for number in after), default=ended)
    until = max([began, *(last for last in earlier if last <= ended)]) + SURE
    return Truncation(*place, 0, since, until, min(after, default=None), DARK, DARK)


class OffsetRange(NamedTuple):
    """Lowest and highest offset of one leader epoch that any reader was given."""

    low: int
    high: int


Reaches = dict[str, dict[int, OffsetRange]]
"""By table, ``audit`` or ``reads``, and leader epoch."""


def _ends(events: Events, found: Iterable[Truncation]) -> dict[PlaceKey, Reaches]:
    """Return by place the offsets that readers and a complete tail audit were given in each leader epoch."""
    topics = sorted({each.topic for each in found})
    complete = events.frame(retained).filter("complete").select(*PLACE)
    kept = _reaches(events, "audit", topics).join(events.near(complete), on=list(PLACE), how="left_semi")
    ends: dict[PlaceKey, Reaches] = {}
    for row in events.gathered(kept.unionByName(_reaches(events, "reads", topics))).collect():
        of_place = ends.setdefault((row["topic"], row["partition"]), {"audit": {}, "reads": {}})
        of_place[row["who"]][row["leader_epoch"]] = OffsetRange(row["low"], row["high"])
    return ends


def _reaches(events: Events, table: str, topics: list[str]) -> DataFrame:
    return (
        events.table(table)
        .filter(F.col("topic").isin(topics) & (F.col("leader_epoch") >= 0))
        .groupBy(*PLACE, "leader_epoch")
        .agg(F.min("offset").alias("low"), F.max("offset").alias("high"))
        .select(F.lit(table).alias("who"), *PLACE, "leader_epoch", "low", "high")
    )


def _cut(case: Case, each: Truncation, reaches: Reaches) -> Truncation:
    """Add the offset of the truncation; it is also certain if readers had been given removed records."""
    if each.epoch is None or not reaches["audit"]:
        return each
    epoch = each.epoch
    kept = max((reach.high for number, reach in reaches["audit"].items() if number < epoch), default=-1)
    given = max((reach.high for number, reach in reaches["reads"].items() if number < epoch), default=-1)
    begun = min((reach.low for number, reach in reaches["audit"].items() if number >= epoch), default=given + 1)
    end = max(row["end"] for row in case.ranges if (row["topic"], row["partition"]) == (each.topic, each.partition))
    if min(begun, end) > given:
        return each._replace(cut_at=kept + 1)
    words = f"{each.words}; it had been read up to offset {given}, and of that only what lies before {kept + 1} is left"
    return each._replace(cut_at=kept + 1, why=UNCLEAN if each.why == UNSEEN else each.why, words=words)

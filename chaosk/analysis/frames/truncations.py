"""Truncations of logs in this run, and their evidence, which is required to excuse a loss.

A log is truncated if a replica without all of it becomes leader: after an unclean election, or after all hosts with the
records lost power (``chaosk.analysis.unflushed``). A topic setting that permits an unclean election is no evidence. The
election of a broker outside of the ISR is. ISR and leaders are those of the watcher's samples.

A truncation removes the end of a log. It excuses nothing that a producer was acknowledged by the new leader, or a later
one, and no hole between records of one epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, PlaceKey, TimeSpan
from chaosk.analysis.event_files import read
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.observed_settings import unclean
from chaosk.analysis.unflushed import UnflushedLoss, cut_power

SURE = 5_000_000_000
"""Nanoseconds that a leader may precede the first sample that names it, and outlast the last one."""
UNCLEAN = "an unclean election cut the log back"
DARK = "every replica that held it lost unflushed data while the other replicas were offline"
UNSEEN = "an unclean election was allowed and may have taken place: no sample shows the ISR before the election"
DARK_UNSEEN = "hosts lost unflushed data, and no sample shows that only their replicas were in sync at that time"
"""Reasons why a loss is allowed, or unproven, see :func:`excused`."""
NO_OFFSET = "its offset is unknown, and the log was cut back"
"""Reason why a row without an offset is unproven."""
_MARGIN = 1_000_000_000
"""Nanoseconds by which the ISR in a broker's metadata may be older than the sample of it."""


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
    after: int
    """Records acknowledged before this time are not excused: a replica that kept them was in sync. 0: all are."""
    epoch: int | None
    """Leader epoch of the new log; None if unknown."""
    why: str
    """``UNCLEAN``, ``DARK``, ``UNSEEN`` or ``DARK_UNSEEN``."""
    words: str
    """Description of the evidence, for display."""

    @property
    def seen(self) -> bool:
        """True if it is certain, so that it excuses; otherwise it leaves a row unproven."""
        return self.why in (UNCLEAN, DARK)

    def renewed(self, epoch: Column) -> Column:
        """Return a condition: a producer that had been acknowledged in an epoch sends nothing to the old log.

        After a loss of power the new epoch is not known for sure, because leaders may have changed before it as well.
        """
        if self.epoch is None or self.why not in (UNCLEAN, UNSEEN):
            return F.lit(False)
        return F.coalesce(epoch >= self.epoch, F.lit(False))


def truncations(events: Events) -> tuple[Truncation, ...]:
    """Return all truncations of a run, by place and time; call it through ``events.once(truncations)``."""
    case = events.case
    power = {
        (topic, number): losses for topic in case.topics for number, losses in sorted(cut_power(case, topic).items())
    }
    topics = {topic for topic in case.topics if unclean(case, topic)} | {topic for topic, _ in power}
    if not topics or not case.rows["partitions"]:
        return ()
    reigns = _reigns(case, topics)
    found = [each for place in sorted(reigns) for each in _elections(case, place, reigns[place])]
    for place, losses in power.items():
        found += [cut for loss in losses for cut in _dark(place, reigns.get(place, {}), loss)]
    if not found:
        return ()
    nothing: Reaches = {"audit": {}, "reads": {}}
    ends = _ends(events, found)
    in_order = sorted(found, key=lambda one: (one.topic, one.partition, one.since))
    return tuple(_cut(case, each, ends.get((each.topic, each.partition), nothing)) for each in in_order)


def excused(
    events: Events,
    offset: Column | None = None,
    at: Column | None = None,
    *,
    later: Column | None = None,
    also: Callable[[Truncation], Column] | None = None,
) -> Iterator[tuple[Column, str, str]]:
    """Yield cases for ``meaning``: rows with topic and partition that a truncation of this run explains.

    ``offset``: of the missing record, or the reader's position, which must have been removed; a row without it is
    ``unproven``. ``at``: time of the acknowledgement or delivery, which must precede the end of the old log. ``later``:
    time of the observed effect, which must follow the truncation. A null time is not compared. ``also``: a further
    condition on a row and a truncation. Rows are ``allowed`` with ``UNCLEAN`` or ``DARK``, and otherwise ``unproven``.
    """
    found = events.once(truncations)
    known = F.lit(True) if offset is None else offset.isNotNull()
    for why in (UNCLEAN, DARK, UNSEEN, DARK_UNSEEN):
        mine = [_holds(each, offset, at, later, also) for each in found if each.why == why]
        if mine:
            holds = reduce(or_, mine)
            yield holds & known, "allowed" if why in (UNCLEAN, DARK) else "unproven", why
            yield holds & ~known, "unproven", NO_OFFSET


def preceded(events: Events, offset: Column, at: Column, passed: Column, epoch: Column) -> Column:
    """Return a condition: a reader passed a removed record before any truncation that explains its loss.

    ``offset`` and ``at``: as in :func:`excused`. ``passed``: time of the reader's first delivery beyond the offset.
    ``epoch``: lowest leader epoch of its deliveries beyond the offset. If a log was truncated in one epoch only, a
    delivery of an earlier epoch beyond the offset was read from the log that had the record. Nulls prove nothing.
    """
    found = events.once(truncations)
    epochs = {place: {cut.epoch for cut in found if cut[:2] == place} for place in {cut[:2] for cut in found}}
    before = F.lit(True)
    for cut in found:
        proven = F.coalesce(passed < cut.since - SURE, F.lit(False))
        if cut.epoch is not None and len(epochs[cut[:2]]) == 1:
            proven = proven | F.coalesce(epoch < cut.epoch, F.lit(False))
        before = before & (~_holds(cut, offset, at, None, None) | proven)
    return before


def _holds(
    cut: Truncation,
    offset: Column | None,
    at: Column | None,
    later: Column | None,
    also: Callable[[Truncation], Column] | None,
) -> Column:
    holds = (F.col("topic") == cut.topic) & (F.col("partition") == cut.partition)
    if offset is not None:
        holds = holds & F.coalesce(offset >= cut.cut_at, F.lit(True))
    if at is not None:
        holds = holds & F.coalesce((at >= cut.after) & (at <= cut.until), F.lit(True))
    if later is not None:
        holds = holds & F.coalesce(later >= cut.since - SURE, F.lit(True))
    return holds if also is None else holds & F.coalesce(also(cut), F.lit(False))


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
    spans: dict[frozenset[int], tuple[int, int]] = field(default_factory=dict)
    """First and last time at which any broker reported an ISR, by ISR."""

    def has_it_in_sync(self, broker: int) -> bool:
        """Return True if a report still had the broker in sync ``SURE`` after the ISR last changed."""
        return any(broker in isr and self.heard[asked] > self.changed + SURE for asked, isr in self.told.items())


Reigns = dict[int, Reign]
"""By leader epoch."""


def _reigns(case: Case, topics: Iterable[str]) -> dict[PlaceKey, Reigns]:
    names = ["topic", "partition", "at", "asked", "leader", "leader_epoch", "isr"]
    wanted = pc.field("topic").isin(sorted(topics))
    table = read(case.events, "partitions", names, wanted).sort_by("at")
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
    reign.spans[isr] = (reign.spans.get(isr, (at, at))[0], at)
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
        yield Truncation(*place, 0, reign.named, until, 0, epoch, why, words)


def _dark(place: PlaceKey, reigns: Reigns, loss: UnflushedLoss) -> Iterator[Truncation]:
    """Yield the loss of power of all hosts of a partition, and the epoch in which its log continued.

    A replica that lost data, and then leads, makes the others truncate what they still have. If another replica leads,
    only records are lost that were acknowledged while all in-sync replicas were among those that lost data.
    """
    after = sorted(number for number, reign in reigns.items() if reign.named > loss.began)
    earlier = [reign.last for number, reign in reigns.items() if after and number < after[0]]
    since = reigns[after[0]].named if after else loss.ended
    until = max([loss.began, *(last for last in earlier if last <= loss.ended)]) + SURE
    epoch = after[0] if after else None
    cut = Truncation(*place, 0, since, until, 0, epoch, DARK, DARK)
    if _leads_with_loss(reigns, after, loss):
        yield cut
        return
    before = [reign for number, reign in reigns.items() if not after or number < after[0]]
    kept_until, alone_since = _in_sync_with_others(before, loss)
    if alone_since is not None:
        yield cut._replace(after=alone_since)
    yield cut._replace(after=kept_until, why=DARK_UNSEEN, words=DARK_UNSEEN)


def _leads_with_loss(reigns: Reigns, after: list[int], loss: UnflushedLoss) -> bool:
    """Return True if a replica that lost data was the first to lead after the loss, or the last leader known.

    An election while the fault was being applied may have been before the loss, so that the next one counts as well.
    """
    meanwhile = [number for number in after if reigns[number].named <= loss.applied + SURE]
    first = after[: len(meanwhile) + 1] or [max(reigns, default=0)]
    return any(number in reigns and reigns[number].leader in loss.brokers for number in first)


def _in_sync_with_others(reigns: Iterable[Reign], loss: UnflushedLoss) -> tuple[int, int | None]:
    """Return until when other replicas were surely in sync, and since when those that lost data were alone in sync.

    Brokers may report an ISR late. What they contradict each other about is not sure. Without a sample of the ISR
    nothing is (0), and they never were alone (None).
    """
    spans = [(isr, *span) for reign in reigns for isr, span in reign.spans.items() if isr]
    others = max((last for isr, _, last in spans if not isr <= loss.brokers), default=0)
    alone = [(first, last) for isr, first, last in spans if isr <= loss.brokers]
    shrunk = min((first for first, _ in alone), default=None)
    sure = max(others - _MARGIN, 0) if shrunk is None else max(min(others - _MARGIN, shrunk - SURE), 0)
    later = [max(first, others) for first, last in alone if last > others]
    return sure, min(later, default=None)


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

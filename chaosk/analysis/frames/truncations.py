"""Logs that were cut back in this run, and who saw it: the witness that a loss by it needs to be excused.

A log is cut back where a replica leads that has not all of it: after an unclean election, or after all that had it
lost their power (``chaosk.analysis.darkness``). That a topic's settings allow the first is no witness; that a broker
became leader and was not in the ISR is one. ISR and leaders are those of the watcher's samples.
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

from chaosk.analysis.case import Case, PlaceKey, Span
from chaosk.analysis.darkness import cut_power
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.settingsseen import unclean

SURE = 5_000_000_000
"""Nanoseconds that a leader may be older than the first sample that names it, and go on after the last one does."""
UNCLEAN = "an unclean election cut the log back"
DARK = "all hosts that had it lost their power, and every other replica was kept away: it was on no disk yet"
UNSEEN = "an unclean election was allowed and may have been: nobody saw who was in the ISR before the election"
"""Why a loss is allowed, or left open, see :func:`excused`."""


class Truncation(NamedTuple):
    """One log that was cut back, or may have been."""

    topic: str
    partition: int
    cut_at: int
    """The first offset that was cut: one past the last that the tail audit found of earlier epochs. 0: nobody knows."""
    since: int
    """When the log that went on from there was first seen; monotonic nanoseconds."""
    until: int
    """Until when records may have been acknowledged and delivered from the log that was cut."""
    epoch: int | None
    """The leader epoch that the log goes on with; None where nobody knows."""
    why: str
    """``UNCLEAN``, ``DARK`` or ``UNSEEN``."""
    words: str
    """What was seen, for people."""

    @property
    def seen(self) -> bool:
        """Whether it is known to have been, so that it excuses; else it leaves open."""
        return self.why != UNSEEN


def truncations(events: Events) -> tuple[Truncation, ...]:
    """All of a run, by place and time; ask with ``events.once(truncations)``."""
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
    """For ``meaning``: rows with topic and partition that a truncation of this run explains.

    ``offset``: of what is missing, or where a reader stood, which must have been cut; ``at``: when it was acknowledged
    or delivered, which must have been before the end of the log that was cut; ``later``: when what came of it was seen,
    which must have been after. What is empty is not asked. Rows are ``allowed`` with ``UNCLEAN`` or ``DARK``, and
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
    """A leader epoch as the watcher's samples show it."""

    leader: int = -1
    named: int = 0
    """When its leader was first named; 0 if none was."""
    first: frozenset[int] = frozenset()
    """The ISR that was named with its leader first."""
    isr: frozenset[int] = frozenset()
    """The ISR that any broker changed to last."""
    changed: int = 0
    """When it did."""
    last: int = 0
    """When anybody named it last."""
    told: dict[int, frozenset[int]] = field(default_factory=dict)
    """By broker asked, the ISR it told last."""
    heard: dict[int, int] = field(default_factory=dict)
    """By broker asked, when it told that."""

    def has_it_in_sync(self, broker: int) -> bool:
        """Whether anybody went on to name a broker as in sync after another one had named an ISR without it."""
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
    """The elections that were unclean, or of which nobody can say it.

    After an unclean election the ISR is the new leader alone, until others have followed it: of those that were in sync
    before none is in it when it is named first. An empty ISR says nothing of who was in it before (KIP-966). Nor can it
    be said where brokers contradict each other about who was, for longer than such news takes.
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
        if not unclean(case, place[0], Span("election", min(last, reign.named), reign.named)):
            continue
        until = max(reign.named, last) + SURE
        why = UNSEEN if fair or reigns[known[-1]].has_it_in_sync(reign.leader) else UNCLEAN
        yield Truncation(*place, 0, reign.named, until, epoch, why, words)


def _dark(place: PlaceKey, reigns: Reigns, began: int, ended: int) -> Truncation:
    """The loss of power of all that had a partition, and the epoch in which its log went on."""
    after = [number for number, reign in reigns.items() if reign.named > began]
    earlier = [reign.last for number, reign in reigns.items() if after and number < min(after)]
    since = min((reigns[number].named for number in after), default=ended)
    until = max([began, *(last for last in earlier if last <= ended)]) + SURE
    return Truncation(*place, 0, since, until, min(after, default=None), DARK, DARK)


class Reach(NamedTuple):
    """Of one leader epoch the lowest and the highest offset that anyone was given."""

    low: int
    high: int


Reaches = dict[str, dict[int, Reach]]
"""By table, ``audit`` or ``reads``, and leader epoch."""


def _ends(events: Events, found: Iterable[Truncation]) -> dict[PlaceKey, Reaches]:
    """By place how far readers and a complete tail audit got in each leader epoch."""
    topics = sorted({each.topic for each in found})
    complete = events.frame(retained).filter("complete").select(*PLACE)
    kept = _reaches(events, "audit", topics).join(events.near(complete), on=list(PLACE), how="left_semi")
    ends: dict[PlaceKey, Reaches] = {}
    for row in events.gathered(kept.unionByName(_reaches(events, "reads", topics))).collect():
        of_place = ends.setdefault((row["topic"], row["partition"]), {"audit": {}, "reads": {}})
        of_place[row["who"]][row["leader_epoch"]] = Reach(row["low"], row["high"])
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
    """With the place at which the log was cut; seen, too, if readers had been given what was cut."""
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

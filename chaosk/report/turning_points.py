"""Turning points: the change within an outage after which records could get through again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from chaosk.report.changes import PartitionChange
from chaosk.report.happenings import BEFORE, SAMPLED, Surroundings
from chaosk.report.outages import PartitionOutage
from chaosk.report.tables import NONE
from chaosk.report.words import listed


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """A change at ``at`` (monotonic nanoseconds), with the words for the part of an outage before it."""

    at: int
    until: str


def turning_point(outage: PartitionOutage, around: Surroundings) -> TurningPoint | None:
    """Return the last change that can have ended an outage; None if there is none.

    A partition with a new leader can be written to. A leader with a smaller ISR no longer waits for a dead replica:
    with acks=all, every partition that the dead broker follows stalls until then, and readers only see records below
    the high watermark. A group reads again after an assignment. The cluster is sampled, so a change may be seen shortly
    after the record that it let through.
    """
    turns = [*_partition_turns(outage, around.partitions), *_given_anew(outage, around)]
    inside = [turn for turn in turns if outage.began - BEFORE <= turn.at <= outage.ended + SAMPLED]
    return max(inside, key=lambda turn: turn.at, default=None)


def _partition_turns(outage: PartitionOutage, changes: tuple[PartitionChange, ...]) -> Iterator[TurningPoint]:
    mine = [change for change in changes if change.place == outage.place and change.leader != NONE]
    for before, after in itertools.pairwise(mine):
        where = f"{after.topic} {after.partition}"
        gone = sorted(before.isr - after.isr)
        if after.leader != before.leader:
            yield TurningPoint(after.at, f"until broker {after.leader} led {where}")
        elif gone:
            names = listed([str(broker) for broker in gone])
            yield TurningPoint(after.at, f"until broker {names} was out of the ISR of {where}")


def _given_anew(outage: PartitionOutage, around: Surroundings) -> Iterator[TurningPoint]:
    clients = around.clients(outage.who)
    for at, probe, told in around.rebalances:
        if probe in clients and told == "assign" and at >= outage.began:
            yield TurningPoint(at, "until the group had rebalanced")

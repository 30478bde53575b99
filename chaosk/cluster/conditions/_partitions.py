"""Common base of conditions on a topic: the partitions that violate the condition."""

from __future__ import annotations

from collections.abc import Callable

from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.live import Live, PartitionState

SHOWN = 5
"""Partitions named in one answer."""


def every_partition(
    live: Live,
    topic: str,
    complaint: Callable[[PartitionState], str | None],
    fine: str,
    only: tuple[int, ...] = (),
) -> Answer:
    """Check that no partition of a topic, or none of ``only``, has a complaint; ``fine`` describes that case.

    Raises ClusterError if the cluster has no such topic, or the topic no such partition.
    """
    states = live.partitions(topic)
    if absent := set(only) - {one.partition for one in states}:
        raise ClusterError(f"topic {topic}: the cluster has no partition {min(absent)} of it")
    states = tuple(one for one in states if not only or one.partition in only)
    wrong = [f"{one.topic}-{one.partition}: {text}" for one in states if (text := complaint(one)) is not None]
    if not wrong:
        return Answer(holds=True, seen=f"{topic}: {len(states)} partitions, {fine}")
    more = f", and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return Answer(holds=False, seen="; ".join(wrong[:SHOWN]) + more)


def ids(brokers: tuple[int, ...]) -> str:
    """Spell broker ids as in messages."""
    return ",".join(map(str, brokers)) or "none"

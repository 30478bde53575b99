"""What the conditions on a topic share: which of its partitions are not as they should be."""

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
    """Whether no partition of a topic, or none of ``only``, gives a reason to complain; ``fine`` is what is seen then.

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
    """Broker ids as they are written in messages."""
    return ",".join(map(str, brokers)) or "none"

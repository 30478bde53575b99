"""Leaders that do not serve their partitions."""

from __future__ import annotations

import time
from collections.abc import Iterable

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.offsets import end_offsets_request, offsets_by_partition
from chaosk.cluster.views import PartitionView, partitions
from chaosk.cluster.wire import NoAnswer
from chaosk.core.errors import PreflightError

WITHIN = 30.0
"""Time-out in seconds: a newly elected leader reports no end offset before its followers have fetched."""
_PAUSE = 0.1


def wait_until_served(brokers: Brokers, topics: Iterable[str]) -> None:
    """Wait until the leader of every partition reports its log end; raises PreflightError for one that does not.

    A broker that was paused or cut off while its replica of a topic was deleted can keep it. It then refuses to lead a
    new topic of that name, at every epoch up to the one that it remembers, while the cluster names it as the leader, in
    sync (seen on Kafka 3.9 with ZooKeeper, after a cancelled reassignment).
    """
    end = time.monotonic() + WITHIN
    names = sorted(topics)
    while deaf := _unserved(brokers, names):
        if time.monotonic() > end:
            raise PreflightError(
                f"topic {deaf[0].topic}: by the cluster's word broker {deaf[0].leader} leads its partition "
                f"{deaf[0].partition}, and it does not serve it; look at its log, and restart it"
            )
        time.sleep(_PAUSE)


def _unserved(brokers: Brokers, topics: list[str]) -> list[PartitionView]:
    by_leader: dict[int, list[PartitionView]] = {}
    for one in partitions(brokers.views(topics)):
        by_leader.setdefault(one.leader, []).append(one)
    return [one for leader, led in by_leader.items() for one in _silent(brokers, leader, led)]


def _silent(brokers: Brokers, leader: int, led: list[PartitionView]) -> list[PartitionView]:
    """Return the partitions whose end offset the leader does not report."""
    numbers: dict[str, list[int]] = {}
    for one in led:
        numbers.setdefault(one.topic, []).append(one.partition)
    try:
        _, ends = end_offsets_request(numbers)
        told = offsets_by_partition(brokers.ask(leader, ends))
    except NoAnswer:
        return led
    return [one for one in led if (one.topic, one.partition) not in told]

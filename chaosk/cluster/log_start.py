"""Log start offsets of partitions."""

from __future__ import annotations

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.offsets import end_offsets_request, offsets_by_partition
from chaosk.core.errors import ClusterError


def log_start(brokers: Brokers, topic: str, partition: int) -> int:
    """Return the first offset that its leader has; raises ClusterError without answer, leader or such a partition."""
    leaders = {one.partition: one.leader for one in brokers.partitions(topic)}
    if partition not in leaders:
        raise ClusterError(f"topic {topic}: the cluster has no partition {partition} of it")
    if leaders[partition] < 0:
        raise ClusterError(f"{topic}-{partition}: no leader, so its log start cannot be read")
    request, _ = end_offsets_request({topic: [partition]})
    found = offsets_by_partition(brokers.ask(leaders[partition], request))
    if (topic, partition) not in found:
        raise ClusterError(f"{topic}-{partition}: its leader did not report its log start")
    return found[topic, partition]

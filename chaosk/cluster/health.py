"""Health of a cluster, required before faults are injected."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.live import Live, PartitionState, UnknownTopic
from chaosk.spec.inventory import Inventory

INTERNAL = ("__consumer_offsets", "__transaction_state")
"""Kafka's own topics, without which groups and transactions do not work."""


def unhealthy(live: Live, inventory: Inventory, topics: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the problems of a cluster, one sentence each; empty if it is whole.

    Every broker of the inventory has to answer and be alive to the cluster, and there has to be a controller. Every
    ZooKeeper node has to serve and one of them to lead, or every controller has to take part in the quorum. Every
    partition of ``topics`` and of Kafka's own topics needs a leader and a full ISR. Topics that do not exist are
    skipped.
    """
    try:
        told = _brokers(live, inventory) + _controllers(live, inventory)
        told += [line for topic in (*topics, *INTERNAL) for line in _partitions(live, topic)]
    except ClusterError as error:
        told = [str(error)]
    return (*told, *_zookeepers(live))


def _brokers(live: Live, inventory: Inventory) -> list[str]:
    known, alive = set(inventory.brokers), set(live.brokers())
    told = [f"broker {broker} does not answer" for broker in sorted(known) if not live.broker_answers(broker)]
    told += [f"broker {broker} is not alive to the cluster" for broker in sorted(known - alive)]
    told += [f"broker {broker} is alive, and not in the inventory" for broker in sorted(alive - known)]
    if live.controller() is None:
        told.append("there is no controller")
    return told


def _controllers(live: Live, inventory: Inventory) -> list[str]:
    known = inventory.voters()
    return [
        f"controller {number} votes, and is not in the inventory; add it, or chaosk cannot spare the quorum's majority"
        if number not in known
        else f"controller {number} takes no part in the quorum"
        for number, role in sorted(live.controller_roles().items())
        if number not in known or role is None
    ]


def _partitions(live: Live, topic: str) -> list[str]:
    try:
        states = live.partitions(topic)
    except UnknownTopic:
        return []
    return [told for one in states if (told := complaint(one))]


def complaint(one: PartitionState) -> str | None:
    """Return the problem of a partition in a sentence; None without one."""
    name = f"{one.topic}-{one.partition}"
    if one.leader < 0:
        return f"{name} has no leader"
    missing = [broker for broker in one.replicas if broker not in one.isr]
    return f"{name}: replicas on {', '.join(map(str, missing))} are not in sync" if missing else None


def _zookeepers(live: Live) -> list[str]:
    modes = live.zookeeper_modes()
    told = [f"ZooKeeper {node} does not serve" for node, mode in sorted(modes.items()) if mode is None]
    leading = [node for node, mode in modes.items() if mode in ("leader", "standalone")]
    if modes and len(leading) != 1:
        told.append(f"{len(leading)} ZooKeeper nodes lead, not one")
    return told

"""Common helpers of targets: ids of the inventory and the cluster as nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from chaosk.core.errors import ClusterError, UsageError
from chaosk.core.suggest import instead
from chaosk.spec.contracts.live import PartitionState
from chaosk.spec.contracts.target import Node, Scene, voters
from chaosk.spec.inventory import Inventory

Number = Annotated[int, Field(ge=0)]
"""An id or a partition."""


def named_broker(inventory: Inventory, broker: int) -> Node:
    """Return the node of a broker id in a scenario; raises UsageError if the inventory has no such broker."""
    if broker not in inventory.brokers:
        raise UsageError(f"broker {broker}: the inventory has no such broker; {_ids(inventory.brokers)}")
    return _broker(inventory, broker)


def broker_nodes(inventory: Inventory, brokers: Iterable[int]) -> tuple[Node, ...]:
    """Return the nodes of broker ids that the cluster named, in their order.

    Raises ClusterError if one is not in the inventory, which then does not describe this cluster.
    """
    ids = tuple(brokers)
    for broker in ids:
        if broker not in inventory.brokers:
            raise ClusterError(f"the cluster names broker {broker}, and the inventory has no such broker; add it")
    return tuple(_broker(inventory, broker) for broker in ids)


def zookeeper_node(inventory: Inventory, node: int) -> Node:
    """Return the node of a ZooKeeper id; raises UsageError if the inventory has no such node."""
    if node not in inventory.zookeepers:
        raise UsageError(f"zookeeper {node}: the inventory has no such node; {_ids(inventory.zookeepers)}")
    return Node(kind="zookeeper", id=str(node), host=inventory.zookeepers[node].host)


def controller_node(inventory: Inventory, number: int) -> Node:
    """Return the node of a KRaft controller's id; raises UsageError if the inventory has no such controller."""
    for node in voters(inventory):
        if node.id == str(number):
            return node
    raise UsageError(f"controller {number}: the inventory has no such controller; {_ids(inventory.voters())}")


def host_node(inventory: Inventory, host: str) -> Node:
    """Return the node of a host's name; raises UsageError if the inventory has no such host."""
    if host not in inventory.hosts:
        raise UsageError(f"host {host}: the inventory has no such host; {instead(host, inventory.hosts)}")
    return Node(kind="host", id=host, host=host)


def partition(scene: Scene, topic: str, number: int) -> PartitionState:
    """Return the current state of one partition; raises ClusterError if the topic does not have it."""
    for one in scene.live.partitions(topic):
        if one.partition == number:
            return one
    raise ClusterError(f"topic {topic}: the cluster has no partition {number} of it")


def _broker(inventory: Inventory, broker: int) -> Node:
    return Node(kind="broker", id=str(broker), host=inventory.brokers[broker].host)


def _ids(known: Iterable[int]) -> str:
    return f"write one of {', '.join(map(str, known)) or 'none'}"

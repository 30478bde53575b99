"""Contract of targets: an expression for a *set* of nodes, resolved against the live cluster when a step fires."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Literal

from chaosk.core.model import Model
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import RequiredMode

NodeKind = Literal["host", "broker", "zookeeper", "controller", "probe", "listener", "everyone_else"]


class Node(Model):
    """A node that a fault can affect."""

    kind: NodeKind
    id: str
    """Host name, id of a server, probe name, or ``<listener>`` with its broker id, like ``CLIENT/2``."""
    host: str | None = None
    """Its host; None for probes and everyone else."""

    def __str__(self) -> str:
        place = f" on {self.host}" if self.host and self.kind != "host" else ""
        return f"{self.kind.replace('_', ' ')} {self.id}{place}".strip()


def servers(inventory: Inventory) -> tuple[Node, ...]:
    """Return all brokers, ZooKeeper nodes and controllers of a cluster; a combined node counts as a broker."""
    brokers = (Node(kind="broker", id=str(number), host=one.host) for number, one in inventory.brokers.items())
    keepers = (Node(kind="zookeeper", id=str(number), host=one.host) for number, one in inventory.zookeepers.items())
    controllers = (
        Node(kind="controller", id=str(number), host=one.host) for number, one in inventory.controllers.items()
    )
    return (*brokers, *keepers, *controllers)


def voters(inventory: Inventory) -> tuple[Node, ...]:
    """Return the controllers of a KRaft quorum: combined nodes (as brokers) and pure controllers."""
    numbers = {str(number) for number in inventory.voters()}
    return tuple(node for node in servers(inventory) if node.kind in {"broker", "controller"} and node.id in numbers)


def controller_kinds(inventory: Inventory) -> frozenset[NodeKind]:
    """Return the kinds of nodes that controllers of a cluster are: with ZooKeeper the controller is a broker."""
    return frozenset(node.kind for node in voters(inventory)) if inventory.kraft else frozenset({"broker"})


@dataclass(frozen=True, slots=True)
class Scene:
    """The context in which a target is resolved."""

    inventory: Inventory
    live: Live
    chance: Random
    """Seeded from the run's seed and the entry's name, so that a run can be repeated."""


class Target(Model, ABC):
    """A symbolic target; its fields are its arguments in the order in which they are written."""

    spelling: ClassVar[str]
    """The written form, like ``leader(TOPIC, PARTITION)``, for messages and the reference."""
    example: ClassVar[str]
    """An example, ready to copy."""
    kinds: ClassVar[frozenset[NodeKind]] = frozenset()
    """The kinds of nodes it can name; empty: the kinds of its nested targets, or unknown."""
    static: ClassVar[bool] = False
    """True if it resolves to the same nodes at any time, without a live cluster."""
    needs: ClassVar[RequiredMode | None] = None
    """The only cluster mode in which it makes sense, if there is one."""

    def nested(self) -> tuple[str, ...]:
        """The target expressions among its arguments, like the set in ``random(1, brokers)``; checked before a run."""
        return ()

    def kinds_on(self, inventory: Inventory) -> frozenset[NodeKind]:  # noqa: ARG002 - for those that override it
        """Return the kinds of nodes that it can name on a cluster; empty as ``kinds``."""
        return self.kinds

    @abstractmethod
    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """Return the nodes it names now, ordered; empty if none. Raises ChaoskError if the cluster does not answer."""

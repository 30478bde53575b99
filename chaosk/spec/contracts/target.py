"""What a target is: an expression that names a *set* of nodes, resolved against the live cluster when a step fires."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Literal

from chaosk.core.model import Model
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory
from chaosk.spec.quorum import Needs

NodeKind = Literal["host", "broker", "zookeeper", "controller", "probe", "listener", "everyone_else"]


class Node(Model):
    """One thing a fault can hit."""

    kind: NodeKind
    id: str
    """Host name, id of a server, probe name, or ``<listener>`` with its broker id, like ``CLIENT/2``."""
    host: str | None = None
    """The host it runs on; None for probes and everyone else."""

    def __str__(self) -> str:
        place = f" on {self.host}" if self.host and self.kind != "host" else ""
        return f"{self.kind.replace('_', ' ')} {self.id}{place}".strip()


def servers(inventory: Inventory) -> tuple[Node, ...]:
    """All brokers, ZooKeeper nodes and controllers of a cluster; one that is a broker as well is there as that."""
    brokers = (Node(kind="broker", id=str(number), host=one.host) for number, one in inventory.brokers.items())
    keepers = (Node(kind="zookeeper", id=str(number), host=one.host) for number, one in inventory.zookeepers.items())
    controllers = (
        Node(kind="controller", id=str(number), host=one.host) for number, one in inventory.controllers.items()
    )
    return (*brokers, *keepers, *controllers)


def voters(inventory: Inventory) -> tuple[Node, ...]:
    """The controllers of a KRaft quorum: brokers that are one as well, and those that are nothing else."""
    numbers = {str(number) for number in inventory.voters()}
    return tuple(node for node in servers(inventory) if node.kind in {"broker", "controller"} and node.id in numbers)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a target is resolved against."""

    inventory: Inventory
    live: Live
    chance: Random
    """Seeded from the run's seed and the entry's name, so a run can be repeated."""


class Target(Model, ABC):
    """A symbolic target; its fields are its arguments in the order they are written."""

    spelling: ClassVar[str]
    """How it is written, like ``leader(TOPIC, PARTITION)``; for messages and the reference."""
    example: ClassVar[str]
    """One that can be copied."""
    kinds: ClassVar[frozenset[NodeKind]] = frozenset()
    """The kinds of nodes it can name; none: those of the targets among its arguments, or nobody knows."""
    static: ClassVar[bool] = False
    """Whether it is the same whenever it is asked, with no live cluster."""
    needs: ClassVar[Needs | None] = None
    """The mode of clusters that it is for, if not for any."""

    def nested(self) -> tuple[str, ...]:
        """The target expressions among its arguments, like the set in ``random(1, brokers)``: checked before a run."""
        return ()

    @abstractmethod
    def resolve(self, scene: Scene) -> tuple[Node, ...]:
        """The nodes it names now, ordered; empty if none. Raises ChaoskError if the cluster cannot tell."""

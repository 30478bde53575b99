"""Clusters for plans without a network: one without any answers, and a healthy example."""

from __future__ import annotations

from chaosk.core.errors import ChaoskError
from chaosk.spec.contracts.live import PartitionState, ProbeState
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory
from chaosk.spec.topic_shape import TopicShape


class OnlyLiveError(ChaoskError):
    """The answer depends on the running cluster."""


class NoCluster:
    """A ``Live`` that raises OnlyLiveError: a target that resolves on it resolves the same at any time."""

    def partitions(self, topic: str) -> tuple[PartitionState, ...]:
        """Unknown."""
        raise OnlyLiveError(topic)

    def every_partition(self) -> tuple[PartitionState, ...]:
        """Unknown."""
        raise OnlyLiveError("partitions")

    def reassigning(self, topic: str) -> tuple[int, ...]:
        """Unknown."""
        raise OnlyLiveError(topic)

    def settings(self, entity: Entity) -> dict[str, str]:
        """Unknown."""
        raise OnlyLiveError(str(entity))

    def log_start(self, topic: str, partition: int) -> int:
        """Unknown."""
        raise OnlyLiveError(f"{topic}-{partition}")

    def own_topic(self, topic: str) -> bool:
        """Unknown."""
        raise OnlyLiveError(topic)

    def topic_shape(self, topic: str) -> TopicShape:
        """Unknown."""
        raise OnlyLiveError(topic)

    def controller(self) -> int | None:
        """Unknown."""
        raise OnlyLiveError("controller")

    def coordinator(self, group: str) -> int | None:
        """Unknown."""
        raise OnlyLiveError(group)

    def transaction_coordinator(self, transactional_id: str) -> int | None:
        """Unknown."""
        raise OnlyLiveError(transactional_id)

    def brokers(self) -> tuple[int, ...]:
        """Unknown."""
        raise OnlyLiveError("brokers")

    def broker_answers(self, broker: int) -> bool:
        """Unknown."""
        raise OnlyLiveError(str(broker))

    def zookeeper_modes(self) -> dict[int, str | None]:
        """Unknown."""
        raise OnlyLiveError("zookeepers")

    def controller_roles(self) -> dict[int, str | None]:
        """Unknown."""
        raise OnlyLiveError("controllers")

    def unknown_names(self) -> tuple[str, ...]:
        """Unknown."""
        raise OnlyLiveError("names")

    def addresses(self, name: str) -> tuple[str, ...]:
        """Unknown."""
        raise OnlyLiveError(name)

    def probe(self, name: str) -> ProbeState:
        """Unknown."""
        raise OnlyLiveError(name)


class ExampleCluster(NoCluster):
    """A ``Live`` of a healthy cluster of an inventory: the first broker has all roles, all replicas are in sync."""

    def __init__(self, inventory: Inventory) -> None:
        """The cluster has the brokers and ZooKeeper nodes of ``inventory``."""
        self._brokers = tuple(sorted(inventory.brokers))
        self._zookeepers = tuple(sorted(inventory.zookeepers))
        self._voters = tuple(sorted(inventory.voters()))

    def partitions(self, topic: str) -> tuple[PartitionState, ...]:
        """A hundred similar partitions."""
        ids = self._brokers
        return tuple(
            PartitionState(topic=topic, partition=number, leader=ids[0], replicas=ids, isr=ids) for number in range(100)
        )

    def every_partition(self) -> tuple[PartitionState, ...]:
        """The partitions of one topic."""
        return self.partitions("orders")

    def reassigning(self, topic: str) -> tuple[int, ...]:  # noqa: ARG002 - the same for all
        """None."""
        return ()

    def settings(self, entity: Entity) -> dict[str, str]:  # noqa: ARG002 - the same for all
        """Empty: all defaults."""
        return {}

    def log_start(self, topic: str, partition: int) -> int:  # noqa: ARG002 - the same for all
        """0: no record was deleted."""
        return 0

    def own_topic(self, topic: str) -> bool:  # noqa: ARG002 - the same for all
        """True."""
        return True

    def topic_shape(self, topic: str) -> TopicShape:
        """One partition on all brokers."""
        return TopicShape(topic=topic, identity="00000000-0000-0000-0000-000000000001", replicas=(self._brokers,))

    def controller(self) -> int | None:
        """The first broker, or the first controller of a quorum."""
        return (*self._voters, *self._brokers)[0]

    def coordinator(self, group: str) -> int | None:  # noqa: ARG002 - the same for all
        """The first broker."""
        return self._brokers[0]

    def transaction_coordinator(self, transactional_id: str) -> int | None:  # noqa: ARG002 - the same for all
        """The first broker."""
        return self._brokers[0]

    def brokers(self) -> tuple[int, ...]:
        """All brokers of the inventory."""
        return self._brokers

    def broker_answers(self, broker: int) -> bool:
        """True if the inventory has that broker."""
        return broker in self._brokers

    def zookeeper_modes(self) -> dict[int, str | None]:
        """The first node leads."""
        return {number: "follower" if place else "leader" for place, number in enumerate(self._zookeepers)}

    def unknown_names(self) -> tuple[str, ...]:
        """Empty: all names are known."""
        return ()

    def addresses(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 - the same for all
        """The same unused address for every name."""
        return ("192.0.2.99",)

    def controller_roles(self) -> dict[int, str | None]:
        """The first node leads."""
        return {number: "follower" if place else "leader" for place, number in enumerate(self._voters)}

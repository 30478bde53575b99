"""Clusters for plans: one that knows nothing, and one that could be; neither is asked over a network."""

from __future__ import annotations

from chaosk.core.errors import ChaoskError
from chaosk.spec.contracts.live import PartitionState, ProbeState
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory
from chaosk.spec.topic_shape import TopicShape


class OnlyLiveError(ChaoskError):
    """Only the running cluster can tell."""


class NoCluster:
    """A ``Live`` that raises OnlyLiveError: what resolves on it is the same whenever it is asked."""

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
    """A ``Live`` of a healthy cluster of an inventory: the first broker has every role there is, all are in sync."""

    def __init__(self, inventory: Inventory) -> None:
        """The cluster has the brokers and ZooKeeper nodes of ``inventory``."""
        self._brokers = tuple(sorted(inventory.brokers))
        self._zookeepers = tuple(sorted(inventory.zookeepers))
        self._voters = tuple(sorted(inventory.voters()))

    def partitions(self, topic: str) -> tuple[PartitionState, ...]:
        """A hundred, all alike."""
        ids = self._brokers
        return tuple(
            PartitionState(topic=topic, partition=number, leader=ids[0], replicas=ids, isr=ids) for number in range(100)
        )

    def every_partition(self) -> tuple[PartitionState, ...]:
        """Those of one topic."""
        return self.partitions("orders")

    def reassigning(self, topic: str) -> tuple[int, ...]:  # noqa: ARG002 - the same for all
        """None."""
        return ()

    def settings(self, entity: Entity) -> dict[str, str]:  # noqa: ARG002 - the same for all
        """None that were made."""
        return {}

    def log_start(self, topic: str, partition: int) -> int:  # noqa: ARG002 - the same for all
        """Nothing was deleted."""
        return 0

    def own_topic(self, topic: str) -> bool:  # noqa: ARG002 - the same for all
        """It is."""
        return True

    def topic_shape(self, topic: str) -> TopicShape:
        """One partition, on all brokers."""
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
        """All of them."""
        return self._brokers

    def broker_answers(self, broker: int) -> bool:
        """Whether it exists."""
        return broker in self._brokers

    def zookeeper_modes(self) -> dict[int, str | None]:
        """The first leads."""
        return {number: "follower" if place else "leader" for place, number in enumerate(self._zookeepers)}

    def unknown_names(self) -> tuple[str, ...]:
        """None: all are known."""
        return ()

    def addresses(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 - the same for all
        """All to one that is nobody's."""
        return ("192.0.2.99",)

    def controller_roles(self) -> dict[int, str | None]:
        """The first leads."""
        return {number: "follower" if place else "leader" for place, number in enumerate(self._voters)}

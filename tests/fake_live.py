"""A cluster of values, for tests of what asks a live cluster; what it answers is what a test sets."""

from __future__ import annotations

from dataclasses import dataclass, field

from chaosk.core.errors import ClusterError
from chaosk.spec.contracts.live import PartitionState, ProbeState, UnknownTopic
from chaosk.spec.entity import Entity
from chaosk.spec.installation import Installation
from chaosk.spec.inventory import Broker, Controller, Host, Inventory, Listener, ScriptService, ZooKeeper
from chaosk.spec.topic_shape import TopicShape

IDENTITY = "00000000-0000-0000-0000-000000000001"
INSTALLATION = Installation(
    link="/opt/kafka", versions={version: f"/opt/kafka-{version}" for version in ("3.9.1", "3.9.2", "4.1.1", "4.2.0")}
)
SERVICE = ScriptService(start=("/start",), stop=("/stop",), pid_file="/run/pid")


def inventory(brokers: int = 3, zookeepers: int = 3) -> Inventory:
    """Broker 0 and ZooKeeper 1 on node1, and so on; a listener for clients and one between brokers."""
    return Inventory(
        name="fake",
        hosts={f"node{n + 1}": Host(address=f"198.18.0.{11 + n}") for n in range(max(brokers, zookeepers))},
        brokers={
            n: Broker(
                host=f"node{n + 1}",
                service=SERVICE,
                data=("/var/lib/kafka",),
                rack="abcdefghi"[n],
                installation=INSTALLATION,
                listeners={
                    "CLIENT": Listener(address=f"198.18.0.{11 + n}", port=9092),
                    "REPLICATION": Listener(address=f"198.18.0.{11 + n}", port=9093, clients=False),
                },
            )
            for n in range(brokers)
        },
        zookeepers={n + 1: ZooKeeper(host=f"node{n + 1}", service=SERVICE) for n in range(zookeepers)},
    )


def kraft_inventory(combined: int = 0, controllers: int = 3) -> Inventory:
    """The same brokers in KRaft mode: so many are controllers as well, and controllers 101 and on beside them."""
    plain = inventory(3, 0)
    own = {
        101 + n: Controller(host=f"node{n + 1}", service=SERVICE, port=9094, config="/controller.properties")
        for n in range(controllers)
    }
    brokers = {n: one if n >= combined else _combined(one) for n, one in plain.brokers.items()}
    return plain.model_copy(update={"brokers": brokers, "controllers": own})


def _combined(broker: Broker) -> Broker:
    address = broker.listeners["CLIENT"].address
    listeners = {**broker.listeners, "CONTROLLER": Listener(address=address, port=9094, clients=False)}
    return broker.model_copy(update={"listeners": listeners, "controller_listener": "CONTROLLER"})


def state(number: int, leader: int, replicas: tuple[int, ...], isr: tuple[int, ...] | None = None) -> PartitionState:
    """A partition of `orders`; without an ISR all replicas are in sync."""
    in_sync = replicas if isr is None else isr
    return PartitionState(topic="orders", partition=number, leader=leader, replicas=replicas, isr=in_sync)


@dataclass
class FakeLive:
    """Answers what its fields say; a cluster that is `silent` answers nothing."""

    states: tuple[PartitionState, ...] = (
        state(0, 0, (0, 1, 2)), state(1, 1, (1, 2, 0)), state(2, 2, (2, 0, 1)),
    )  # fmt: skip
    control: int | None = 0
    coordinators: dict[str, int] = field(default_factory=dict)
    transactions: dict[str, int] = field(default_factory=dict)
    alive: tuple[int, ...] = (0, 1, 2)
    answering: tuple[int, ...] = (0, 1, 2)
    modes: dict[int, str | None] = field(default_factory=lambda: {1: "follower", 2: "leader", 3: "follower"})
    roles: dict[int, str | None] = field(default_factory=dict)
    probes: dict[str, ProbeState] = field(default_factory=dict)
    nameless: tuple[str, ...] = ()
    leads: dict[str, tuple[str, ...]] = field(default_factory=dict)
    moving: tuple[int, ...] = ()
    made: dict[str, dict[str, str]] = field(default_factory=dict)
    own: tuple[str, ...] = ("orders",)
    begins: int = 0
    silent: bool = False

    def partitions(self, topic: str) -> tuple[PartitionState, ...]:
        """Those of the topic."""
        self._speak()
        found = tuple(one for one in self.states if one.topic == topic)
        if not found:
            raise UnknownTopic(f"topic {topic}: the cluster has no such topic")
        return found

    def every_partition(self) -> tuple[PartitionState, ...]:
        """All that were set."""
        self._speak()
        return self.states

    def reassigning(self, topic: str) -> tuple[int, ...]:
        """Those that were set, of a topic that there is."""
        self.partitions(topic)
        return self.moving

    def settings(self, entity: Entity) -> dict[str, str]:
        """Those that were set."""
        self._speak()
        return self.made.get(str(entity), {})

    def log_start(self, topic: str, partition: int) -> int:
        """The one that was set, of a partition that there is."""
        assert partition in [one.partition for one in self.partitions(topic)]
        return self.begins

    def own_topic(self, topic: str) -> bool:
        """Whether it is among those that were set, of the topics that there are."""
        self.partitions(topic)
        return topic in self.own

    def topic_shape(self, topic: str) -> TopicShape:
        """Its replicas, and what was set on it."""
        replicas = tuple(one.replicas for one in self.partitions(topic))
        return TopicShape(topic=topic, identity=IDENTITY, replicas=replicas, config=self.made.get(f"topic {topic}", {}))

    def controller(self) -> int | None:
        """The one that was set."""
        self._speak()
        return self.control

    def coordinator(self, group: str) -> int | None:
        """The one that was set, or none."""
        self._speak()
        return self.coordinators.get(group)

    def transaction_coordinator(self, transactional_id: str) -> int | None:
        """The one that was set, or none."""
        self._speak()
        return self.transactions.get(transactional_id)

    def brokers(self) -> tuple[int, ...]:
        """Those that were set."""
        self._speak()
        return self.alive

    def broker_answers(self, broker: int) -> bool:
        """Whether it is one of those that were set."""
        return not self.silent and broker in self.answering

    def controller_roles(self) -> dict[int, str | None]:
        """Those that were set."""
        self._speak()
        return self.roles

    def zookeeper_modes(self) -> dict[int, str | None]:
        """Those that were set."""
        return self.modes

    def unknown_names(self) -> tuple[str, ...]:
        """Those that were set."""
        return self.nameless

    def addresses(self, name: str) -> tuple[str, ...]:
        """Those that were set."""
        return self.leads.get(name, ())

    def probe(self, name: str) -> ProbeState:
        """The one that was set."""
        return self.probes[name]

    def _speak(self) -> None:
        if self.silent:
            raise ClusterError("no broker answers")

"""What targets and conditions may ask of a running cluster and its probes; who answers is somebody else's matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from chaosk.core.errors import ClusterError
from chaosk.core.model import Model
from chaosk.spec.entity import Entity
from chaosk.spec.topic_shape import TopicShape


class UnknownTopic(ClusterError):  # noqa: N818 - the field's word
    """The cluster has no such topic."""


class PartitionState(Model):
    """One partition as the cluster describes it."""

    topic: str
    partition: int
    leader: int
    """-1 if there is none."""
    replicas: tuple[int, ...]
    """Preferred leader first."""
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ForeignPartition:
    """A partition of a topic that is not the scenario's."""

    state: PartitionState
    least: int
    """The topic's ``min.insync.replicas``."""


class ProbeState(Model):
    """What a probe said of itself last."""

    probe: str
    kind: str
    """``produce``, ``consume``, ``transform``, ``health_check`` or ``call``."""
    running: bool
    scheduled: int = 0
    """Records (a producer), health checks or calls due so far."""
    ok: int = 0
    """Acknowledged (and not in a transaction that was not committed), delivered, connected to, or answered."""
    fail: int = 0
    info: int = 0
    errors: int = 0
    """Errors reported outside of any call."""
    lag: int | None = None
    """Records up to the end that a consumer has not read; None while unknown."""
    reached: int | None = None
    """The sum of the offsets that a consumer reads next, of all partitions it holds; None while unknown."""
    standby: bool = False
    """Whether it runs and is not yet to do anything."""
    frozen: bool = False
    """Whether its process was stopped by a signal."""
    begun: bool = True
    """Whether it has been started at all."""
    last_error: str | None = None
    exit_status: int | None = None

    @property
    def ended_well(self) -> bool:
        """Whether its process is over, and said that all was well."""
        return self.begun and not self.running and self.exit_status == 0

    def process(self) -> str:
        """How its process is, in words."""
        if not self.begun:
            return "has not been started"
        if not self.running:
            return "has ended" if self.ended_well else f"has ended with {self.exit_status}"
        return "is frozen" if self.frozen else "runs"


class Live(Protocol):
    """The cluster and the probes as they are now. Each call asks anew and raises ChaoskError when nobody answers."""

    def partitions(self, topic: str) -> tuple[PartitionState, ...]:
        """Every partition of a topic; raises UnknownTopic if there is none of that name."""
        ...

    def every_partition(self) -> tuple[PartitionState, ...]:
        """Every partition of every topic, Kafka's own among them."""
        ...

    def reassigning(self, topic: str) -> tuple[int, ...]:
        """The partitions of a topic whose reassignment is under way."""
        ...

    def settings(self, entity: Entity) -> dict[str, str]:
        """By name the settings that were made on that itself; raises ClusterError where nobody tells."""
        ...

    def log_start(self, topic: str, partition: int) -> int:
        """The first offset that a partition's leader still has; raises ClusterError if it does not tell."""
        ...

    def own_topic(self, topic: str) -> bool:
        """Whether chaosk made the topic that has this name now; raises ClusterError where nobody tells."""
        ...

    def topic_shape(self, topic: str) -> TopicShape:
        """Id, replicas and settings of a topic; raises UnknownTopic if there is none of that name."""
        ...

    def controller(self) -> int | None:
        """Id of the controller: of a broker, or in KRaft of the node that leads the quorum; None if there is none."""
        ...

    def coordinator(self, group: str) -> int | None:
        """Broker id of a consumer group's coordinator; None if there is none."""
        ...

    def transaction_coordinator(self, transactional_id: str) -> int | None:
        """Broker id of the coordinator of a ``transactional.id``; None if there is none."""
        ...

    def brokers(self) -> tuple[int, ...]:
        """Ids of the brokers that the cluster holds to be alive."""
        ...

    def broker_answers(self, broker: int) -> bool:
        """Whether that broker itself answers a request."""
        ...

    def zookeeper_modes(self) -> dict[int, str | None]:
        """By ZooKeeper id ``leader``, ``follower``, ``standalone``, or None where it does not serve."""
        ...

    def controller_roles(self) -> dict[int, str | None]:
        """By node id ``leader``, ``follower``, or None for one that takes no part in the quorum; empty with ZooKeeper.

        Those of the inventory, and those that vote without being there.
        """
        ...

    def unknown_names(self) -> tuple[str, ...]:
        """The names of brokers that probes cannot look up; none where clients know brokers by address."""
        ...

    def addresses(self, name: str) -> tuple[str, ...]:
        """Where a name leads probes, each address once; to nothing if it is unknown."""
        ...

    def probe(self, name: str) -> ProbeState:
        """What the probe said last."""
        ...

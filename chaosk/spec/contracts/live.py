"""Queries about a running cluster and its probes, for targets and conditions; the implementation is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from chaosk.core.errors import ClusterError
from chaosk.core.model import Model
from chaosk.spec.entity import Entity
from chaosk.spec.topic_shape import TopicShape


class UnknownTopic(ClusterError):  # noqa: N818 - the usual term
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
    """The last state that a probe reported."""

    probe: str
    kind: str
    """``produce``, ``consume``, ``transform``, ``health_check`` or ``call``."""
    running: bool
    scheduled: int = 0
    """Records (a producer), health checks or calls due so far."""
    ok: int = 0
    """Acknowledged (and not in an uncommitted transaction), delivered, connected to, or answered."""
    fail: int = 0
    info: int = 0
    errors: int = 0
    """Errors reported outside of any call."""
    lag: int | None = None
    """Unread records up to the end of a consumer's partitions; None while unknown."""
    reached: int | None = None
    """The sum of a consumer's next offsets over all its partitions; None while unknown."""
    owned: int | None = None
    """The number of partitions that a consumer owns; None while unknown."""
    standby: bool = False
    """True if it runs, but has to wait before it works."""
    frozen: bool = False
    """True if its process was stopped by a signal."""
    begun: bool = True
    """True if it has been started."""
    last_error: str | None = None
    exit_status: int | None = None

    @property
    def ended_well(self) -> bool:
        """True if its process has ended with status 0."""
        return self.begun and not self.running and self.exit_status == 0

    def process(self) -> str:
        """Describe the state of its process in words."""
        if not self.begun:
            return "has not been started"
        if not self.running:
            return "has ended" if self.ended_well else f"has ended with {self.exit_status}"
        return "is frozen" if self.frozen else "runs"


class Live(Protocol):
    """The current state of cluster and probes. Each call asks again, and raises ChaoskError if there is no answer."""

    def partitions(self, topic: str) -> tuple[PartitionState, ...]:
        """Return every partition of a topic; raises UnknownTopic if there is no such topic."""
        ...

    def every_partition(self) -> tuple[PartitionState, ...]:
        """Return every partition of every topic, including Kafka's own."""
        ...

    def reassigning(self, topic: str) -> tuple[int, ...]:
        """Return the partitions of a topic with an ongoing reassignment."""
        ...

    def settings(self, entity: Entity) -> dict[str, str]:
        """Return the settings that are set on the entity itself, by name; raises ClusterError if there is no answer."""
        ...

    def log_start(self, topic: str, partition: int) -> int:
        """Return the first offset that a partition's leader still has; raises ClusterError if there is no answer."""
        ...

    def own_topic(self, topic: str) -> bool:
        """Return True if chaosk made the current topic of this name; raises ClusterError if there is no answer."""
        ...

    def topic_shape(self, topic: str) -> TopicShape:
        """Return id, replicas and settings of a topic; raises UnknownTopic if there is no such topic."""
        ...

    def controller(self) -> int | None:
        """Return the id of the controller: a broker, or with KRaft the leader of the quorum; None if there is none."""
        ...

    def coordinator(self, group: str) -> int | None:
        """Return the broker id of a consumer group's coordinator; None if there is none."""
        ...

    def transaction_coordinator(self, transactional_id: str) -> int | None:
        """Return the broker id of the coordinator of a ``transactional.id``; None if there is none."""
        ...

    def brokers(self) -> tuple[int, ...]:
        """Return the ids of the brokers that the cluster considers alive."""
        ...

    def broker_answers(self, broker: int) -> bool:
        """Return True if that broker itself answers a request."""
        ...

    def zookeeper_modes(self) -> dict[int, str | None]:
        """Map each ZooKeeper id to ``leader``, ``follower``, ``standalone``, or None if the node does not serve."""
        ...

    def controller_roles(self) -> dict[int, str | None]:
        """Map node ids to ``leader``, ``follower``, or None for one outside of the quorum; empty with ZooKeeper.

        Includes the nodes of the inventory, and voters that are not in it.
        """
        ...

    def unknown_names(self) -> tuple[str, ...]:
        """Return the broker names that probes cannot resolve; empty if clients know brokers by address."""
        ...

    def addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses to which a name resolves for probes, each once; empty if it is unknown."""
        ...

    def probe(self, name: str) -> ProbeState:
        """Return the last state that the probe reported."""
        ...

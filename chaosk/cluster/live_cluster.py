"""Live facts of a real cluster and its probes, for targets and conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.coordinator import coordinator, transaction_coordinator
from chaosk.cluster.endpoints import zookeeper_places
from chaosk.cluster.entity_settings import settings_of
from chaosk.cluster.listener_certificate import certificate_of
from chaosk.cluster.log_start import log_start
from chaosk.cluster.owner import own_topics
from chaosk.cluster.reassignment import reassigning
from chaosk.cluster.remake import shape_of
from chaosk.cluster.rights import rights_of
from chaosk.cluster.views import PartitionView, current, metadata_request, partitions
from chaosk.cluster.wire import TIMEOUT, Endpoint, NoAnswer
from chaosk.cluster.zookeeper import ask_mode
from chaosk.core.parallel import parallel_map
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory
from chaosk.spec.topic_shape import TopicShape


class NameTable(Protocol):
    """Name resolution of the probes for brokers."""

    def unknown(self) -> tuple[str, ...]:
        """Return the names that probes cannot resolve."""
        ...

    def addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses to which a name resolves for probes."""
        ...


class LiveCluster:
    """``chaosk.spec.contracts.live.Live`` of a real cluster; usable from any thread."""

    def __init__(
        self,
        inventory: Inventory,
        brokers: Brokers,
        probe: Callable[[str], ProbeState],
        timeout: float = TIMEOUT,
        names: NameTable | None = None,
        as_probes: Brokers | None = None,
    ) -> None:
        """``probe``: returns a probe's last state; ``timeout``: seconds for a ZooKeeper node.

        ``as_probes``: the brokers accessed with the probes' login; None if that is chaosk's own. ``names``: the probes'
        name resolution for brokers; None if it is the usual one.
        """
        self._brokers = brokers
        self._as_probes = as_probes or brokers
        self._inventory = inventory
        self._kraft = inventory.kraft
        self._voters = tuple(sorted(inventory.voters()))
        self._zookeepers = zookeeper_places(inventory)
        self._probe = probe
        self._timeout = timeout
        self._names = names

    def partitions(self, topic: str) -> tuple[PartitionView, ...]:
        """Return every partition of a topic."""
        return self._brokers.partitions(topic)

    def every_partition(self) -> tuple[PartitionView, ...]:
        """Return every partition of every topic."""
        return partitions(self._brokers.views(None))

    def reassigning(self, topic: str) -> tuple[int, ...]:
        """Return the partitions of a topic with an ongoing reassignment."""
        return reassigning(self._brokers, topic)

    def settings(self, entity: Entity) -> dict[str, str]:
        """Return own settings of a topic, a broker, or clients by name; also ACLs, the probes' rights, certificates."""
        if entity.kind == "certificate":
            return certificate_of(self._inventory, entity)
        if entity.kind == "rights":
            return rights_of(self._as_probes, self._brokers, entity)
        return settings_of(self._brokers, entity)

    def log_start(self, topic: str, partition: int) -> int:
        """Return the first offset that a partition's leader still has."""
        return log_start(self._brokers, topic, partition)

    def own_topic(self, topic: str) -> bool:
        """Return True if chaosk made the current topic of this name."""
        ids = current(self._brokers.views([topic]))[0].topic_ids
        return topic in own_topics(self._brokers, {name: one for name, one in ids.items() if name == topic})

    def topic_shape(self, topic: str) -> TopicShape:
        """Return id, replicas and settings of a topic."""
        return shape_of(self._brokers, topic)

    def controller(self) -> int | None:
        """Return the id of the controller: a broker, or in KRaft the quorum's leader; None if there is none."""
        if not self._kraft:
            return self._brokers.controller()
        found = self._brokers.quorum()
        return None if found is None else found.leader

    def coordinator(self, group: str) -> int | None:
        """Return the broker id of a consumer group's coordinator; None if there is none at the moment."""
        return coordinator(self._brokers, group)

    def transaction_coordinator(self, transactional_id: str) -> int | None:
        """Return the broker id of the coordinator of a ``transactional.id``; None if there is none at the moment."""
        return transaction_coordinator(self._brokers, transactional_id)

    def brokers(self) -> tuple[int, ...]:
        """Return the ids of the brokers that the cluster considers alive."""
        said = [one.alive for one in current(self._brokers.views())]
        return max(said, key=said.count)

    def broker_answers(self, broker: int) -> bool:
        """Return True if that broker itself answers a request."""
        try:
            self._brokers.ask(broker, metadata_request(()))
        except NoAnswer:
            return False
        return True

    def zookeeper_modes(self) -> dict[int, str | None]:
        """Map each ZooKeeper id to its mode, or None if the node does not serve."""
        modes = parallel_map(lambda place: _mode(place, self._timeout), self._zookeepers.values())
        return dict(zip(self._zookeepers, modes, strict=True))

    def controller_roles(self) -> dict[int, str | None]:
        """Map each controller's node id to its role in the quorum, or None if it has none; empty with ZooKeeper."""
        if not self._kraft:
            return {}
        found = self._brokers.quorum()
        return {**dict.fromkeys(self._voters), **({} if found is None else found.roles)}

    def unknown_names(self) -> tuple[str, ...]:
        """Return the broker names that probes cannot resolve."""
        return self._names.unknown() if self._names is not None else ()

    def addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses to which a name resolves for probes."""
        return self._names.addresses(name) if self._names is not None else (name,)

    def probe(self, name: str) -> ProbeState:
        """Return the last state that the probe reported."""
        return self._probe(name)


def _mode(place: Endpoint, timeout: float) -> str | None:
    try:
        return ask_mode(place, timeout)
    except NoAnswer:
        return None

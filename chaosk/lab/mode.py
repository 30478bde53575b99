"""A metadata mode, ZooKeeper or KRaft: its services and their files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from chaosk.cluster.wire import Endpoint
from chaosk.core.errors import UsageError
from chaosk.lab import broker, seating
from chaosk.lab.seating import Metadata, Seat
from chaosk.lab.service import HostFile, Service
from chaosk.spec.inventory import Inventory, Kafka
from chaosk.spec.lab_layout import LabLayout

OLDEST_KRAFT = (3, 3)
"""The first Kafka with production-ready KRaft."""


class Mode(ABC):
    """One metadata mode."""

    metadata: ClassVar[Metadata]
    """The role of the nodes that keep the metadata."""

    @abstractmethod
    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for layouts that this mode does not support."""

    @abstractmethod
    def keeper(self, host: str, address: str, number: int) -> Service:
        """Return the service of a node that keeps the metadata and is no broker."""

    @abstractmethod
    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """Return Kafka's tools for every host, and the configuration and scripts of the services on ``seat``."""

    @abstractmethod
    def servers(self, seats: tuple[Seat, ...]) -> dict[str, Any]:
        """Return the inventory's entries of brokers and of the nodes that keep the metadata."""

    def controllers(self, seats: tuple[Seat, ...]) -> dict[int, Endpoint]:  # noqa: ARG002 - KRaft's depend on them
        """Return the addresses of the quorum's controllers by node id; empty with ZooKeeper."""
        return {}

    def seats(self, layout: LabLayout) -> tuple[Seat, ...]:
        """Return the roles of each host; raises UsageError if the layout is contradictory."""
        return seating.seats(layout, self.metadata)

    def keepers(self, seats: tuple[Seat, ...]) -> tuple[Service, ...]:
        """Return the services that keep the metadata and are no brokers, in the order of the hosts."""
        numbers = ((seat, getattr(seat, self.metadata)) for seat in seats)
        return tuple(self.keeper(seat.host, seat.address, number) for seat, number in numbers if number is not None)

    def services(self, seats: tuple[Seat, ...]) -> tuple[Service, ...]:
        """Return the services, in the order of their start: brokers wait for the others."""
        return (*self.keepers(seats), *broker.services(seats))

    def inventory(self, seats: tuple[Seat, ...], layout: LabLayout, namespace: str) -> Inventory:
        """Return an inventory with the login ops, and services controlled by scripts.

        The hosts' keys are ``client_key`` and ``known_hosts`` beside it.
        """
        return Inventory(
            name=layout.name,
            network_namespace=namespace,
            hosts=broker.hosts(seats),
            kafka=Kafka(home="/opt/kafka", version=layout.kafka),
            **self.servers(seats),
        )


def mode_of(layout: LabLayout) -> Mode:
    """Return the mode of a layout, by default that of its Kafka version.

    Raises UsageError for a version that is unsupported or does not have the mode.
    """
    from chaosk.lab.kraft_mode import KRaftMode  # noqa: PLC0415 - it implements what is defined here
    from chaosk.lab.zookeeper_mode import ZooKeeperMode  # noqa: PLC0415 - it, too

    for other in layout.also:
        mode_of(layout.model_copy(update={"kafka": other, "also": ()}))
    words = layout.kafka.split(".")
    if len(words) != 3 or not all(word.isdecimal() and word.isascii() for word in words):
        raise UsageError(f"kafka: {layout.kafka!r} is not a version; write all three numbers, like 3.9.2")
    version = (int(words[0]), int(words[1]))
    if version < (3, 0):
        raise UsageError(f"kafka: {layout.kafka} is too old; this lab runs 3.x and 4.x, for example 3.9.2")
    wanted = layout.mode or ("zookeeper" if version < (4, 0) else "kraft")
    if wanted == "zookeeper" and version >= (4, 0):
        raise UsageError(f"kafka: {layout.kafka} has no ZooKeeper mode; write mode: kraft, or a 3.x, for example 3.9.2")
    if wanted == "kraft" and version < OLDEST_KRAFT:
        oldest = ".".join(map(str, OLDEST_KRAFT))
        raise UsageError(
            f"kafka: {layout.kafka} has no KRaft mode that is ready for use; {oldest} is the first that has"
        )
    return ZooKeeperMode() if wanted == "zookeeper" else KRaftMode()

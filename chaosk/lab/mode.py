"""The interface of a metadata mode, ZooKeeper or KRaft: its services and their files."""

from __future__ import annotations

from typing import Protocol

from chaosk.cluster.wire import Endpoint
from chaosk.core.errors import UsageError
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

OLDEST_KRAFT = (3, 3)
"""The first Kafka with production-ready KRaft."""


class Mode(Protocol):
    """One metadata mode."""

    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for layouts that this mode does not support."""
        ...

    def dependencies(self, layout: LabLayout) -> tuple[str, ...]:
        """Return the Maven coordinates ``group:artifact:version`` of the jars that hosts need."""
        ...

    def seats(self, layout: LabLayout) -> tuple[Seat, ...]:
        """Return the roles of each host; raises UsageError if the layout is contradictory."""
        ...

    def services(self, seats: tuple[Seat, ...]) -> tuple[Service, ...]:
        """Return the services, in the order of their start."""
        ...

    def controllers(self, seats: tuple[Seat, ...]) -> dict[int, Endpoint]:
        """Return the addresses of the quorum's controllers by node id; empty with ZooKeeper."""
        ...

    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """Return the configuration and scripts of the services on one seat."""
        ...

    def inventory(self, seats: tuple[Seat, ...], layout: LabLayout, namespace: str) -> Inventory:
        """Return the inventory; the hosts' keys are ``client_key`` and ``known_hosts`` beside it."""
        ...


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

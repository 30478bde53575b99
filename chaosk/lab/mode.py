"""The seam for how a cluster keeps its metadata: which services there are, and the files they need."""

from __future__ import annotations

from typing import Protocol

from chaosk.errors import UsageError
from chaosk.inventory import Inventory, LabLayout
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service


class Mode(Protocol):
    """What a way to run Kafka brings to the lab."""

    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for what this mode cannot run."""
        ...

    def dependencies(self, layout: LabLayout) -> tuple[str, ...]:
        """The Maven coordinates ``group:artifact:version`` whose jars the hosts need."""
        ...

    def services(self, seats: tuple[Seat, ...]) -> tuple[Service, ...]:
        """What runs, in the order it is started."""
        ...

    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """What the services of one seat read and are started by."""
        ...

    def inventory(self, seats: tuple[Seat, ...], layout: LabLayout, namespace: str) -> Inventory:
        """The cluster as chaosk reads it; the hosts' keys are ``client_key`` and ``known_hosts`` beside it."""
        ...


def mode_of(layout: LabLayout) -> Mode:
    """The mode of a layout's Kafka version; raises UsageError for a version no mode runs."""
    from chaosk.lab.zookeeper_mode import ZooKeeperMode  # noqa: PLC0415 - it implements what is defined here

    words = layout.kafka.split(".")
    if len(words) != 3 or not all(word.isdecimal() for word in words):
        raise UsageError(f"kafka: {layout.kafka!r} is not a version; write all three numbers, like 3.9.2")
    if words[0] != "3":
        raise UsageError(f"kafka: {layout.kafka} has no ZooKeeper mode; this lab runs 3.x, for example 3.9.2")
    return ZooKeeperMode()

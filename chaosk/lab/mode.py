"""The seam for how a cluster keeps its metadata: which services there are, and the files they need."""

from __future__ import annotations

from typing import Protocol

from chaosk.cluster.wire import Place
from chaosk.core.errors import UsageError
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

OLDEST_KRAFT = (3, 3)
"""The first Kafka whose KRaft is declared ready for production."""


class Mode(Protocol):
    """What a way to run Kafka brings to the lab."""

    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for what this mode cannot run."""
        ...

    def dependencies(self, layout: LabLayout) -> tuple[str, ...]:
        """The Maven coordinates ``group:artifact:version`` whose jars the hosts need."""
        ...

    def seats(self, layout: LabLayout) -> tuple[Seat, ...]:
        """Which host has which roles; raises UsageError when the layout contradicts itself."""
        ...

    def services(self, seats: tuple[Seat, ...]) -> tuple[Service, ...]:
        """What runs, in the order it is started."""
        ...

    def controllers(self, seats: tuple[Seat, ...]) -> dict[int, Place]:
        """By node id where the controllers of the quorum answer; none with ZooKeeper."""
        ...

    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """What the services of one seat read and are started by."""
        ...

    def inventory(self, seats: tuple[Seat, ...], layout: LabLayout, namespace: str) -> Inventory:
        """The cluster as chaosk reads it; the hosts' keys are ``client_key`` and ``known_hosts`` beside it."""
        ...


def mode_of(layout: LabLayout) -> Mode:
    """The mode of a layout, by default that of its Kafka version; raises UsageError where the version lacks it."""
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

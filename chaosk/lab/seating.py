"""From a layout to seats: which host has which address and which roles. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from chaosk.errors import UsageError
from chaosk.inventory import LabLayout

NETWORK = "198.18.0"
"""The first three bytes of every address: 198.18.0.0/15 is reserved for benchmarks (RFC 2544)."""

OUTSIDE = f"{NETWORK}.1"
"""chaosk's own end, on the bridge."""

Role = Literal["broker", "zookeeper"]


@dataclass(frozen=True, slots=True)
class Seat:
    """One host and what runs on it."""

    host: str
    address: str
    broker: int | None = None
    """The broker's id, if there is one."""
    zookeeper: int | None = None
    """The ZooKeeper node's ``myid``, if there is one."""

    @property
    def plug(self) -> str:
        """Where the host's cable is plugged into the bridge: its name may be too long for an interface."""
        return f"host{self.address.rpartition('.')[2]}"

    @property
    def mac(self) -> str:
        """The hardware address: made from the other, so that a host started again is found where it was at once."""
        return ":".join(["02", "00", *(f"{int(part):02x}" for part in self.address.split("."))])


def seats(layout: LabLayout) -> tuple[Seat, ...]:
    """The hosts of ``layout`` in order; raises UsageError when it contradicts itself."""
    roles = _written(layout) if layout.layout is not None else _co_located(layout.brokers, layout.zookeepers)
    found = tuple(
        Seat(host, f"{NETWORK}.{10 + number}", has.get("broker"), has.get("zookeeper"))
        for number, (host, has) in enumerate(roles.items(), 1)
    )
    _check(layout, found)
    return found


def _co_located(brokers: int, zookeepers: int) -> dict[str, dict[Role, int]]:
    return {
        f"node{number}": {
            **({"broker": number - 1} if number <= brokers else {}),
            **({"zookeeper": number} if number <= zookeepers else {}),
        }
        for number in range(1, max(brokers, zookeepers) + 1)
    }


def _written(layout: LabLayout) -> dict[str, dict[Role, int]]:
    return {host: dict(_role(host, text) for text in texts) for host, texts in _unique(layout)}


def _unique(layout: LabLayout) -> Iterable[tuple[str, tuple[str, ...]]]:
    for host, texts in (layout.layout or {}).items():
        kinds = [text.split(" ")[0] for text in texts]
        for kind in {kind for kind in kinds if kinds.count(kind) > 1}:
            raise UsageError(f"layout.{host}: two roles of the kind {kind!r}; a host has room for one of each")
        yield host, texts


def _role(host: str, text: str) -> tuple[Role, int]:
    kind, number = text.split(" ")
    if kind == "zookeeper" and not 1 <= int(number) <= 255:
        raise UsageError(f"layout.{host}: {text!r}: ZooKeeper ids go from 1 to 255")
    return cast("Role", kind), int(number)


def _check(layout: LabLayout, found: tuple[Seat, ...]) -> None:
    brokers = [seat.broker for seat in found if seat.broker is not None]
    zookeepers = [seat.zookeeper for seat in found if seat.zookeeper is not None]
    for kind, ids, wanted in (("broker", brokers, layout.brokers), ("zookeeper", zookeepers, layout.zookeepers)):
        if not ids:
            raise UsageError(f"layout: there is no {kind}; a cluster needs at least one")
        for number in {number for number in ids if ids.count(number) > 1}:
            raise UsageError(f"layout: {kind} {number} is on two hosts; give each an id of its own")
        if f"{kind}s" in layout.model_fields_set and wanted != len(ids):
            raise UsageError(f"layout has {len(ids)} {kind}s, but {kind}s says {wanted}; drop one of the two")
    if len(found) > 200:
        raise UsageError(f"layout: {len(found)} hosts; a lab has room for 200")

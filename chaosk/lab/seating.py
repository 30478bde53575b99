"""Convert a layout to seats: the address and the roles of each host. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from typing import Literal, cast

from chaosk.core.errors import UsageError
from chaosk.spec.lab_layout import LabLayout

NETWORK = "198.18.0"
"""The first three bytes of every address: 198.18.0.0/15 is reserved for benchmarks (RFC 2544)."""

OUTSIDE = f"{NETWORK}.1"
"""chaosk's own address, on the bridge."""

FIRST_CONTROLLER = 101
"""The node id of the first separate controller."""

DATA = "/var/lib/kafka"
"""The data directory of a broker; several data directories are inside it."""

Role = Literal["broker", "controller", "zookeeper"]
Metadata = Literal["zookeeper", "controller"]
"""The role of the nodes that keep the metadata."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One host and its roles."""

    host: str
    address: str
    broker: int | None = None
    """The broker's id, if there is one."""
    zookeeper: int | None = None
    """The ZooKeeper node's ``myid``, if there is one."""
    controller: int | None = None
    """The node id of a separate controller, if there is one."""
    data: tuple[str, ...] = (DATA,)
    """The broker's data directories; each of several is a separate file system if the host supports it."""
    rack: str | None = None
    """The broker's rack, if it has one."""
    alias: str | None = None
    """The name that is advertised to clients in place of the address, if there is one."""

    @property
    def advertised(self) -> str:
        """The name or address that is advertised to clients."""
        return self.alias or self.address

    @property
    def plug(self) -> str:
        """The interface on the bridge; not the host's name, which may be too long for an interface."""
        return f"host{self.address.rpartition('.')[2]}"

    @property
    def mac(self) -> str:
        """The hardware address, derived from the IP address, so that peers' ARP entries survive its restart."""
        return ":".join(["02", "00", *(f"{int(part):02x}" for part in self.address.split("."))])


def seats(layout: LabLayout, metadata: Metadata = "zookeeper") -> tuple[Seat, ...]:
    """Return the hosts of ``layout`` in order; raises UsageError if it is contradictory.

    ``metadata`` is the role that keeps the metadata. Without separate controllers, brokers do it.
    """
    roles = _written(layout) if layout.layout is not None else _co_located(layout, metadata)
    brokers = [has["broker"] for has in roles.values() if "broker" in has]
    racks = dict(zip(brokers, cycle(layout.racks), strict=False))
    found = tuple(
        Seat(
            host,
            f"{NETWORK}.{10 + number}",
            broker,
            has.get("zookeeper"),
            has.get("controller"),
            _data(layout.data_dirs),
            None if broker is None else racks.get(broker),
            f"{host}.{layout.name}.test" if layout.names else None,
        )
        for number, (host, has) in enumerate(roles.items(), 1)
        for broker in [has.get("broker")]
    )
    _check(layout, found, metadata)
    return found


def _data(count: int) -> tuple[str, ...]:
    return (DATA,) if count == 1 else tuple(f"{DATA}/disk{number}" for number in range(1, count + 1))


def _co_located(layout: LabLayout, metadata: Metadata) -> dict[str, dict[Role, int]]:
    """Return one role of each kind a host; ids of controllers differ from those of brokers, as KRaft requires."""
    brokers = layout.brokers
    count, first = (layout.zookeepers, 1) if metadata == "zookeeper" else (layout.controllers, FIRST_CONTROLLER)
    return {
        f"node{number}": {
            **({"broker": number - 1} if number <= brokers else {}),
            **({metadata: first + number - 1} if number <= count else {}),
        }
        for number in range(1, max(brokers, count) + 1)
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


def _check(layout: LabLayout, found: tuple[Seat, ...], metadata: Metadata) -> None:
    ids: dict[Role, list[int]] = {
        "broker": [seat.broker for seat in found if seat.broker is not None],
        "zookeeper": [seat.zookeeper for seat in found if seat.zookeeper is not None],
        "controller": [seat.controller for seat in found if seat.controller is not None],
    }
    for kind in ("broker", *(("zookeeper",) if metadata == "zookeeper" else ())):
        if not ids[kind]:
            raise UsageError(f"layout: there is no {kind}; a cluster needs at least one")
    for number in sorted(layout.broker_overrides.keys() - set(ids["broker"])):
        raise UsageError(f"broker_overrides.{number}: there is no broker {number}; brokers are {ids['broker']}")
    for kind, numbers in ids.items():
        _check_kind(layout, kind, numbers)
    for number in sorted({*ids["broker"]} & {*ids["controller"]}):
        raise UsageError(
            f"layout: broker {number} and controller {number}: they are numbered together; take another id"
        )
    if len(found) > 200:
        raise UsageError(f"layout: {len(found)} hosts; a lab has room for 200")


def _check_kind(layout: LabLayout, kind: Role, ids: list[int]) -> None:
    for number in {number for number in ids if ids.count(number) > 1}:
        raise UsageError(f"layout: {kind} {number} is on two hosts; give each a unique id")
    wanted = getattr(layout, f"{kind}s")
    if f"{kind}s" in layout.model_fields_set and wanted != len(ids):
        raise UsageError(f"layout has {len(ids)} {kind}s, but {kind}s is {wanted}; remove one of the two")

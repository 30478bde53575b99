"""A server's own configuration as findings: ``server.properties``, or the same settings as a broker describes them.

``zoo.cfg`` as well. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from chaosk.discovery.findings import Findings, Learned, Place, QuorumMember, Remark
from chaosk.discovery.listeners import (
    ListenerAddress,
    keepers_in,
    listeners_in,
    names_in,
    protocol_of,
    voters_in,
)

Sourced = Callable[[str], str]
"""Where a setting was learned, by its name."""
_ENSEMBLE = re.compile(r"server\.(\d+)")
_MEMBER = re.compile(r"(?:\[([^\]]*)\]|([^:;|]+)):(\d+):(\d+)(?::[a-z]+)?(?:;(?:[^:]*:)?(\d+))?.*")


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """The kind of a server and its id, as its configuration has them."""

    role: str
    """``brokers``, ``controllers`` or ``zookeepers``."""
    number: int
    combined: bool = False
    """True if it is broker and controller in one."""

    @property
    def place(self) -> Place:
        """Return its place in the inventory."""
        return (self.role, str(self.number))


def identity(settings: Mapping[str, str]) -> ServerIdentity | None:
    """Return which server of Kafka a configuration belongs to; None if it has no id, or is none of Kafka's."""
    text = settings.get("node.id") or settings.get("broker.id") or ""
    if not text.isdigit():
        return None
    roles = {name.lower() for name in names_in(settings.get("process.roles", ""))}
    role = "controllers" if roles == {"controller"} else "brokers"
    return ServerIdentity(role, int(text), combined=roles >= {"broker", "controller"})


def kafka_findings(
    settings: Mapping[str, str], server: ServerIdentity, source: Sourced, reached: tuple[str, int] | None = None
) -> Findings:
    """Return what a configuration of Kafka says about its server.

    ``reached``: host and port at which clients reach this broker, as Metadata answers; None if nobody was asked.
    """
    ends = _listeners(settings, server)
    controllers = names_in(settings.get("controller.listener.names", ""))
    facts = [*_data(settings, server, source)]
    if rack := settings.get("broker.rack"):
        facts.append(Learned((*server.place, "rack"), rack, source("broker.rack")))
    if server.role == "controllers":
        port = next((end.port for end in ends if end.name in controllers), None)
        facts += [] if port is None else [Learned((*server.place, "port"), port, source("listeners"))]
    else:
        shown = "advertised.listeners" if settings.get("advertised.listeners") else "listeners"
        clients = _of_clients(settings, ends, controllers, reached)
        for end in ends:
            place = (*server.place, "listeners", end.name)
            said = f"{source(shown)}, {protocol_of(end.name, settings)}"
            if end.address:
                facts.append(Learned((*place, "address"), end.address, said))
            facts.append(Learned((*place, "port"), end.port, said))
            if end.name not in clients:
                facts.append(Learned((*place, "clients"), value=False, source=_why_not(end, settings, controllers)))
        if server.combined and controllers:
            facts.append(
                Learned((*server.place, "controller_listener"), controllers[0], source("controller.listener.names"))
            )
    voters = voters_in(settings.get("controller.quorum.voters", ""), source("controller.quorum.voters"))
    keepers = keepers_in(settings.get("zookeeper.connect", ""), source("zookeeper.connect"))
    addresses = tuple(dict.fromkeys(end.address for end in ends if end.address))
    return Findings(
        facts=tuple(facts), remarks=tuple(_remarks(settings)), voters=tuple(voters), keepers=tuple(keepers),
        addresses={server.place: addresses} if addresses else {},
    )  # fmt: skip


def protocols(settings: Mapping[str, str], server: ServerIdentity) -> dict[str, str]:
    """Return the security protocol of each listener for clients that a configuration names."""
    ends = _listeners(settings, server)
    clients = _of_clients(settings, ends, names_in(settings.get("controller.listener.names", "")), None)
    return {name: protocol_of(name, settings) for name in clients}


def zookeeper_findings(settings: Mapping[str, str], myid: int | None, source: Sourced, address: str = "") -> Findings:
    """Return what ``zoo.cfg`` says about its node, and about the others; ``address``: its host's, if known."""
    members = dict(_members(settings, source))
    number = myid if myid is not None else (1 if not members else None)
    if number is None:
        number = next((seat.number for seat, _ in members.values() if address and seat.address == address), None)
    facts: list[Learned] = []
    addresses: dict[Place, tuple[str, ...]] = {}
    port = settings.get("clientPort", settings.get("secureClientPort", ""))
    for member, (seat, peers) in members.items():
        place = ("zookeepers", str(member))
        addresses[place] = (seat.address,)
        facts.append(Learned((*place, "peer_ports"), peers, seat.source))
        if seat.port:
            facts.append(Learned((*place, "client_port"), seat.port, seat.source))
        elif port.isdigit() and member != number:
            facts.append(
                Learned((*place, "client_port"), int(port), f"{source('clientPort')}, of another node", inferred=True)
            )
    if number is not None:
        place = ("zookeepers", str(number))
        if port.isdigit():
            facts.append(Learned((*place, "client_port"), int(port), source("clientPort")))
        data = tuple(dict.fromkeys(settings[name] for name in ("dataDir", "dataLogDir") if settings.get(name)))
        if data:
            facts.append(Learned((*place, "data"), data, source("dataDir")))
        if address and place not in addresses:
            addresses[place] = (address,)
    return Findings(facts=tuple(facts), addresses=addresses)


def is_zookeeper(settings: Mapping[str, str]) -> bool:
    """Return True if a configuration is ZooKeeper's."""
    return "dataDir" in settings or any(_ENSEMBLE.fullmatch(name) for name in settings)


def _members(
    settings: Mapping[str, str], source: Sourced
) -> Iterator[tuple[int, tuple[QuorumMember, tuple[int, int]]]]:
    for name, text in settings.items():
        named, member = _ENSEMBLE.fullmatch(name), _MEMBER.fullmatch(text.strip())
        if named is not None and member is not None:
            number = int(named[1])
            seat = QuorumMember(number, member[1] or member[2], int(member[5] or 0), source(name))
            yield number, (seat, (int(member[3]), int(member[4])))


def _listeners(settings: Mapping[str, str], server: ServerIdentity) -> tuple[ListenerAddress, ...]:
    """Return the listeners as they are advertised, with those of the controller that a combined node has besides."""
    bound = listeners_in(settings.get("listeners", ""))
    shown = listeners_in(settings.get("advertised.listeners", "")) or bound
    if server.role == "controllers":
        return bound or shown
    controllers = names_in(settings.get("controller.listener.names", ""))
    brokers = tuple(end for end in shown if server.combined or end.name not in controllers)
    names = {end.name for end in brokers}
    return (*brokers, *(end for end in bound if server.combined and end.name in controllers and end.name not in names))


def _of_clients(
    settings: Mapping[str, str], ends: tuple[ListenerAddress, ...], controllers: tuple[str, ...],
    reached: tuple[str, int] | None,
) -> tuple[str, ...]:  # fmt: skip
    """Return the listeners for clients: the one at which they reach the broker, else those of no other purpose.

    All have the protocol of the first, because an inventory has one set of client settings.
    """
    if reached is not None and (exact := tuple(end.name for end in ends if (end.address, end.port) == reached)):
        return exact
    brokers = [end for end in ends if end.name not in controllers]
    between = settings.get("inter.broker.listener.name", "")
    clients = [end for end in brokers if end.name != between] or brokers
    if not clients:
        return ()
    first = protocol_of(clients[0].name, settings)
    return tuple(end.name for end in clients if protocol_of(end.name, settings) == first)


def _why_not(end: ListenerAddress, settings: Mapping[str, str], controllers: tuple[str, ...]) -> str:
    if end.name in controllers:
        return "controller.listener.names"
    if end.name == settings.get("inter.broker.listener.name", ""):
        return "inter.broker.listener.name"
    return "not the listener that clients were found to use"


def _data(settings: Mapping[str, str], server: ServerIdentity, source: Sourced) -> Iterator[Learned]:
    name = "log.dirs" if settings.get("log.dirs") else "log.dir"
    folders = [*names_in(settings.get(name, ""))]
    if settings.get("metadata.log.dir") and (server.combined or server.role == "controllers"):
        folders.append(settings["metadata.log.dir"])
    if folders:
        yield Learned((*server.place, "data"), tuple(dict.fromkeys(folders)), source(name))


def _remarks(settings: Mapping[str, str]) -> Iterator[Remark]:
    if authorizer := settings.get("authorizer.class.name"):
        name = authorizer.rpartition(".")[2]
        yield Remark(("client",), f"The brokers have an authorizer, {name}: docs/own-cluster.md lists the rights")

"""One thing at an end of a cut: where its rules can stand, who it is to the others, what it serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chaosk.core.errors import StepError
from chaosk.spec.contracts.target import Node, NodeKind, servers
from chaosk.spec.inventory import Inventory

SELF = "@_self"
"""Stands for the address that chaosk's machine has in the eyes of a host; the host puts it in (see ``cut.sh``)."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where something is connected to: a TCP port, on one address of its host or on all of them."""

    port: int
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Party:
    """A host, a process on it, a listener, the probes' machine, or anybody."""

    kind: NodeKind
    """``everyone_else`` stands for anybody."""
    host: str | None
    """The host on which rules for it can stand; None for the probes and for anybody."""
    addresses: tuple[str, ...]
    """What the others know it by; empty for anybody."""
    doors: tuple[Door, ...]
    """What it is connected to at; for a whole host, what the inventory says runs there."""
    whole: bool = False
    """Whether all it sends and receives is meant, not only what has to do with its doors."""

    def calls(self, other: Party) -> bool:
        """Whether it opens connections to ``other``: a listener opens none, a keeper of metadata none to brokers."""
        idle = self.kind in {"zookeeper", "controller"} and other.kind in {"broker", "listener"}
        return self.kind != "listener" and not idle


ANYBODY = Party("everyone_else", host=None, addresses=(), doors=())
"""Whoever connects from wherever."""


def parties(inventory: Inventory, nodes: Iterable[Node]) -> tuple[Party, ...]:
    """The parties of a group, each once; ``everyone else`` is not one of them, its meaning depends on the others."""
    return tuple(dict.fromkeys(party(inventory, node) for node in nodes))


def party(inventory: Inventory, node: Node) -> Party:
    """One node as a party."""
    if node.host is None:
        return Party("probe", host=None, addresses=(SELF,), doors=())
    addresses = host_addresses(inventory, node.host)
    if node.kind == "host":
        return Party("host", node.host, addresses, tuple(_host_doors(inventory, node.host)), whole=True)
    if node.kind == "listener":
        listener, _, broker = node.id.rpartition("/")
        at = inventory.brokers[int(broker)].listeners[listener]
        return Party("listener", node.host, addresses, (Door(at.port, at.address),))
    return Party(node.kind, node.host, addresses, tuple(_doors(inventory, node)))


def others(inventory: Inventory, group: Iterable[Node]) -> tuple[Party, ...]:
    """Every server of the inventory that is in none of the group's nodes."""
    taken = set(group)
    hosts = {node.id for node in taken if node.kind == "host"}
    brokers = {node.id.rpartition("/")[2] for node in taken if node.kind in {"broker", "listener"}}
    return tuple(
        party(inventory, node)
        for node in servers(inventory)
        if node not in taken and node.host not in hosts and not (node.kind == "broker" and node.id in brokers)
    )


def host_addresses(inventory: Inventory, host: str) -> tuple[str, ...]:
    """What the inventory knows a host by: its own address and those of its listeners."""
    listeners = (at for broker in inventory.brokers.values() if broker.host == host for at in broker.listeners.values())
    return tuple(dict.fromkeys((inventory.hosts[host].address, *(listener.address for listener in listeners))))


def refuse_overlap(a: Iterable[Node], b: Iterable[Node]) -> None:
    """Raise StepError if anything is on both sides of a cut: what would be cut from itself."""
    for one in a:
        for two in b:
            if one == two or _inside(one, two) or _inside(two, one) or one.kind == two.kind == "probe":
                also = "" if one == two else f", which is part of {two}" if _inside(one, two) else f" and {two}"
                raise StepError(f"both sides of the cut have {one}{also}; name groups that have nothing in common")


def _inside(one: Node, two: Node) -> bool:
    """Whether ``one`` is a part of ``two``: a process of a host, a listener of a broker."""
    if two.kind == "host":
        return one.host == two.id
    return one.kind == "listener" and two.kind == "broker" and one.id.rpartition("/")[2] == two.id


def _doors(inventory: Inventory, node: Node) -> Iterator[Door]:
    if node.kind == "broker":
        ports = {listener.port for listener in inventory.brokers[int(node.id)].listeners.values()}
        yield from (Door(port) for port in sorted(ports))
    elif node.kind == "controller":
        yield Door(inventory.controllers[int(node.id)].port)
    else:
        zookeeper = inventory.zookeepers[int(node.id)]
        yield from (Door(port) for port in dict.fromkeys((zookeeper.client_port, *zookeeper.peer_ports)))


def _host_doors(inventory: Inventory, host: str) -> Iterator[Door]:
    for node in servers(inventory):
        if node.host == host:
            yield from _doors(inventory, node)

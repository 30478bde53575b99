"""One member of a side of a cut: its host, its addresses, and the ports it serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chaosk.core.errors import StepError
from chaosk.spec.contracts.target import Node, NodeKind, servers
from chaosk.spec.inventory import Inventory

SSH = 22
"""Default port of SSH."""
SELF = "@_self"
"""Placeholder for the address of chaosk's machine as a host sees it; the host substitutes it (see ``cut.sh``)."""


@dataclass(frozen=True, slots=True)
class Door:
    """A TCP port that a party listens on, at one address of its host or at all of them."""

    port: int
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Party:
    """A host, a process on it, a listener, the probes' machine, or any peer."""

    kind: NodeKind
    """``everyone_else`` stands for any peer."""
    host: str | None
    """The host on which its rules can be installed; None for the probes and for any peer."""
    addresses: tuple[str, ...]
    """Its addresses as seen by others; empty for any peer."""
    doors: tuple[Door, ...]
    """The ports it listens on; for a whole host, those of its servers in the inventory."""
    whole: bool = False
    """Whether all of its traffic is included, not only connections to and from its doors."""

    def calls(self, other: Party) -> bool:
        """Return whether it opens connections to ``other``: listeners do not, nor do metadata nodes to brokers."""
        idle = self.kind in {"zookeeper", "controller"} and other.kind in {"broker", "listener"}
        return self.kind != "listener" and not idle


ANYBODY = Party("everyone_else", host=None, addresses=(), doors=())
"""Any peer."""


def parties(inventory: Inventory, nodes: Iterable[Node]) -> tuple[Party, ...]:
    """Convert nodes to parties, without duplicates. ``everyone else`` is not allowed: it depends on the other side."""
    return tuple(dict.fromkeys(party(inventory, node) for node in nodes))


def party(inventory: Inventory, node: Node) -> Party:
    """Convert one node to a party."""
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
    """Return all servers of the inventory that are in none of the group's nodes."""
    taken = set(group)
    hosts = {node.id for node in taken if node.kind == "host"}
    brokers = {node.id.rpartition("/")[2] for node in taken if node.kind in {"broker", "listener"}}
    return tuple(
        party(inventory, node)
        for node in servers(inventory)
        if node not in taken and node.host not in hosts and not (node.kind == "broker" and node.id in brokers)
    )


def host_addresses(inventory: Inventory, host: str) -> tuple[str, ...]:
    """Return the addresses of a host in the inventory: its own and those of its listeners."""
    listeners = (at for broker in inventory.brokers.values() if broker.host == host for at in broker.listeners.values())
    return tuple(dict.fromkeys((inventory.hosts[host].address, *(listener.address for listener in listeners))))


def refuse_overlap(a: Iterable[Node], b: Iterable[Node]) -> None:
    """Raise StepError if a node, or part of one, is on both sides of a cut."""
    for one in a:
        for two in b:
            if one == two or _inside(one, two) or _inside(two, one) or one.kind == two.kind == "probe":
                also = "" if one == two else f", which is part of {two}" if _inside(one, two) else f" and {two}"
                raise StepError(f"both sides of the cut have {one}{also}; name groups that have nothing in common")


def refuse_ssh(inventory: Inventory, parties: Iterable[Party]) -> None:
    """Raise StepError if a process or listener to be cut uses the SSH port of its host.

    chaosk heals over SSH. ``cut.sh`` also passes it before all other rules.
    """
    for party in parties:
        port = inventory.hosts[party.host].port if party.host is not None else None
        if any(door.port == port for door in party.doors):
            raise StepError(
                f"a {party.kind} on {party.host} listens at port {port}, which is SSH there: chaosk heals by it and "
                "never cuts it; correct the port in the inventory"
            )


def _inside(one: Node, two: Node) -> bool:
    """Return whether ``one`` is part of ``two``: a process on a host, a listener of a broker."""
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

"""Shared base of steps on the network between two groups: the groups, and the harm of separating them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from chaosk.core.errors import StepError
from chaosk.hosts.firewall.party import ANYBODY, Party, others, parties, refuse_overlap, refuse_ssh
from chaosk.hosts.firewall.rules import with_ports
from chaosk.spec.contracts.step import Site, Step
from chaosk.spec.contracts.target import Node
from chaosk.spec.fields import Port
from chaosk.spec.harm import Harm, servers_of

_TEXT = {"type": "string", "minLength": 1}
Group = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    Field(min_length=1, strict=False),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}),
]
"""One target, or a list of them."""


class Groups(Step, ABC):
    """A step on the packets between two groups."""

    lasting: ClassVar[bool] = True

    between: Annotated[tuple[Group, Group], Field(strict=False)]
    """The two groups; each a target or a list of targets."""
    ports: Annotated[tuple[Port, ...], Field(strict=False, min_length=1)] | None = None
    """Only connections to these TCP ports, of either group."""

    def targets(self) -> tuple[str, ...]:
        """Return all targets of both groups."""
        return tuple(dict.fromkeys(target for group in self.between for target in group))

    def groups(self, site: Site) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """Return the nodes of both groups."""
        a, b = self.between
        return site.nodes(*a), site.nodes(*b)

    def aimed(self, site: Site) -> str:
        """Describe the two groups."""
        a, b = (together([str(node) for node in group]) for group in self.groups(site))
        return f"between {a} on one side and {b} on the other"

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the network between each pair of nodes, whatever the direction and the ports."""
        a, b = self.groups(site)
        for one in a:
            for two in b:
                yield f"the network between {' and '.join(sorted((str(one), str(two))))}"

    def harm(self, site: Site) -> Iterator[Harm]:
        """Yield the servers cut off from everyone else as away, or otherwise the pairs of servers cut from each other.

        ``ports`` and a direction do not reduce the harm: a connection needs both directions.
        """
        if self.harmless:
            return
        a, b = self.groups(site)
        if is_everyone(a) or is_everyone(b):
            yield Harm(away=servers_of(site.inventory, (*a, *b)))
            return
        one, two = (servers_of(site.inventory, [node for node in group if _is_inner(site, node)]) for group in (a, b))
        yield Harm(severed=tuple((x, y) for x in one for y in two if x != y))

    def sides(
        self, site: Site, a: tuple[Node, ...], b: tuple[Node, ...]
    ) -> tuple[tuple[Party, ...], tuple[Party, ...]]:
        """Return both groups as parties, ``everyone else`` second; raises StepError if they cannot be combined."""
        _check(site, a, b, self.ports or ())
        sides = (parties(site.inventory, a), _other_side(site, a, b))
        refuse_ssh(site.inventory, (*sides[0], *sides[1]))
        if self.ports is not None:
            return with_ports(sides[0], self.ports), with_ports(sides[1], self.ports)
        return sides


def together(names: Sequence[str]) -> str:
    """Join names to one group: ``host node2, host node3 and host node4``."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def is_everyone(group: tuple[Node, ...]) -> bool:
    """Return whether the group is ``everyone else``."""
    return any(node.kind == "everyone_else" for node in group)


def _is_inner(site: Site, node: Node) -> bool:
    """Return whether servers talk to each other there: on a listener that is not for clients, if the broker has one."""
    if node.kind != "listener":
        return True
    name, _, broker = node.id.rpartition("/")
    listeners = site.inventory.brokers[int(broker)].listeners
    return not listeners[name].clients or all(one.clients for one in listeners.values())


def _check(site: Site, a: tuple[Node, ...], b: tuple[Node, ...], ports: tuple[int, ...]) -> None:
    if not a or not b:
        raise StepError(f"{site.entry}: one of the groups has no nodes at the moment; name groups that have some")
    if is_everyone(a) or (is_everyone(b) and len(b) > 1):
        raise StepError(f"{site.entry}: `everyone else` is a group of its own, and can be only one of the two")
    try:
        refuse_overlap(a, b)
    except StepError as error:
        raise StepError(f"{site.entry}: {error}") from None
    for name in dict.fromkeys(node.host for node in (*a, *b) if node.host):
        if site.inventory.hosts[name].port in ports:
            raise StepError(
                f"{site.entry}: port {site.inventory.hosts[name].port} is SSH on {name}, by which chaosk heals it, and "
                "is never cut; leave it out of `ports`"
            )


def _other_side(site: Site, a: tuple[Node, ...], b: tuple[Node, ...]) -> tuple[Party, ...]:
    """Return the second group. ``everyone else`` is any peer, plus by name the peers that the first group calls."""
    if not is_everyone(b):
        return parties(site.inventory, b)
    known = others(site.inventory, a) if any(node.kind != "host" for node in a) else ()
    free = site.inventory.hosts.keys() - {node.host for node in a} if any(node.kind == "probe" for node in a) else ()
    hosts = parties(site.inventory, (Node(kind="host", id=host, host=host) for host in sorted(free)))
    return (ANYBODY, *known, *hosts)

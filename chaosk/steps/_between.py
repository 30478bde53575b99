"""What steps on the network between two groups have in common: the groups, the rules, and whom that harms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from chaosk.errors import StepError
from chaosk.fields import Firewall, Port
from chaosk.firewall import commands
from chaosk.firewall.party import ANYBODY, Party, others, parties, refuse_overlap
from chaosk.firewall.rules import TURNED, Action, Direction, Loss, Rule, rules, with_ports
from chaosk.firewall.ssh import refuse_ssh
from chaosk.harm import Harm, servers_of
from chaosk.steps._contract import Deed, Fact, Run, Site, Step
from chaosk.targets._contract import Node

_TEXT = {"type": "string", "minLength": 1}
Group = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    Field(min_length=1, strict=False),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}),
]
"""One target, or a list of them."""


class Between(Step, ABC):
    """A step on the packets between two groups, by rules in the packet filters of hosts."""

    lasting: ClassVar[bool] = True
    what: ClassVar[str]
    """What stands on a host, in words."""

    between: Annotated[tuple[Group, Group], Field(strict=False)]
    """The two groups; each a target or a list of targets."""
    direction: Direction = "both"
    """``in`` stops only packets to the first group, ``out`` only packets from it."""
    ports: Annotated[tuple[Port, ...], Field(strict=False, min_length=1)] | None = None
    """Only connections to these TCP ports, of either group."""

    @abstractmethod
    def how(self) -> Action | Loss:
        """What becomes of the packets."""

    def targets(self) -> tuple[str, ...]:
        """All targets of both groups."""
        return tuple(dict.fromkeys(target for group in self.between for target in group))

    def harm(self, site: Site) -> Iterator[Harm]:
        """Whoever is cut off from everyone else is away; else the servers of the groups do not reach each other.

        Whatever ``ports`` and ``direction`` leave open does not count: a connection needs both ways.
        """
        a, b = (site.nodes(*group) for group in self.between)
        if _is_everyone(a) or _is_everyone(b):
            yield Harm(away=servers_of(site.inventory, (*a, *b)))
            return
        one, two = (servers_of(site.inventory, [node for node in group if _is_inner(site, node)]) for group in (a, b))
        yield Harm(severed=tuple((x, y) for x in one for y in two if x != y))

    def holds(self, site: Site) -> Iterator[str]:
        """The network between each pair, whatever the direction and the ports."""
        a, b = (site.nodes(*group) for group in self.between)
        for one in a:
            for two in b:
                yield f"the network between {' and '.join(sorted((str(one), str(two))))}"

    def before(self, site: Site) -> Iterator[Fact]:
        """No such rules are there, and the packet filter answers."""
        yield from self._gone(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Rules on each host, one after the other."""
        which = commands.cut(site.run_id, site.entry)
        for host, cut in self._rules(site).items():
            yield Run(command=commands.install(host, which, cut, self.how(), _by(site, host)))

    def verify(self, site: Site) -> Iterator[Fact]:
        """All rules stand, first in place."""
        which = commands.cut(site.run_id, site.entry)
        for host, cut in self._rules(site).items():
            query = commands.standing(host, which, cut, self.how(), _by(site, host))
            yield Fact(says=f"{self.what} stands on {host}", query=query)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Remove its own chains and jumps."""
        which = commands.cut(site.run_id, site.entry)
        for host in self._rules(site):
            yield Run(command=commands.remove(host, which, _by(site, host)))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Nothing of it is left."""
        yield from self._gone(site)

    def _gone(self, site: Site) -> Iterator[Fact]:
        which = commands.cut(site.run_id, site.entry)
        for host in self._rules(site):
            yield Fact(says=f"no rule of it is on {host}", query=commands.gone(host, which, _by(site, host)))

    def _rules(self, site: Site) -> dict[str, tuple[Rule, ...]]:
        """By host the rules; raises StepError where the groups make no sense together."""
        a, b = (site.nodes(*group) for group in self.between)
        direction = self.direction
        if _is_everyone(a):
            a, b, direction = b, a, TURNED[direction]
        _check(site, a, b, self.ports or ())
        sides = (parties(site.inventory, a), _other_side(site, a, b))
        refuse_ssh(site.inventory, (*sides[0], *sides[1]))
        if self.ports is not None:
            sides = (with_ports(sides[0], self.ports), with_ports(sides[1], self.ports))
        return rules(*sides, direction)


def _by(site: Site, host: str) -> Firewall:
    return site.inventory.hosts[host].firewall


def _is_everyone(group: tuple[Node, ...]) -> bool:
    return any(node.kind == "everyone_else" for node in group)


def _is_inner(site: Site, node: Node) -> bool:
    """Whether servers talk to each other there: of a broker's listeners those that are not for clients, if any is."""
    if node.kind != "listener":
        return True
    name, _, broker = node.id.rpartition("/")
    listeners = site.inventory.brokers[int(broker)].listeners
    return not listeners[name].clients or all(one.clients for one in listeners.values())


def _check(site: Site, a: tuple[Node, ...], b: tuple[Node, ...], ports: tuple[int, ...]) -> None:
    if not a or not b:
        raise StepError(f"{site.entry}: one side is nobody at the moment; name groups that are not empty")
    if _is_everyone(a) or (_is_everyone(b) and len(b) > 1):
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
    """The second group. ``everyone else`` is anybody, and by name whom the first group's members themselves call."""
    if not _is_everyone(b):
        return parties(site.inventory, b)
    known = others(site.inventory, a) if any(node.kind != "host" for node in a) else ()
    free = site.inventory.hosts.keys() - {node.host for node in a} if any(node.kind == "probe" for node in a) else ()
    hosts = parties(site.inventory, (Node(kind="host", id=host, host=host) for host in sorted(free)))
    return (ANYBODY, *known, *hosts)

"""Shared base of steps that stop packets between two groups, by rules in the packet filters of hosts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import looks
from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.crossings import crossings
from chaosk.hosts.firewall.party import others
from chaosk.hosts.firewall.rules import TURNED, Action, Direction, Loss, Rule, parts, rules, with_ports
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.contracts.target import Node
from chaosk.spec.fields import Firewall
from chaosk.steps._groups import Groups, is_everyone, together


class Between(Groups, ABC):
    """A step that stops packets between two groups, by rules in the packet filters of hosts."""

    what: ClassVar[str]
    """The name of the rules in messages."""

    direction: Direction = "both"
    """``in`` stops only packets to the first group, ``out`` only packets from it."""

    @abstractmethod
    def how(self) -> Action | Loss:
        """Return the action on the packets."""

    def aimed(self, site: Site) -> str:
        """Describe the two groups and the direction of the stopped packets."""
        a, b = (together([str(node) for node in group]) for group in self.groups(site))
        if self.direction == "both":
            return super().aimed(site)
        return f"from {b} to {a}" if self.direction == "in" else f"from {a} to {b}"

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that no rules of this entry exist, and that the packet filter answers."""
        yield from self._gone(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Install the rules, host after host."""
        which = commands.cut(site.run_id, site.entry)
        for host, cut in self._rules(site).items():
            yield Run(command=commands.install(host, which, cut, self.how(), _by(site, host)))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that all rules are installed and come first, and that no connection is accepted across the cut.

        One connection is tried for each host of the first group, to or from a server of the other group.
        """
        which = commands.cut(site.run_id, site.entry)
        for host, cut in self._rules(site).items():
            query = commands.standing(host, which, cut, self.how(), _by(site, host))
            yield Fact(says=f"{self.what} is in place on {host}", query=query, remedy=commands.REMEDY)
        if not isinstance(self.how(), Loss):
            yield from self._refused(site)

    def _refused(self, site: Site) -> Iterator[Fact]:
        """Yield the connections that the cut has to stop; none if no server of one side is on another host."""
        a, b = self._sides(site)
        one, two = self.sides(site, a, b)
        if is_everyone(b):
            two = others(site.inventory, a) if self.ports is None else with_ports(others(site.inventory, a), self.ports)
        for each in crossings(one, two):
            query = looks.refused(each.host, each.address, each.port)
            says = f"port {each.port} of {each.to} accepts no connection from {each.host}"
            yield Fact(says=says, query=query, steady=False, remedy=commands.REMEDY)

    def watch(self, site: Site) -> Iterator[Fact]:
        """Check that the rules are unchanged, and that the cut-off listeners do not answer this machine.

        A listener counts only from the first time that it does not answer: if chaosk runs on a host of the same side,
        it always does. From other hosts connections are tried at both ends of the fault only; between them the packets
        that the rules have stopped are counted.
        """
        which = commands.cut(site.run_id, site.entry)
        for host in self._rules(site):
            query = commands.lasts(host, which, _by(site, host))
            yield Fact(says=f"{self.what} is in place on {host}", query=query, remedy=commands.REMEDY)
        if not isinstance(self.how(), Loss):
            yield from self._unanswered(site)

    def _unanswered(self, site: Site) -> Iterator[Fact]:
        """Yield the client listeners that the rules cut off from chaosk's machine."""
        cuts = self._rules(site)
        for number, broker in site.inventory.brokers.items():
            for name, at in broker.listeners.items():
                if at.clients and any(parts(rule, at.port) for rule in cuts.get(broker.host, ())):
                    says = f"{name} of broker {number} does not answer from here"
                    yield Fact(says=says, query=f"not(listener_up({number}, {name}))", remedy=commands.REMEDY)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Remove the chains and jumps of this entry."""
        which = commands.cut(site.run_id, site.entry)
        for host in self._rules(site):
            yield Run(command=commands.remove(host, which, _by(site, host)))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that nothing of the rules is left."""
        yield from self._gone(site)

    def _gone(self, site: Site) -> Iterator[Fact]:
        which = commands.cut(site.run_id, site.entry)
        for host in self._rules(site):
            yield Fact(says=f"no rule of it is on {host}", query=commands.gone(host, which, _by(site, host)))

    def _rules(self, site: Site) -> dict[str, tuple[Rule, ...]]:
        """Return the rules by host; raises StepError if the groups cannot be combined."""
        turned = is_everyone(self.groups(site)[0])
        a, b = self._sides(site)
        return rules(*self.sides(site, a, b), TURNED[self.direction] if turned else self.direction)

    def _sides(self, site: Site) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """Return the groups, ``everyone else`` second."""
        a, b = self.groups(site)
        return (b, a) if is_everyone(a) else (a, b)


def _by(site: Site, host: str) -> Firewall:
    return site.inventory.hosts[host].firewall

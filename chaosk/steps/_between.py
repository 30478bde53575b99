"""What steps that stop packets between two groups have in common: rules in the packet filters of hosts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.rules import TURNED, Action, Direction, Loss, Rule, parts, rules
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.fields import Firewall
from chaosk.steps._groups import Groups, is_everyone, together


class Between(Groups, ABC):
    """A step on the packets between two groups, by rules in the packet filters of hosts."""

    what: ClassVar[str]
    """What stands on a host, in words."""

    direction: Direction = "both"
    """``in`` stops only packets to the first group, ``out`` only packets from it."""

    @abstractmethod
    def how(self) -> Action | Loss:
        """What becomes of the packets."""

    def aimed(self, site: Site) -> str:
        """Which group is on which side, and which way the packets go that are stopped."""
        a, b = (together([str(node) for node in group]) for group in self.groups(site))
        if self.direction == "both":
            return super().aimed(site)
        return f"from {b} to {a}" if self.direction == "in" else f"from {a} to {b}"

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
            yield Fact(says=f"{self.what} stands on {host}", query=query, remedy=commands.REMEDY)

    def watch(self, site: Site) -> Iterator[Fact]:
        """They are there, no others have taken their place, and what clients call from here does not answer.

        That it does not answer counts from when it is first so: chaosk may run on a host that is on the same side.
        From other hosts nobody is sent to try: what their rules have stopped is counted, and they are asked for.
        """
        which = commands.cut(site.run_id, site.entry)
        for host in self._rules(site):
            query = commands.lasts(host, which, _by(site, host))
            yield Fact(says=f"{self.what} stands on {host}", query=query, remedy=commands.REMEDY)
        if not isinstance(self.how(), Loss):
            yield from self._unanswered(site)

    def _unanswered(self, site: Site) -> Iterator[Fact]:
        """The listeners for clients that rules part from chaosk's machine."""
        cuts = self._rules(site)
        for number, broker in site.inventory.brokers.items():
            for name, at in broker.listeners.items():
                if at.clients and any(parts(rule, at.port) for rule in cuts.get(broker.host, ())):
                    says = f"{name} of broker {number} does not answer from here"
                    yield Fact(says=says, query=f"not(listener_up({number}, {name}))", remedy=commands.REMEDY)

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
        a, b = self.groups(site)
        direction = self.direction
        if is_everyone(a):
            a, b, direction = b, a, TURNED[direction]
        return rules(*self.sides(site, a, b), direction)


def _by(site: Site, host: str) -> Firewall:
    return site.inventory.hosts[host].firewall

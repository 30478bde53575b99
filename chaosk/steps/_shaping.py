"""What steps on packets that leave have in common: queues of hosts, and in which direction they can act."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import shape
from chaosk.hosts.firewall.rules import Direction, Rule, rules
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.contracts.target import Node
from chaosk.steps._groups import Groups


class Shaping(Groups, ABC):
    """A step on the packets between two groups, by queueing disciplines of the hosts that they leave."""

    what: ClassVar[str]
    """What stands on a host, in words."""

    direction: Direction = "out"
    """``out``: packets from the first group to the second; ``in``: the other way; ``both``. What leaves probes, or
    ``everyone else``, leaves no host of the inventory, and can have none of this done to it."""

    @abstractmethod
    def how(self) -> str:
        """What becomes of the packets, in the words of ``tc``."""

    def holds(self, site: Site) -> Iterator[str]:
        """The queues of each host: there is one arrangement of them, and undoing it undoes all of it."""
        for host in self._rules(site):
            yield f"the queues of {host}"

    def before(self, site: Site) -> Iterator[Fact]:
        """The kernel can, and the queues are the kernel's own."""
        for host, every in self._rules(site).items():
            query = shape.fits(host, _id(site), self.how(), every)
            yield Fact(says=f"{host} can have {self.what} in its queues", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Queues on each host, one after the other."""
        for host, every in self._rules(site).items():
            yield Run(command=shape.put(host, _id(site), self.how(), every))

    def verify(self, site: Site) -> Iterator[Fact]:
        """All of it is there, down to the last filter."""
        for host, every in self._rules(site).items():
            query = shape.stands(host, _id(site), self.how(), every)
            yield Fact(says=f"{self.what} stands on {host}", query=query)

    def watch(self, site: Site) -> Iterator[Fact]:
        """Its queues are there, and no others have taken their place."""
        for host in self._rules(site):
            yield Fact(says=f"{self.what} stands on {host}", query=shape.lasts(host, _id(site)))

    def undo(self, site: Site) -> Iterator[Deed]:
        """Take its queues away, and no others."""
        for host in self._rules(site):
            yield Run(command=shape.lift(host, _id(site)))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Nothing of it is left, and the queues are those that were there."""
        for host in self._rules(site):
            query = shape.is_gone(host, _id(site))
            yield Fact(says=f"no queue of it is on {host}, which has those of before", query=query)

    def _rules(self, site: Site) -> dict[str, tuple[Rule, ...]]:
        """By host which packets are meant; raises StepError where none of them leaves a host by a network."""
        a, b = self.groups(site)
        ways = {"out": ((a, b),), "in": ((b, a),), "both": ((a, b), (b, a))}[self.direction]
        found: dict[str, dict[Rule, None]] = {}
        for one, two in ways:
            for host, every in self._leaving(site, one, two).items():
                found.setdefault(host, {}).update(dict.fromkeys(every))
        meant = {host: tuple(every) for host, every in found.items() if any(rule.stop for rule in every)}
        if not meant:
            raise StepError(f"{site.entry}: both groups are on one host, and nothing between them leaves it")
        return meant

    def _leaving(self, site: Site, one: tuple[Node, ...], two: tuple[Node, ...]) -> dict[str, tuple[Rule, ...]]:
        """By host the rules for packets from the one group to the other; what stays on its host is not meant."""
        nowhere = [str(node) for node in one if node.host is None]
        if nowhere:
            raise StepError(
                f"{site.entry}: what leaves {nowhere[0]} leaves no host of the inventory, so {self.what} cannot be put "
                f"there; write `direction: {'in' if one == self.groups(site)[0] else 'out'}`, or name hosts"
            )
        every = rules(*self.sides(site, one, two), "out")
        return {host: tuple(rule for rule in those if not rule.loopback) for host, those in every.items()}


def _id(site: Site) -> str:
    return shape.shape_id(site.run_id, site.entry)

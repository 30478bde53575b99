"""Shared base of steps on outgoing packets, by queues of hosts, in the directions that queues can act on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.core.errors import StepError
from chaosk.hosts.commands import shape
from chaosk.hosts.firewall.rules import Direction, Rule, rules
from chaosk.spec.contracts.step import Fact, Site
from chaosk.spec.contracts.target import Node
from chaosk.steps._groups import Groups
from chaosk.steps._reversible_steps import Change, ReversibleStep


class Shaping(ReversibleStep, Groups, ABC):
    """A step on the packets between two groups, by queueing disciplines of the sending hosts."""

    what: ClassVar[str]
    """The name of the effect in messages."""

    direction: Direction = "out"
    """``out``: packets from the first group to the second; ``in``: packets from the second to the first; ``both``.
    Packets of probes or ``everyone else`` leave no host of the inventory, so they cannot be changed."""

    @abstractmethod
    def how(self) -> str:
        """Return the effect on the packets, in the syntax of ``tc``."""

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the queues of each host: a host has one configuration of them, and the undo removes all of it."""
        for host in self._rules(site):
            yield f"the queues of {host}"

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the queues of each host, with their filters; the kernel must support them, and have its own now."""
        for host, every in self._rules(site).items():
            yield Change(
                shape.shaped(host, site.mark(), self.how(), every),
                fits=f"{host} can have {self.what} in its queues",
                stands=f"{self.what} is in place on {host}",
                gone=f"no queue of it is on {host}, which has those of before",
            )

    def watch(self, site: Site) -> Iterator[Fact]:
        """Check that the queues are in place and unchanged."""
        for host in self._rules(site):
            yield Fact(says=f"{self.what} is in place on {host}", query=shape.lasts(host, site.mark()))

    def _rules(self, site: Site) -> dict[str, tuple[Rule, ...]]:
        """Return the packet rules by host; raises StepError if none of the packets leaves a host by a network."""
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
        """Return the rules by host for packets from one group to the other, without packets within a host."""
        nowhere = [str(node) for node in one if node.host is None]
        if nowhere:
            raise StepError(
                f"{site.entry}: what leaves {nowhere[0]} leaves no host of the inventory, so {self.what} cannot be put "
                f"there; write `direction: {'in' if one == self.groups(site)[0] else 'out'}`, or name hosts"
            )
        every = rules(*self.sides(site, one, two), "out")
        return {host: tuple(rule for rule in those if not rule.loopback) for host, those in every.items()}

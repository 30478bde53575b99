"""What the steps that change settings have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import brokertool
from chaosk.spec.contracts.step import Deed, Fact, Run, Site, Step
from chaosk.spec.entity import Settings
from chaosk.spec.harm import Harm

SEEN = 15.0
"""Seconds until whoever is asked tells of a change."""


class Settled(Step, ABC):
    """A step on settings, which serve until the undo puts back what was there before."""

    lasting: ClassVar[bool] = True

    @abstractmethod
    def changes(self, site: Site) -> Iterator[Settings]:
        """What is set, and of what."""

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: every server goes on."""
        yield from ()

    def holds(self, site: Site) -> Iterator[str]:
        """Each of the settings."""
        for one in self.changes(site):
            yield from (f"{name} of {one.of}" for name in one.values)

    def verify(self, site: Site) -> Iterator[Fact]:
        """They are told back."""
        yield from map(told, self.changes(site))

    def healed(self, site: Site) -> Iterator[Fact]:
        """What was there before is told back."""
        yield from (told(site.former_of(one)) for one in self.changes(site))


class HostSettled(Settled, ABC):
    """Changed by Kafka's own tool on hosts of brokers, so that a host can put it back when chaosk is gone."""

    @abstractmethod
    def places(self, site: Site) -> Iterator[tuple[str, Settings]]:
        """What is set, each with the host that does it and keeps the undo."""

    def changes(self, site: Site) -> Iterator[Settings]:
        """All of them."""
        yield from (settings for _, settings in self.places(site))

    def suits(self, site: Site) -> Iterator[Fact]:
        """The hosts have the tool."""
        for host in dict.fromkeys(host for host, _ in self.places(site)):
            yield Fact(says=f"Kafka's own tool is on {host}", query=brokertool.fits(site.inventory, host))

    def before(self, site: Site) -> Iterator[Fact]:
        """The hosts have the tool."""
        yield from self.suits(site)

    def inject(self, site: Site) -> Iterator[Deed]:
        """One command for each."""
        for host, settings in self.places(site):
            yield Run(command=brokertool.change(site.inventory, host, settings))

    def undo(self, site: Site) -> Iterator[Deed]:
        """The values of before, and nothing where nothing was set."""
        for host, settings in self.places(site):
            yield Run(command=brokertool.change(site.inventory, host, site.former_of(settings)))


def told(settings: Settings) -> Fact:
    """Whoever is asked says that it is so."""
    return Fact(says=f"there is {settings}", query=settings, within=SEEN, steady=False)

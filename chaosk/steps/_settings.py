"""Shared base of steps that change settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import brokertool
from chaosk.spec.contracts.step import Deed, Fact, Run, Site, Step
from chaosk.spec.entity import Settings

SEEN = 15.0
"""Time-out in seconds until a change is visible."""


class Settled(Step, ABC):
    """A step on settings, in force until the undo restores the former ones."""

    lasting: ClassVar[bool] = True
    harmless: ClassVar[bool] = True

    @abstractmethod
    def changes(self, site: Site) -> Iterator[Settings]:
        """Yield the new settings by entity."""

    def holds(self, site: Site) -> Iterator[str]:
        """Yield each of the settings."""
        for one in self.changes(site):
            yield from (f"{name} of {one.of}" for name in one.values)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the cluster reports the new settings."""
        yield from map(told, self.changes(site))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the cluster reports the former settings."""
        yield from (told(site.former_of(one)) for one in self.changes(site))


class HostSettled(Settled, ABC):
    """A change by Kafka's own tool on hosts of brokers, so that a host can undo it after chaosk has died."""

    @abstractmethod
    def places(self, site: Site) -> Iterator[tuple[str, Settings]]:
        """Yield the new settings, each with the host that changes them and keeps the undo."""

    def changes(self, site: Site) -> Iterator[Settings]:
        """Yield all of the new settings."""
        yield from (settings for _, settings in self.places(site))

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that the hosts have the tool."""
        for host in dict.fromkeys(host for host, _ in self.places(site)):
            yield Fact(says=f"Kafka's own tool is on {host}", query=brokertool.fits(site.inventory, host))

    def inject(self, site: Site) -> Iterator[Deed]:
        """Change the settings, one command for each entity."""
        for host, settings in self.places(site):
            yield Run(command=brokertool.change(site.inventory, host, settings))

    def undo(self, site: Site) -> Iterator[Deed]:
        """Restore the former values, and remove the settings that had none."""
        for host, settings in self.places(site):
            yield Run(command=brokertool.change(site.inventory, host, site.former_of(settings)))


def told(settings: Settings) -> Fact:
    """Expect the cluster to report these settings."""
    return Fact(says=f"there is {settings}", query=settings, within=SEEN, steady=False)

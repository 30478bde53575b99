"""Shared base of loads on hosts, under which servers go on more slowly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import load
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._per_host import PerHostStep

PPM = 1_000_000


class LoadStep(PerHostStep, ABC):
    """A load on each targeted host, or on the host of each target; servers go on more slowly."""

    kind: ClassVar[load.Kind]
    what: ClassVar[str]
    """The loaded resource, for messages."""
    within: ClassVar[float]
    """Time-out in seconds until the load has an effect."""

    @abstractmethod
    def much(self) -> str:
        """Return the amount in the syntax of the script."""

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the loaded resource: the effects of two loads of one kind could not be told apart."""
        for host in self.hosts(site):
            yield f"the {self.what} of {host}"

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the hosts can take the load."""
        for host in self.hosts(site):
            query = load.fits(host, self.kind, site.mark(), self.much())
            yield Fact(says=f"{host} can bear the load on its {self.what}", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Start the load."""
        for host in self.hosts(site):
            yield Run(command=load.put(host, self.kind, site.mark(), self.much()))

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify the load by the kernel's counters."""
        for host in self.hosts(site):
            query = load.stands(host, self.kind, site.mark(), self.much())
            yield Fact(
                says=f"the load on the {self.what} of {host} is there", query=query, within=self.within, steady=False
            )

    def undo(self, site: Site) -> Iterator[Deed]:
        """End the load."""
        for host in self.hosts(site):
            yield Run(command=load.lift(host, self.kind, site.mark()))

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that no process of the load is left."""
        for host in self.hosts(site):
            query = load.is_gone(host, self.kind, site.mark())
            yield Fact(says=f"no load of chaosk's is on the {self.what} of {host}", query=query)


def ppm(share: float) -> str:
    """Format a share of one for the script, in parts per million."""
    return f"{round(share * PPM)}ppm"

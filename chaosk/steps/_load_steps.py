"""What loads on hosts have in common: whose hosts, how much, and that servers go on, slower."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import load
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.steps._per_host import PerHostStep

PPM = 1_000_000


class LoadStep(PerHostStep, ABC):
    """A load on each of the hosts that a target names, or on which what it names runs; servers go on, slower."""

    kind: ClassVar[load.Kind]
    what: ClassVar[str]
    """What is loaded, in words."""
    within: ClassVar[float]
    """Seconds until it is felt."""

    @abstractmethod
    def much(self) -> str:
        """How much, as the script reads it."""

    def holds(self, site: Site) -> Iterator[str]:
        """What is loaded: of two loads of a kind nobody could say whose effect is seen."""
        for host in self.hosts(site):
            yield f"the {self.what} of {host}"

    def before(self, site: Site) -> Iterator[Fact]:
        """The hosts can bear it."""
        for host in self.hosts(site):
            query = load.fits(host, self.kind, _id(site), self.much())
            yield Fact(says=f"{host} can bear the load on its {self.what}", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Start it."""
        for host in self.hosts(site):
            yield Run(command=load.put(host, self.kind, _id(site), self.much()))

    def verify(self, site: Site) -> Iterator[Fact]:
        """The kernel counts it."""
        for host in self.hosts(site):
            query = load.stands(host, self.kind, _id(site), self.much())
            yield Fact(
                says=f"the load on the {self.what} of {host} is there", query=query, within=self.within, steady=False
            )

    def undo(self, site: Site) -> Iterator[Deed]:
        """End it."""
        for host in self.hosts(site):
            yield Run(command=load.lift(host, self.kind, _id(site)))

    def healed(self, site: Site) -> Iterator[Fact]:
        """No process of it is left."""
        for host in self.hosts(site):
            query = load.is_gone(host, self.kind, _id(site))
            yield Fact(says=f"no load of chaosk's is on the {self.what} of {host}", query=query)


def _id(site: Site) -> str:
    return load.load_id(site.run_id, site.entry)


def ppm(share: float) -> str:
    """A share of one as the script reads it."""
    return f"{round(share * PPM)}ppm"

"""Shared base of loads on hosts, under which servers go on more slowly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosk.hosts.commands import reversible
from chaosk.spec.contracts.step import Site
from chaosk.steps._per_host import PerHostStep
from chaosk.steps._reversible_steps import Change, ReversibleStep

PPM = 1_000_000


class LoadStep(ReversibleStep, PerHostStep, ABC):
    """A load on each targeted host, or on the host of each target; servers go on more slowly."""

    harmless: ClassVar[bool] = True
    kind: ClassVar[reversible.Kind]
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

    def made(self, site: Site) -> Iterator[Change]:
        """Yield the load of each host, verified by the kernel's counters."""
        for host in self.hosts(site):
            yield Change(
                reversible.load(host, self.kind, site.mark(), self.much()),
                fits=f"{host} can bear the load on its {self.what}",
                stands=f"the load on the {self.what} of {host} is there",
                gone=f"no load of chaosk's is on the {self.what} of {host}",
                within=self.within,
                steady=False,
            )


def ppm(share: float) -> str:
    """Format a share of one for the script, in parts per million."""
    return f"{round(share * PPM)}ppm"

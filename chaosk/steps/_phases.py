"""Shared base of steps that tell all their phases at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chaosk.spec.contracts.step import Deed, Fact, Site, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The phases of a fault, in order; each as the method of :class:`Step` with its name."""

    before: Iterable[Fact] = ()
    inject: Iterable[Deed]
    verify: Iterable[Fact] = ()
    undo: Iterable[Deed] = ()
    healed: Iterable[Fact] = ()


class PhasedStep(Step, ABC):
    """A step that tells all its phases at once."""

    @abstractmethod
    def phases(self, site: Site) -> Phases:
        """Return the phases of the fault."""

    def before(self, site: Site) -> Iterator[Fact]:
        """Yield the preconditions."""
        yield from self.phases(site).before

    def inject(self, site: Site) -> Iterator[Deed]:
        """Yield the actions."""
        yield from self.phases(site).inject

    def verify(self, site: Site) -> Iterator[Fact]:
        """Yield the effect."""
        yield from self.phases(site).verify

    def undo(self, site: Site) -> Iterator[Deed]:
        """Yield the actions that restore the cluster."""
        yield from self.phases(site).undo

    def healed(self, site: Site) -> Iterator[Fact]:
        """Yield the facts that must be seen after the undo."""
        yield from self.phases(site).healed

"""Shared base of steps whose effect on a host is made, checked and undone by the commands of one script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from chaosk.hosts.commands.reversible import Reversible
from chaosk.spec.contracts.step import Deed, Fact, Run, Site, Step


class Change(NamedTuple):
    """A change of a host, with its three facts in words."""

    commands: Reversible
    fits: str
    stands: str
    gone: str
    within: float = 0.0
    """Time-out in seconds until the change is seen."""
    steady: bool = True
    """False if its check is expensive, or unstable under load: see :attr:`Fact.steady`."""


class ReversibleStep(Step, ABC):
    """A step that makes changes of hosts."""

    lasting: ClassVar[bool] = True

    @abstractmethod
    def made(self, site: Site) -> Iterator[Change]:
        """Yield the changes, in order."""

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the hosts can take the changes."""
        for change in self.made(site):
            yield Fact(says=change.fits, query=change.commands.fits)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Make the changes, one after the other."""
        for change in self.made(site):
            yield Run(command=change.commands.put)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify that the changes are in place."""
        for change in self.made(site):
            yield Fact(says=change.stands, query=change.commands.stands, within=change.within, steady=change.steady)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Undo the changes."""
        for change in self.made(site):
            yield Run(command=change.commands.lift)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that nothing is left of them."""
        for change in self.made(site):
            yield Fact(says=change.gone, query=change.commands.gone)

"""Write down how the cluster is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.spec.contracts.step import Deed, Fact, Look, Site, Step


class Observe(Step):
    """Write down how the cluster is now, for the report: a column more beside before, during and after.

    Of each of the scenario's topics leaders, replicas and ISR, and which broker names another leader than the rest do;
    where logs begin, how far they can be read, and what is set on it; the coordinator of each of the probes' groups and
    of each ``transactional.id``; the controller, the brokers, and who else keeps the metadata. It changes nothing. What
    the cluster does not tell is left out: that is how it is, too.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
name: under-the-cut
at: 10s
observe: {}
"""

    def targets(self) -> tuple[str, ...]:
        """None."""
        return ()

    def inject(self, site: Site) -> Iterator[Deed]:
        """One look."""
        yield Look(entry=site.entry)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Nothing has to be seen: whatever is seen is written down."""
        yield from ()

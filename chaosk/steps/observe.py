"""Record the state of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.spec.contracts.step import Deed, Fact, Look, Site, Step


class Observe(Step):
    """Record the present state of the cluster, as an additional column in the report beside before, during and after.

    For each topic of the scenario: leaders, replicas and ISR, brokers that report another leader than the others, first
    and last readable offsets, and settings. For each group of the probes and each ``transactional.id``: the
    coordinator. Also the controller, the brokers, and the other metadata nodes. It changes nothing. State that the
    cluster does not report is left out.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
name: under-the-cut
at: 10s
observe: {}
"""

    def inject(self, site: Site) -> Iterator[Deed]:
        """Record the state once."""
        yield Look(entry=site.entry)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify nothing: any state is recorded."""
        yield from ()

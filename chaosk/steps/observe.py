"""Record the state of the cluster."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.step import Look, Site
from chaosk.steps._phases import PhasedStep, Phases


class Observe(PhasedStep):
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

    def targets(self) -> tuple[str, ...]:
        """Return none: it harms nobody."""
        return ()

    def phases(self, site: Site) -> Phases:
        """Record the state once; any state is right."""
        return Phases(inject=[Look(entry=site.entry)])

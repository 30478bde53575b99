"""Elect leaders of a topic's partitions."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosk.spec.contracts.step import Elect, Fact, Site
from chaosk.steps._partitions import Numbers
from chaosk.steps._phases import PhasedStep, Phases

WITHIN = 30.0
"""Time-out in seconds until the new leaders are visible."""


class ElectLeader(PhasedStep):
    """Elect leaders of partitions: the preferred ones, or without a replica in sync any that is alive (unclean).

    It takes once each of the partitions is led by its preferred leader, or, after an unclean election, by a broker that
    is alive. An unclean election can lose records, and cannot be undone.
    """

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
when: isr_full(orders)
elect_leader: {topic: orders, election: preferred}
"""

    topic: str
    """The topic."""
    partitions: Numbers | None = None
    """The partitions; default: all of them."""
    election: Literal["preferred", "unclean"] = "preferred"
    """``preferred``: the first replica, which must be in sync. ``unclean``: any replica, if none is in sync."""

    def targets(self) -> tuple[str, ...]:
        """Return none: the controller does it."""
        return ()

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """Send one request for all partitions; they then have the requested leaders."""
        condition = "preferred_leaders" if self.election == "preferred" else "leader_elected"
        which = ", ".join((self.topic, *map(str, self.partitions or ())))
        says = f"{self.topic} has the leaders it was to have ({self.election} election)"
        return Phases(
            inject=[Elect(topic=self.topic, partitions=self.partitions, election=self.election)],
            verify=[Fact(says=says, query=f"{condition}({which})", within=WITHIN)],
        )

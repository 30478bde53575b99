"""Elect leaders of a topic's partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.spec.contracts.step import Deed, Elect, Fact, Site, Step

WITHIN = 30.0
"""Time-out in seconds until the new leaders are visible."""


class ElectLeader(Step):
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
    partitions: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False, min_length=1)] | None = None
    """The partitions; default: all of them."""
    election: Literal["preferred", "unclean"] = "preferred"
    """``preferred``: the first replica, which must be in sync. ``unclean``: any replica, if none is in sync."""

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Send one request for all partitions."""
        yield Elect(topic=self.topic, partitions=self.partitions, election=self.election)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify that the partitions have the requested leaders."""
        condition = "preferred_leaders" if self.election == "preferred" else "leader_elected"
        which = ", ".join((self.topic, *map(str, self.partitions or ())))
        says = f"{self.topic} has the leaders it was to have ({self.election} election)"
        yield Fact(says=says, query=f"{condition}({which})", within=WITHIN)

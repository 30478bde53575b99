"""Duplicate packets between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Share
from chaosk.hosts.commands import shape
from chaosk.steps._shaping import Shaping


class DuplicatePackets(Shaping):
    """Send a random share of the packets from one group to the other twice; SSH is not affected.

    Groups, kernels and conflicts with other steps are as for delay_network. TCP drops the duplicates, so they only cost
    time. The step counts as no harm.
    """

    harmless: ClassVar[bool] = True
    what: ClassVar[str] = "the duplication"
    example: ClassVar[str] = """\
at: 10s
duplicate_packets: {between: ["host(leader(orders, 0))", everyone else], share: 10 %}
for: 30s
"""

    share: Annotated[Share, Field(ge=0.000001)]
    """Share of the packets."""

    def how(self) -> str:
        """Return the options of netem."""
        return shape.netem("duplicate", shape.percent(self.share))

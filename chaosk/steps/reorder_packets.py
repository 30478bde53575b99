"""Reorder packets between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Duration, Share
from chaosk.hosts.commands import shape
from chaosk.steps._shaping import Shaping


class ReorderPackets(Shaping):
    """Let a random share of the packets from one group to the other overtake the rest, which are delayed.

    SSH is not delayed. Groups, kernels and conflicts with other steps are as for delay_network. TCP restores the order,
    and takes some of the packets for lost, so it becomes slower. The step counts as no harm.
    """

    harmless: ClassVar[bool] = True
    what: ClassVar[str] = "the disorder"
    example: ClassVar[str] = """\
at: 10s
reorder_packets: {between: ["host(leader(orders, 0))", everyone else], share: 25 %, delay: 10ms}
for: 30s
"""

    share: Annotated[Share, Field(ge=0.000001, lt=1.0)]
    """Share of the packets that overtake others."""
    delay: Annotated[Duration, Field(ge=0.000001, le=1.0)] = 0.01
    """Delay of the other packets."""

    def how(self) -> str:
        """Return the options of netem, which sends the overtaking packets at once."""
        return shape.netem("delay", shape.time(self.delay), "reorder", shape.percent(self.share))

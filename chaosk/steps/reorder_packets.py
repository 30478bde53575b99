"""Reorder packets between two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Duration, Share
from chaosk.hosts.commands import shape
from chaosk.spec.contracts.step import Site
from chaosk.spec.harm import Harm
from chaosk.steps._shaping import Shaping


class ReorderPackets(Shaping):
    """Let a part of the packets from one group to the other overtake the rest, which are held for a moment.

    Each packet by a draw of its own; SSH is as quick as ever. Where, with which kernels and beside which steps: as for
    delay_network. TCP puts them in order again, and takes some of them for lost: slower, and it counts as no harm.
    """

    what: ClassVar[str] = "the disorder"
    example: ClassVar[str] = """\
at: 10s
reorder_packets: {between: ["host(leader(orders, 0))", everyone else], share: 25 %, delay: 10ms}
for: 30s
"""

    share: Annotated[Share, Field(ge=0.000001, lt=1.0)]
    """Of the packets, those that overtake."""
    delay: Annotated[Duration, Field(ge=0.000001, le=1.0)] = 0.01
    """For how long the others are held."""

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: everybody reaches everybody."""
        yield from ()

    def how(self) -> str:
        """By netem, which sends those at once that overtake."""
        return shape.netem("delay", shape.time(self.delay), "reorder", shape.percent(self.share))

"""Duplicate packets between two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Share
from chaosk.hosts.commands import shape
from chaosk.spec.contracts.step import Site
from chaosk.spec.harm import Harm
from chaosk.steps._shaping import Shaping


class DuplicatePackets(Shaping):
    """Send a part of the packets from one group to the other twice, each by a draw of its own; never those of SSH.

    Where, with which kernels and beside which steps: as for delay_network. TCP drops what it has already, so that only
    time is lost by it, and it counts as no harm.
    """

    what: ClassVar[str] = "the duplication"
    example: ClassVar[str] = """\
at: 10s
duplicate_packets: {between: ["host(leader(orders, 0))", everyone else], share: 10 %}
for: 30s
"""

    share: Annotated[Share, Field(ge=0.000001)]
    """Of the packets."""

    def harm(self, site: Site) -> Iterator[Harm]:  # noqa: ARG002 - the same everywhere
        """None: everybody reaches everybody."""
        yield from ()

    def how(self) -> str:
        """By netem."""
        return shape.netem("duplicate", shape.percent(self.share))

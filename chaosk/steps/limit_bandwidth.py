"""Limit the bandwidth between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Bandwidth
from chaosk.hosts.commands import shape
from chaosk.steps._shaping import Shaping


class LimitBandwidth(Shaping):
    """Let no more than a rate through from the hosts of one group to the other; SSH to the hosts is not limited.

    All that leaves a host for the other group shares the rate, whoever it is for. Before it packets wait, a fifth of a
    second or 128 KiB of them, whichever is more, and what finds no room there is dropped. Groups are as for
    cut_network; within a host nothing is limited. It needs queues that nobody else has arranged: refused elsewhere. It
    takes once tc lists exactly what was asked. It counts as a cut, because nobody can say beforehand which rate a
    session survives, and no two steps on the queues of a host can be in place at the same time.
    """

    what: ClassVar[str] = "the limit"
    example: ClassVar[str] = """\
at: 10s
limit_bandwidth: {between: ["host(leader(orders, 0))", everyone else], rate: 2Mbit/s}
for: 30s
"""

    rate: Annotated[Bandwidth, Field(ge=8000, le=100_000_000_000)]
    """Of each host, with all headers."""

    def how(self) -> str:
        """By htb."""
        return shape.rate(self.rate)

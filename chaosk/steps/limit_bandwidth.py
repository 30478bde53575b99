"""Limit the bandwidth between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Bandwidth
from chaosk.hosts.commands import shape
from chaosk.steps._shaping import Shaping


class LimitBandwidth(Shaping):
    """Limit the rate from the hosts of one group to the other; SSH to the hosts is not limited.

    All packets from a host to the other group share the rate. They wait in a queue of a fifth of a second or 128 KiB,
    whichever is more; packets beyond it are dropped. Groups are as for cut_network; packets within a host are not
    limited. The queues must not be configured by others; otherwise it is refused. It takes once tc lists exactly what
    was requested. It counts as a cut, because the rate that a session survives cannot be predicted. Two steps on the
    queues of one host cannot be in place at the same time.
    """

    what: ClassVar[str] = "the limit"
    example: ClassVar[str] = """\
at: 10s
limit_bandwidth: {between: ["host(leader(orders, 0))", everyone else], rate: 2Mbit/s}
for: 30s
"""

    rate: Annotated[Bandwidth, Field(ge=8000, le=100_000_000_000)]
    """Rate of each host, including all headers."""

    def how(self) -> str:
        """Return the options of htb."""
        return shape.rate(self.rate)

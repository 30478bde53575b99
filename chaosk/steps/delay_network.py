"""Delay packets between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Duration
from chaosk.hosts.commands import shape
from chaosk.steps._shaping import Shaping


class DelayNetwork(Shaping):
    """Delay the packets from the hosts of one group to the other, as on a long line; SSH is not delayed.

    Groups are as for cut_network. A round trip takes that much longer, and twice as much with ``direction: both``.
    Packets within a host are not delayed. The kernel needs netem, and the queues must not be configured by others;
    otherwise it is refused. It takes once tc lists exactly what was requested. It counts as a cut, because the delay
    that a session survives cannot be predicted. Two steps on the queues of one host cannot be in place at the same
    time.
    """

    what: ClassVar[str] = "the delay"
    example: ClassVar[str] = """\
at: 10s
delay_network: {between: ["host(leader(orders, 0))", everyone else], delay: 100ms, jitter: 20ms}
for: 30s
"""

    delay: Annotated[Duration, Field(ge=0.000001, le=60.0)]
    """Delay of each packet."""
    jitter: Annotated[Duration, Field(ge=0.000001)] | None = None
    """Random deviation from the delay, for each packet; packets then overtake each other, too."""

    @model_validator(mode="after")
    def _less_jitter_than_delay(self) -> DelayNetwork:
        if self.jitter is not None and self.jitter > self.delay:
            msg = "write no more jitter than delay: a packet cannot be early"
            raise ValueError(msg)
        return self

    def how(self) -> str:
        """Return the options of netem."""
        return shape.netem("delay", shape.time(self.delay), *([shape.time(self.jitter)] if self.jitter else []))

"""Delay packets between two groups."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from chaosk.core.units import Duration
from chaosk.hosts.commands import shape
from chaosk.steps._shaping import Shaping


class DelayNetwork(Shaping):
    """Delay the packets that leave the hosts of one group for the other, as on a long line; never those of SSH.

    Groups are as for cut_network. A round trip takes so much longer, and twice that with ``direction: both``. Within a
    host nothing is delayed. It needs a kernel with netem, and queues that nobody else has arranged: refused elsewhere.
    It takes once tc lists exactly what was asked. It counts as a cut, because nobody can say beforehand which delay a
    session survives, and no two steps on the queues of a host can be in place at the same time.
    """

    what: ClassVar[str] = "the delay"
    example: ClassVar[str] = """\
at: 10s
delay_network: {between: ["host(leader(orders, 0))", everyone else], delay: 100ms, jitter: 20ms}
for: 30s
"""

    delay: Annotated[Duration, Field(ge=0.000001, le=60.0)]
    """Of each packet."""
    jitter: Annotated[Duration, Field(ge=0.000001)] | None = None
    """So much more or less, by a draw of each packet's own: then they overtake each other as well."""

    @model_validator(mode="after")
    def _less_jitter_than_delay(self) -> DelayNetwork:
        if self.jitter is not None and self.jitter > self.delay:
            msg = "write no more jitter than delay: a packet cannot be early"
            raise ValueError(msg)
        return self

    def how(self) -> str:
        """By netem."""
        return shape.netem("delay", shape.time(self.delay), *([shape.time(self.jitter)] if self.jitter else []))

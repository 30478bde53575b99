"""Stop a probe cleanly."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosk.steps._probe_steps import EndProbe


class StopProbe(EndProbe):
    """Stop a probe cleanly: a producer flushes, a consumer commits according to its settings and leaves its group.

    The undo starts it again, as a new incarnation of the same probe.
    """

    example: ClassVar[str] = """\
at: 10s
stop_probe: {probe: reader}
for: 20s
"""
    action: ClassVar[Literal["stop", "kill"]] = "stop"

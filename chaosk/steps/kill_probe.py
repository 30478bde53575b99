"""Kill a probe with SIGKILL."""

from __future__ import annotations

from typing import ClassVar, Literal

from chaosk.steps._probe_steps import EndProbe


class KillProbe(EndProbe):
    """Kill a probe's process with SIGKILL: it flushes and commits nothing; its group waits for its session time-out.

    The undo starts it again, as a new incarnation of the same probe.
    """

    example: ClassVar[str] = """\
at: 10s
kill_probe: {probe: reader}
for: 5s
"""
    action: ClassVar[Literal["stop", "kill"]] = "kill"

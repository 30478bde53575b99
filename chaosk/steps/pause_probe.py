"""Freeze a probe with SIGSTOP."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.step import Site
from chaosk.steps._phases import Phases
from chaosk.steps._probe_steps import ProbeStep

_SOON = 5.0


class PauseProbe(ProbeStep):
    """Freeze a probe's process with SIGSTOP, as a long garbage collection or a suspended machine freezes a client.

    Its connections stay open, but it sends nothing, not even heartbeats to its group, which goes on without it after
    ``session.timeout.ms``. When the probe wakes, it does not know of the pause. It takes once the process has the state
    T. The undo is SIGCONT; if chaosk dies meanwhile, the kernel resumes the probe.
    """

    lasting: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
pause_probe: {probe: reader}
for: 60s
"""

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """Freeze the probe; the undo resumes it."""
        return Phases(
            before=self.seen("runs"),
            inject=self.signal("pause"),
            verify=self.seen("frozen", _SOON),
            undo=self.signal("resume"),
            healed=self.seen("runs", _SOON),
        )

"""Freeze a probe with SIGSTOP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.spec.contracts.step import Deed, Fact, Site
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

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Require that the probe runs."""
        yield from self.runs()

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Send SIGSTOP."""
        yield from self.signal("pause")

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify that the probe is frozen."""
        yield Fact(says=f"probe {self.probe} is frozen", query=f"probe_frozen({self.probe})", within=_SOON)

    def undo(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Send SIGCONT."""
        yield from self.signal("resume")

    def healed(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify that the probe runs."""
        yield from self.runs(_SOON)

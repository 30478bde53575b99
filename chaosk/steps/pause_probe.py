"""Freeze a probe with SIGSTOP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.spec.contracts.step import Deed, Fact, Site
from chaosk.steps._probe_steps import ProbeStep

_SOON = 5.0


class PauseProbe(ProbeStep):
    """Freeze a probe's process with SIGSTOP, as a long garbage collection or a suspended machine freezes a client.

    Its connections stay open and it says nothing, not even to its group: after ``session.timeout.ms`` that goes on
    without it. When it wakes, it does not know that it was gone. It takes once the process has the state T. The undo
    is SIGCONT; should chaosk die meanwhile, the kernel wakes it.
    """

    lasting: ClassVar[bool] = True
    example: ClassVar[str] = """\
at: 10s
pause_probe: {probe: reader}
for: 60s
"""

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It runs."""
        yield from self.runs()

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """SIGSTOP."""
        yield from self.signal("pause")

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It is frozen."""
        yield Fact(says=f"probe {self.probe} is frozen", query=f"probe_frozen({self.probe})", within=_SOON)

    def undo(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """SIGCONT."""
        yield from self.signal("resume")

    def healed(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It runs."""
        yield from self.runs(_SOON)

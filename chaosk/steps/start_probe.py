"""Start a probe that was ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.steps._contract import Deed, Fact, Site
from chaosk.steps._probe_steps import READY, ProbeStep


class StartProbe(ProbeStep):
    """Start a probe that a stop or a kill ended, as a new incarnation of it: that fault is then over."""

    lasting: ClassVar[bool] = False
    ends: ClassVar[tuple[str, ...]] = ("stop_probe", "kill_probe")
    example: ClassVar[str] = """\
at: 40s
start_probe: {probe: reader}
"""

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It has ended."""
        yield from self.ended()

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Start it."""
        yield from self.signal("start")

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It runs."""
        yield from self.runs(READY)

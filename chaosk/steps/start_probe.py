"""Start a probe that was ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chaosk.spec.contracts.step import Deed, Fact, Site
from chaosk.steps._probe_steps import READY, ProbeStep


class StartProbe(ProbeStep):
    """Start a probe that a stop or a kill ended, as a new incarnation of it: that fault is then over.

    Or start one that is ``started_by: step`` for the first time. It took once the process runs; whether any broker
    answers it does not matter.
    """

    lasting: ClassVar[bool] = False
    ends: ClassVar[tuple[str, ...]] = ("stop_probe", "kill_probe")
    example: ClassVar[str] = """\
at: 40s
start_probe: {probe: reader}
"""

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It has ended, or has not been started yet."""
        query = f"not(any(probe_runs({self.probe}), probe_frozen({self.probe})))"
        yield Fact(says=f"probe {self.probe} does not run", query=query)

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Start it."""
        yield from self.signal("start")

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It runs."""
        yield from self.runs(READY)

"""Start a probe that was stopped or killed."""

from __future__ import annotations

from typing import ClassVar

from chaosk.spec.contracts.step import Fact, Site
from chaosk.steps._phases import Phases
from chaosk.steps._probe_steps import READY, ProbeStep


class StartProbe(ProbeStep):
    """Start a probe after a stop or a kill, as a new incarnation: that fault is then over.

    It also starts a probe with ``started_by: step`` for the first time. It takes once the process runs, whether or not
    a broker answers it.
    """

    lasting: ClassVar[bool] = False
    ends: ClassVar[tuple[str, ...]] = ("stop_probe", "kill_probe")
    example: ClassVar[str] = """\
at: 40s
start_probe: {probe: reader}
"""

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """Start the probe, which has ended, or was not started yet."""
        query = f"not(any(probe_runs({self.probe}), probe_frozen({self.probe})))"
        return Phases(
            before=[Fact(says=f"probe {self.probe} does not run", query=query)],
            inject=self.signal("start"),
            verify=self.seen("runs", READY),
        )

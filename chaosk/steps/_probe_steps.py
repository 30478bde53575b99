"""Shared base of steps on probes."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from typing import ClassVar, Literal

from chaosk.spec.contracts.step import Deed, Fact, Signal, Site, Step
from chaosk.spec.fields import Name

READY = 60.0
"""Time-out in seconds until a started probe works: a consumer's group may have to wait for an old member."""
ENDED = 60.0
"""Time-out in seconds until a stopped probe has flushed its buffers."""


class ProbeStep(Step, ABC):
    """A step on the process of one probe."""

    about_clients: ClassVar[bool] = True
    probe: Name
    """The probe's name in the scenario."""

    def targets(self) -> tuple[str, ...]:
        """Return the probe."""
        return (f"probe({self.probe})",)

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """Yield the probe's process."""
        yield f"the probe {self.probe}"

    def signal(self, action: Literal["start", "stop", "kill", "pause", "resume"]) -> Iterator[Deed]:
        """Start, stop, kill, freeze or resume the probe."""
        yield Signal(probe=self.probe, action=action)

    def runs(self, within: float = 0.0) -> Iterator[Fact]:
        """Expect the probe's process to run."""
        yield Fact(says=f"probe {self.probe} runs", query=f"probe_runs({self.probe})", within=within)

    def ended(self, within: float = 0.0) -> Iterator[Fact]:
        """Expect the probe's process to have ended."""
        yield Fact(says=f"probe {self.probe} has ended", query=f"probe_ended({self.probe})", within=within)


class EndProbe(ProbeStep, ABC):
    """A step that ends a probe's process, until the probe is started again."""

    lasting: ClassVar[bool] = True
    action: ClassVar[Literal["stop", "kill"]]

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Require that the probe runs."""
        yield from self.runs()

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """End the probe."""
        yield from self.signal(self.action)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify that the probe has ended."""
        yield from self.ended(ENDED)

    def undo(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Start the probe again, as a new incarnation."""
        yield from self.signal("start")

    def healed(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Verify that the probe runs."""
        yield from self.runs(READY)

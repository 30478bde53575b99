"""What the steps on probes have in common."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from typing import ClassVar, Literal

from chaosk.spec.contracts.step import Deed, Fact, Signal, Site, Step
from chaosk.spec.fields import Name

READY = 60.0
"""Seconds until a probe that was started works: a consumer has to join its group, which may wait for an old member."""
ENDED = 60.0
"""Seconds until a probe that was told to end has flushed what it holds."""


class ProbeStep(Step, ABC):
    """A step on one probe's process."""

    about_clients: ClassVar[bool] = True
    probe: Name
    """The probe's name in the scenario."""

    def targets(self) -> tuple[str, ...]:
        """The probe."""
        return (f"probe({self.probe})",)

    def holds(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - the same everywhere
        """The probe's process."""
        yield f"the probe {self.probe}"

    def signal(self, action: Literal["start", "stop", "kill", "pause", "resume"]) -> Iterator[Deed]:
        """Start, end, kill or freeze it, or let it go on."""
        yield Signal(probe=self.probe, action=action)

    def runs(self, within: float = 0.0) -> Iterator[Fact]:
        """Its process works."""
        yield Fact(says=f"probe {self.probe} runs", query=f"probe_runs({self.probe})", within=within)

    def ended(self, within: float = 0.0) -> Iterator[Fact]:
        """Its process has ended."""
        yield Fact(says=f"probe {self.probe} has ended", query=f"probe_ended({self.probe})", within=within)


class EndProbe(ProbeStep, ABC):
    """The probe's process ends, until it is started again."""

    lasting: ClassVar[bool] = True
    action: ClassVar[Literal["stop", "kill"]]

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It runs."""
        yield from self.runs()

    def inject(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """End it."""
        yield from self.signal(self.action)

    def verify(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It has ended."""
        yield from self.ended(ENDED)

    def undo(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - the same everywhere
        """Start it again, as a new incarnation."""
        yield from self.signal("start")

    def healed(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """It runs."""
        yield from self.runs(READY)

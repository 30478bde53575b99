"""Let time pass."""

from __future__ import annotations

from typing import ClassVar

from chaosk.core.units import Duration
from chaosk.spec.contracts.step import Pause, Site
from chaosk.steps._phases import PhasedStep, Phases


class Wait(PhasedStep):
    """Let time pass: the next entry without a trigger starts when it is over."""

    lasting: ClassVar[bool] = False
    example: ClassVar[str] = """\
wait: {duration: 10s}
"""

    duration: Duration
    """Duration of the wait."""

    def targets(self) -> tuple[str, ...]:
        """Return none: it harms nobody."""
        return ()

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """Pause."""
        return Phases(inject=[Pause(seconds=self.duration)])

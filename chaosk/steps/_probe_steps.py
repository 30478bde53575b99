"""Shared base of steps on probes."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from typing import ClassVar, Literal

from chaosk.spec.contracts.step import Deed, Fact, Signal, Site
from chaosk.spec.fields import Name
from chaosk.steps._phases import PhasedStep, Phases

READY = 60.0
"""Time-out in seconds until a started probe works: a consumer's group may have to wait for an old member."""
ENDED = 60.0
"""Time-out in seconds until a stopped probe has flushed its buffers."""
_IN_WORDS = {"runs": "runs", "ended": "has ended", "frozen": "is frozen"}


class ProbeStep(PhasedStep, ABC):
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

    def signal(self, action: Literal["start", "stop", "kill", "pause", "resume"]) -> tuple[Deed, ...]:
        """Start, stop, kill, freeze or resume the probe."""
        return (Signal(probe=self.probe, action=action),)

    def seen(self, condition: Literal["runs", "ended", "frozen"], within: float = 0.0) -> tuple[Fact, ...]:
        """Expect the probe's process to run, to have ended or to be frozen."""
        says = f"probe {self.probe} {_IN_WORDS[condition]}"
        return (Fact(says=says, query=f"probe_{condition}({self.probe})", within=within),)


class EndProbe(ProbeStep, ABC):
    """A step that ends a probe's process, until the probe is started again."""

    lasting: ClassVar[bool] = True
    action: ClassVar[Literal["stop", "kill"]]

    def phases(self, site: Site) -> Phases:  # noqa: ARG002 - the same everywhere
        """End the probe; the undo starts it again, as a new incarnation."""
        return Phases(
            before=self.seen("runs"),
            inject=self.signal(self.action),
            verify=self.seen("ended", ENDED),
            undo=self.signal("start"),
            healed=self.seen("runs", READY),
        )

"""Stop when a host does not answer over SSH."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Duration
from chaosk.spec.contracts.stop_condition import StopCondition, StopConditionInputs, StopReason


class HostUnreachable(StopCondition):
    """Stop when a host does not answer over SSH, unless a fault of the scenario affects the whole host.

    Killed processes and network cuts leave SSH open, so a host that does not answer has another problem.
    """

    example: ClassVar[str] = """\
stop_conditions:
  - host_unreachable: {within: 5s}
"""

    within: Annotated[Duration, Field(ge=1.0, le=60.0)] = 5.0
    """Time-out of an answer."""

    def pause(self) -> float:
        """One second."""
        return 1.0

    def look(self, sight: StopConditionInputs) -> StopReason | None:
        """Ask all hosts in parallel."""
        at, silent = sight.unreachable(self.within)
        if not silent:
            return None
        return StopReason(at, "; ".join(f"{host} does not answer: {why}" for host, why in sorted(silent.items())))

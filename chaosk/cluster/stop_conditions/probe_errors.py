"""Stop when too many of a probe's operations fail."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Duration
from chaosk.spec.contracts.stop_condition import OperationCounts, StopCondition, StopConditionInputs, StopReason
from chaosk.spec.fields import Name


class ProbeErrors(StopCondition):
    """Stop when more than a share of the probes' recent operations failed, or has an unknown outcome.

    It needs a whole window of observations. An operation without an answer has neither failed nor succeeded yet.
    """

    example: ClassVar[str] = """\
stop_conditions:
  - probe_errors: {above: 0.5, window: 5s}
"""

    above: Annotated[float, Field(ge=0.0, lt=1.0)]
    """The permitted share, from 0 to less than 1."""
    window: Annotated[Duration, Field(ge=0.5, le=60.0)] = 5.0
    """The observed period."""
    probe: Name | None = None
    """The probe; by default each of them separately."""
    least: Annotated[int, Field(ge=1)] = 10
    """Minimum number of operations in the window."""

    def look(self, sight: StopConditionInputs) -> StopReason | None:
        """Check the probes' own counts."""
        found = sight.changes(self.window)
        for one in found[1] if found else ():
            if found is not None and self.probe in (None, one.probe) and self._breached(one):
                done = one.ok + one.bad
                share = f"{one.bad / done:.0%}, more than {self.above:.0%}"
                return StopReason(
                    found[0], f"{one.probe}: {one.bad} of {done} failed within {self.window:g} s ({share})"
                )
        return None

    def _breached(self, one: OperationCounts) -> bool:
        done = one.ok + one.bad
        return done >= self.least and one.bad > self.above * done

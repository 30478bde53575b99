"""Stop when a host does not answer over SSH."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Duration
from chaosk.spec.contracts.stop_condition import Seen, Sight, StopCondition


class HostUnreachable(StopCondition):
    """Stop when a host does not answer over SSH, though no fault of the scenario has the whole host in its hands.

    Killed processes and network cuts leave SSH open, so a host that does not answer suffers from something else.
    """

    example: ClassVar[str] = """\
stop_conditions:
  - host_unreachable: {within: 5s}
"""

    within: Annotated[Duration, Field(ge=1.0, le=60.0)] = 5.0
    """How long an answer may take."""

    def pause(self) -> float:
        """Once a second."""
        return 1.0

    def look(self, sight: Sight) -> Seen | None:
        """Ask all of them at the same time."""
        at, silent = sight.unreachable(self.within)
        if not silent:
            return None
        return Seen(at, "; ".join(f"{host} does not answer: {why}" for host, why in sorted(silent.items())))

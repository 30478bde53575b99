"""Stop when a topic of others has too few replicas in sync."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.spec.contracts.stop_condition import StopCondition, StopConditionInputs, StopReason, Strained

_SHOWN = 3


class UnderMinIsr(StopCondition):
    """Stop when a partition of a topic of others has too few replicas in sync.

    Kafka's own topics count; topics that chaosk made for other scenarios do not. A topic never needs more replicas than
    it has.
    """

    watches_all: ClassVar[bool] = True
    example: ClassVar[str] = """\
stop_conditions:
  - under_min_isr: {}
"""

    least: Annotated[int, Field(ge=1)] | None = None
    """Required number of in-sync replicas; by default each topic's own ``min.insync.replicas``."""

    def look(self, sight: StopConditionInputs) -> StopReason | None:
        """Check the watcher's last sample."""
        found = sight.strained()
        short = [self._told(one) for one in found[1] if one.in_sync < self._needed(one)] if found else []
        if found is None or not short:
            return None
        more = f", and {len(short) - _SHOWN} more" if len(short) > _SHOWN else ""
        return StopReason(
            found[0], f"not the scenario's, and too few replicas in sync: {', '.join(short[:_SHOWN])}{more}"
        )

    def _needed(self, one: Strained) -> int:
        return min(one.replicas, one.least if self.least is None else self.least)

    def _told(self, one: Strained) -> str:
        return f"{one.name} has {one.in_sync} of {one.replicas}, needs {self._needed(one)}"

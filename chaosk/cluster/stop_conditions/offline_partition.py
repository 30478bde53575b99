"""Stop when a partition of a topic of others has no leader."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from chaosk.core.units import Duration
from chaosk.spec.contracts.stop_condition import StopCondition, StopConditionInputs, StopReason

_SHOWN = 3


class OfflinePartition(StopCondition):
    """Stop when a partition of a topic of others stays without a leader, so that no client can use it.

    Kafka's own topics count; topics that chaosk made for other scenarios do not.
    """

    watches_all: ClassVar[bool] = True
    example: ClassVar[str] = """\
stop_conditions:
  - offline_partition: {lasting: 3s}
"""

    lasting: Annotated[Duration, Field(ge=0.0, le=60.0)] = 2.0
    """Minimum duration: partitions of a failing broker have no leader until the election."""

    def look(self, sight: StopConditionInputs) -> StopReason | None:
        """Check the watcher's last sample."""
        found = sight.strained()
        offline = [one.name for one in found[1] if one.leader < 0 and one.offline >= self.lasting] if found else []
        if found is None or not offline:
            return None
        more = f" and {len(offline) - _SHOWN} more" if len(offline) > _SHOWN else ""
        return StopReason(found[0], f"no leader for {', '.join(offline[:_SHOWN])}{more}, not the scenario's")

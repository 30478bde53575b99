"""Receivers of the statistics of a consumer's client: its joins, and the watch over its connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chaosk.probes._connections import Watch
from chaosk.probes._joins import EVERY_MS, JoinTimer
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume


def heard(probe: Consume, place: Workplace, joins: JoinTimer) -> dict[str, Any]:
    """Return the settings; a group member always gets statistics, with the scenario's interval if it sets one."""
    settings = probe.settings()
    watching = Watch(place, "consumer", on=probe.connections).settings(settings)
    if probe.assign is not None:
        return watching
    often = {} if "statistics.interval.ms" in {**place.client, **settings} else {"statistics.interval.ms": EVERY_MS}
    return {**often, **watching, "stats_cb": _by_all(joins.heard, watching.get("stats_cb"))}


def _by_all(*those: Callable[[str], None] | None) -> Callable[[str], None]:
    def each(statistics: str) -> None:
        for one in those:
            if one is not None:
                one(statistics)

    return each

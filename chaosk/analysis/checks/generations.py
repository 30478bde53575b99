"""Number of new generations of consumer groups."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.glances.rows import Numbers
from chaosk.rundir.verdict import Measure

SILENCE = 5_000_000_000
"""Nanoseconds without a sample of any member after which the group's state is unknown."""


class Generations(Check):
    """Number of generations of a consumer group that began in a window, as its members learned of them.

    D7. Every rebalance begins a generation, also one that reassigns no partition and that ``rebalances`` cannot see.
    With no new generation the group was undisturbed. Members sample the generation five times a second, so a generation
    counts up to 0.2 s late. The group's generation is the highest number that any member knows.

    The figure is unknown if no member gave a sample for five seconds of the window or around its ends: before the group
    had members, while they were paused, or for a client that does not report generations.
    """

    rule = "D7"
    title = "generations of consumer groups"
    counted = ("generation", "generations")
    metrics = ("new_generations",)
    tables = ("generations",)

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``new_generations`` of each group and window; None if unknown."""
        groups, at, numbers = events.rows.columns("generations", "group", "at", "generation")
        for group in events.case.groups:
            mine = groups == events.rows.code("group", group)
            for window in events.case.windows:
                yield measured("new_generations", group, window.name, _began(at[mine], numbers[mine], window))


def _began(at: Numbers, numbers: Numbers, window: TimeSpan) -> float | None:
    near = (at >= window.began - SILENCE) & (at < window.ended + SILENCE)
    before, inside = near & (at < window.began), near & (at < window.ended)
    if not before.any() or not (near & (at >= window.ended)).any():
        return None
    if (np.diff(np.sort(at[near])) >= SILENCE).any():
        return None
    return float(numbers[inside].max() - numbers[before].max())

"""How many generations of a group began."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chaosk.analysis.case import Span
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.glances.rows import Numbers
from chaosk.rundir.verdict import Measure

SILENCE = 5_000_000_000
"""Nanoseconds without any member's sample from which on nobody can say what became of the group."""


class Generations(Check):
    """How many generations of a consumer group began while a window lasted, as its members learned of them.

    D7. Every rebalance begins a generation, also one that leaves all members what they have, of which ``rebalances``
    knows nothing: with none the group stayed as it was. Members sample it five times a second, so a generation counts
    up to a fifth of a second late; the highest number that any of them knows is the group's.

    Nobody knows it where no member gave a sample for five seconds of the window or around its ends: before the group
    had members, while they were frozen, or of a client that does not tell.
    """

    rule = "D7"
    title = "generations of consumer groups"
    counted = ("generation", "generations")
    tables = ("generations",)

    def violations(self, events: Events) -> None:
        """None: it only measures."""

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``new_generations`` of each group and window; None where not known."""
        groups, at, numbers = events.rows.columns("generations", "group", "at", "generation")
        for group in events.case.groups:
            mine = groups == events.rows.code("group", group)
            for window in events.case.windows:
                yield measured("new_generations", group, window.name, _began(at[mine], numbers[mine], window))


def _began(at: Numbers, numbers: Numbers, window: Span) -> float | None:
    near = (at >= window.began - SILENCE) & (at < window.ended + SILENCE)
    before, inside = near & (at < window.began), near & (at < window.ended)
    if not before.any() or not (near & (at >= window.ended)).any():
        return None
    if (np.diff(np.sort(at[near])) >= SILENCE).any():
        return None
    return float(numbers[inside].max() - numbers[before].max())

"""Where the time of a run went: the scenario's own, and what chaosk added to it."""

from __future__ import annotations

from collections.abc import Mapping

OWN = ("baseline", "timeline", "heal", "settle", "whole")
"""The phases that the scenario asks for, and the time the cluster takes to recover; everything else is added."""


def added(durations: Mapping[str, float]) -> float:
    """Seconds that chaosk added to the scenario's own duration; putting up a lab is not counted."""
    return sum(seconds for phase, seconds in durations.items() if phase not in (*OWN, "lab"))


def sentence(durations: Mapping[str, float]) -> str:
    """The breakdown in one line."""
    own = sum(durations.get(phase, 0.0) for phase in OWN)
    parts = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in durations.items() if phase not in (*OWN, "lab"))
    return f"the scenario took {own:.1f} s; chaosk added {added(durations):.1f} s ({parts})"

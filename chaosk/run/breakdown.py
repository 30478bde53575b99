"""Breakdown of a run's duration: the scenario's own time, and the time that chaosk added."""

from __future__ import annotations

from collections.abc import Mapping

OWN = ("baseline", "timeline", "heal", "settle", "whole")
"""The phases of the scenario itself, and the recovery time of the cluster; all others are added."""


def added(durations: Mapping[str, float]) -> float:
    """Return the seconds that chaosk added to the scenario's own duration; starting a lab does not count."""
    return sum(seconds for phase, seconds in durations.items() if phase not in (*OWN, "lab"))


def sentence(durations: Mapping[str, float]) -> str:
    """Return the breakdown in one line."""
    own = sum(durations.get(phase, 0.0) for phase in OWN)
    parts = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in durations.items() if phase not in (*OWN, "lab"))
    return f"the scenario took {own:.1f} s; chaosk added {added(durations):.1f} s ({parts})"

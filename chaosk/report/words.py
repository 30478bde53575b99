"""Figures and names as people read them: one place, so that every form of the report says the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

SIGNS = {"violation": "✕", "inconclusive": "?", "degraded": "▲", "pass": "✓"}
"""A shape for each outcome: none is told by colour alone."""


def anchor(kind: str, name: str) -> str:
    """The name of a place in a page, which links lead to."""
    return f"{kind}-{re.sub('[^A-Za-z0-9_-]', '-', name)}"


def since(value: float) -> str:
    """A moment in seconds since the timeline's start, with its sign."""
    return f"{value:+.2f} s".replace("-", "\N{MINUS SIGN}")


def listed(items: Sequence[str], most: int = 8) -> str:
    """Items with commas; of many the first ones and how many more."""
    rest = len(items) - most
    return ", ".join(items) if rest <= 0 else f"{', '.join(items[:most])} and {rest} more"

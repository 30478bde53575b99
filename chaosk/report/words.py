"""Formatting of figures and names, shared by all formats of the report."""

from __future__ import annotations

import re
from collections.abc import Sequence

SIGNS = {"violation": "✕", "inconclusive": "?", "degraded": "▲", "pass": "✓"}
"""A symbol for each outcome, so that none is shown by colour alone."""


def anchor(kind: str, name: str) -> str:
    """Return the anchor of a place in a page, for links."""
    return f"{kind}-{re.sub('[^A-Za-z0-9_-]', '-', name)}"


def since(value: float) -> str:
    """Format a moment in seconds since the timeline's start, with its sign."""
    return f"{value:+.2f} s".replace("-", "\N{MINUS SIGN}")


def listed(items: Sequence[str], most: int = 8) -> str:
    """Join items with commas; for long lists the first ones and the number of the rest."""
    rest = len(items) - most
    return ", ".join(items) if rest <= 0 else f"{', '.join(items[:most])} and {rest} more"

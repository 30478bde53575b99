"""A figure over time in one line of text."""

from __future__ import annotations

from collections.abc import Sequence

from chaosk.campaign.history.history import Figure
from chaosk.core.figures import figure
from chaosk.core.printable import printable

_BARS = "▁▂▃▄▅▆▇█"
NOTHING, NO_END = "·", "↑"
"""Signs of a run without a measurement, and of a censored one."""
LONGEST = 60
"""Maximum number of runs shown: the last ones."""


def sparkline(figures: Sequence[Figure | None]) -> str:
    """Return a bar for each of the last runs, from nothing to the largest; ``·`` if not measured, ``↑`` if censored."""
    shown = figures[-LONGEST:]
    top = max((each.value for each in shown if each is not None and not each.censored), default=0.0)
    return "".join(_bar(each, top) for each in shown)


def _bar(each: Figure | None, top: float) -> str:
    if each is None:
        return NOTHING
    if each.censored:
        return NO_END
    share = each.value / top if top > 0 else 0.0
    return _BARS[min(max(round(share * (len(_BARS) - 1)), 0), len(_BARS) - 1)]


def span(figures: Sequence[Figure | None]) -> str:
    """Return the least and the greatest figure, like ``3.1 s to 8.4 s``; empty if there is none."""
    known = sorted((each for each in figures if each is not None), key=lambda each: (each.value, each.censored))
    if not known:
        return ""
    low, high = (figure(each.value, each.unit, censored=each.censored) for each in (known[0], known[-1]))
    return printable(low if low == high else f"{low} to {high}")

"""Colours by meaning. A plot is drawn with stand-ins, which the page's style turns into light or dark tones.

The tones (in ``templates/style.css``) are those of Okabe and Ito's colour-blind safe set, adjusted for contrast. Every
meaning has a shape, a thickness or a hatching as well.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Tone(StrEnum):
    """Stand-ins: greys that no other part of a plot uses."""

    INK = "#010101"
    MUTED = "#020202"
    GRID = "#030303"
    BAND = "#040404"
    FAULT = "#050505"
    OK = "#060606"
    FAIL = "#070707"
    INFO = "#080808"
    P50 = "#090909"
    P99 = "#0a0a0a"
    TOP = "#0b0b0b"
    LEADS = "#0c0c0c"
    FOLLOWS = "#0d0d0d"
    OUT = "#0e0e0e"
    PAPER = "#0f0f0f"
    LOSS = "#111111"


LINES = 8
"""Colours for lines of the same meaning, each of another run."""
_LINE = "#1010"
_STAND_INS = re.compile("|".join(re.escape(tone.value) for tone in Tone) + f"|{_LINE}0[0-{LINES - 1}]")


def line(number: int) -> str:
    """Return the stand-in of such a line, counted from 0; ``var(--run-1)`` is the first one's variable."""
    return f"{_LINE}{number % LINES:02x}"


def themed(svg: str) -> str:
    """Replace every stand-in in a drawing by the style variable of its meaning, like ``var(--fail)``."""
    return _STAND_INS.sub(lambda found: f"var(--{_variable(found[0])})", svg)


def _variable(stand_in: str) -> str:
    if stand_in.startswith(_LINE):
        return f"run-{int(stand_in[-1]) + 1}"
    return Tone(stand_in).name.lower()

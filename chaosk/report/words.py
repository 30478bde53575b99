"""Figures and names as people read them: one place, so that every form of the report says the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from math import floor, isfinite

SIGNS = {"violation": "✕", "inconclusive": "?", "degraded": "▲", "pass": "✓"}
"""A shape for each outcome: none is told by colour alone."""

METRICS = {"end_to_end_p99": "end-to-end p99", "end_to_end_max": "end-to-end max"}


def printable(text: str) -> str:
    """The text with control, format and unpaired surrogate characters shown as escapes, line breaks as spaces."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\t\r":
        return " "
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
        return f"\\u{ord(character):04x}"
    return character


def metric_name(metric: str) -> str:
    """``latency_p99`` as ``latency p99``."""
    return METRICS.get(metric, metric.replace("_", " "))


def number(value: float) -> str:
    """A count with thousands separated, anything else with three significant digits."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def seconds(value: float) -> str:
    """A length of time, in the unit that suits it."""
    if not value:
        return "0 s"
    if 1e-9 <= abs(value) < 0.000_1:
        return f"{value * 1e6:.3g} µs"
    if abs(value) < 0.999_5:
        return f"{round(value, 9) * 1000:.3g} ms"
    if abs(value) < 120:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(abs(value)), 60)
    return f"{'-' if value < 0 else ''}{minutes} min {rest} s"


def share(value: float) -> str:
    """A share of one in percent, with three significant digits or as many as tell it from all."""
    said = f"{value * 100:.3g}"
    return f"{floor(value * 1e5) / 1e3:g}" if said == "100" and value < 1 else said


def figure(value: float | None, unit: str, *, censored: bool = False) -> str:
    """A measured figure with its unit; what was not measured says so, what had not ended is a lower bound."""
    if value is None or not isfinite(value):
        return "not measured"
    if unit == "s":
        said = seconds(value)
    elif unit == "ratio":
        said = f"{share(value)} %"
    else:
        said = (
            number(value)
            if unit in {"", "count"}
            else f"{number(value)} {'record' if value == 1 and unit == 'records' else unit}"
        )
    return f"≥ {said}" if censored else said


def bounds(minimum: float | None, maximum: float | None, unit: str) -> str:
    """What was asked for: ``at most 20 s``, ``exactly 12 records``, ``1 s to 20 s``."""
    low, high = (None if limit is None else figure(limit, unit).replace(".0 s", " s") for limit in (minimum, maximum))
    if low is not None and high is not None:
        return f"exactly {low}" if minimum == maximum else f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return "measured" if high is None else f"at most {high}"


def since(value: float) -> str:
    """A moment in seconds since the timeline's start, with its sign."""
    return f"{value:+.2f} s".replace("-", "\N{MINUS SIGN}")


def listed(items: Sequence[str], most: int = 8) -> str:
    """Items with commas; of many the first ones and how many more."""
    rest = len(items) - most
    return ", ".join(items) if rest <= 0 else f"{', '.join(items[:most])} and {rest} more"

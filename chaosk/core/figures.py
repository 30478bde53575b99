"""Figures in words, spelled the same everywhere: ``23.9 s``, ``1 record``, ``8 rebalances``."""

from __future__ import annotations

from math import floor, isfinite

_NAMES = {"end_to_end_p99": "end-to-end p99", "end_to_end_max": "end-to-end max"}
_NOUNS = {"connections_peak": "connections at most", "connections_open": "connections left open"}
"""Counted nouns, for metrics whose own name does not fit after a number."""


def metric_name(metric: str) -> str:
    """Return ``latency p99`` for ``latency_p99``."""
    return _NAMES.get(metric, metric.replace("_", " "))


def number(value: float) -> str:
    """Format a count with thousands separated, any other value with three significant digits."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def counted(count: int, noun: str) -> str:
    """Format a count with its noun: ``1 broker``, ``2 brokers``."""
    return f"{number(count)} {noun}{'s' * (count != 1)}"


def seconds(value: float) -> str:
    """Format a duration in seconds in a suitable unit: µs, ms, s, or min and s."""
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
    """Format a share of one in percent: three significant digits, or enough to distinguish it from 100."""
    said = f"{value * 100:.3g}"
    return f"{floor(value * 1e5) / 1e3:g}" if said == "100" and value < 1 else said


def figure(value: float | None, unit: str, metric: str = "", *, censored: bool = False) -> str:
    """Format a measured figure with its unit: "not measured" without a value, "≥" if it is a lower bound.

    ``censored``: the measured period had not ended. A count without a metric is a bare number; with one it gets a noun,
    like ``8 rebalances``.
    """
    if value is None or not isfinite(value):
        return "not measured"
    if unit == "s":
        said = seconds(value)
    elif unit == "ratio":
        said = f"{share(value)} %"
    else:
        noun = _counted(metric) if unit == "count" else unit
        said = f"{number(value)} {one(noun) if value == 1 and unit != 'records/s' else noun}".rstrip()
    return f"≥ {said}" if censored else said


def _counted(metric: str) -> str:
    return _NOUNS.get(metric, metric_name(metric))


def one(noun: str) -> str:
    """Return the singular of a noun phrase: ``leader change`` for ``leader changes``."""
    words = noun.split(" ")
    many = next((n for n, word in enumerate(words) if word.endswith("s") and not word.endswith("ss")), None)
    return noun if many is None else " ".join(w[:-1] if n == many else w for n, w in enumerate(words))


def bounds(minimum: float | None, maximum: float | None, unit: str, metric: str = "") -> str:
    """Format a bound: ``at most 20 s``, ``exactly 12 records``, ``1 s to 20 s``; counts as in ``figure``."""
    ends = (None if limit is None else figure(limit, unit, metric) for limit in (minimum, maximum))
    low, high = (None if end is None else end.replace(".0 s", " s") for end in ends)
    if low is not None and high is not None:
        return f"exactly {low}" if minimum == maximum else f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return "measured" if high is None else f"at most {high}"


def comparison(metric: str, subject: str, measured: str, asked: str) -> str:
    """Compare a figure with its bound in words: ``unavailability of writer was 40.0 s, asked for at most 20 s``."""
    whose = f" of {subject}" if subject else ""
    name = metric_name(metric)
    return f"{name}{whose} {'were' if one(name) != name else 'was'} {measured}, asked for {asked}"

"""A plot of several runs over each other: their faults, acknowledged records a second, and latencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from chaosk.campaign.history.series import Series
from chaosk.core.figures import number, seconds
from chaosk.report import panels
from chaosk.report.axis import Floats
from chaosk.report.palette import LINES, Tone, line
from chaosk.report.svg import Panel, drawing
from chaosk.rundir.verdict import QUIET, Fault

Drawn = tuple[int, str, Series, Sequence[Fault]]
"""A run to plot: its index among all, its letter, its series and its faults."""

MOST_FAULTS = 100
"""Maximum number of faults drawn for a run."""
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))


def overlay(runs: Sequence[Drawn]) -> str:
    """Return the plot as an SVG element; empty if there are no runs."""
    if not runs:
        return ""
    axis = runs[0][2].axis
    wanted = [
        Panel("Runs, and their faults from injection to undo", 0.2 * len(runs) + 0.06, lambda axes: _rows(axes, runs)),
        Panel("Records acknowledged per second, of all producers", 1.9, lambda axes: _rates(axes, runs), framed=True),
    ]
    if any(np.isfinite(one.latency_p99).any() for _, _, one, _ in runs):
        title = "Time from due to acknowledged, 99th percentile, by when the record was due"
        wanted.append(Panel(title, 1.9, lambda axes: _latencies(axes, runs), framed=True))
    return drawing(wanted, axis, lambda axes: _behind(axes, runs), "Runs over time: described by the tables below")


def _look(place: int) -> dict[str, Any]:
    """Return the colour and dash of a run; no two runs share both."""
    return {"color": line(place), "linestyle": _DASHES[(place + place // LINES) % len(_DASHES)]}


def _spans(one: Series, faults: Sequence[Fault]) -> list[tuple[float, float, str]]:
    known = [fault for fault in faults if fault.step not in QUIET][:MOST_FAULTS]
    return [(*panels.span(fault, one.axis), fault.name) for fault in known]


def _behind(axes: Axes, runs: Sequence[Drawn]) -> None:
    for _, _, one, faults in runs:
        for begin, end, _ in _spans(one, faults):
            axes.axvspan(begin, end, color=Tone.BAND, linewidth=0, zorder=0)


def _rows(axes: Axes, runs: Sequence[Drawn]) -> None:
    """Draw a row for each run: a line over its duration, which is also the plots' legend, and its faults as bars."""
    axes.set_ylim(len(runs) - 0.4, -0.6)
    low, high = runs[0][2].axis.limits
    axes.set_xlim(low, high)
    for row, (place, letter, one, faults) in enumerate(runs):
        panels.margin(axes, row, letter, color=line(place), fontweight="bold")
        axes.plot([low, one.ends], [row, row], linewidth=1.6, **_look(place))
        for begin, end, name in _spans(one, faults):
            axes.barh(row, max(end - begin, (high - low) / 400), left=begin, height=0.7, color=line(place), linewidth=0)
            if end - begin > (len(panels.label(name)) + 2) * (high - low) * 0.0075:
                panels.write(axes, begin + (high - low) * 0.006, row, name, color=Tone.PAPER)


def _rates(axes: Axes, runs: Sequence[Drawn]) -> None:
    for place, _, one, _ in runs:
        _step(axes, one, one.acknowledged, place)
    axes.set_ylim(0, max(panels.ceiling(np.nan_to_num(one.acknowledged)) for _, _, one, _ in runs))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def _latencies(axes: Axes, runs: Sequence[Drawn]) -> None:
    for place, _, one, _ in runs:
        _step(axes, one, one.latency_p99, place)
    axes.set_yscale("log")
    known = np.concatenate([one.latency_p99 for _, _, one, _ in runs])
    known = known[np.isfinite(known) & (known > 0)]
    if len(known):
        axes.set_ylim(known.min() / 2, known.max() * 2)
    axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value)))


def _step(axes: Axes, one: Series, values: Floats, place: int) -> None:
    axes.step(one.axis.edges, panels.stepped(values), where="post", linewidth=1.3, **_look(place))

"""The panels of the timeline, each drawn on axes of its own that share the seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from chaosk.figures import number, seconds
from chaosk.report.axis import Axis, Floats, Longs
from chaosk.report.lanes import Lane, Level
from chaosk.report.palette import Tone
from chaosk.report.traffic import Latency
from chaosk.report.words import printable
from chaosk.verdict import QUIET, Fault

SMALL = 7.5
_LABEL = 34
_THICKNESS = {Level.LEADS: 0.72, Level.FOLLOWS: 0.24}
_TONES = {Level.LEADS: Tone.LEADS, Level.FOLLOWS: Tone.FOLLOWS}


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Errors of one name that one probe met: how many in each bucket."""

    label: str
    counts: Longs


def label(text: str, most: int = _LABEL) -> str:
    """A text fit for a plot: visible characters only, and not too many of them."""
    text = printable(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:  # noqa: ANN401 - matplotlib's own
    """Text exactly as it is: a dollar sign is no formula."""
    options: dict[str, Any] = {"fontsize": SMALL, "color": Tone.INK, "va": "center", **style}
    axes.text(x, y, label(text), **options)


def margin(axes: Axes, y: float, text: str, **style: Any) -> None:  # noqa: ANN401 - matplotlib's own
    """Text left of the axes, at a height in data coordinates."""
    write(axes, -0.008, y, text, transform=axes.get_yaxis_transform(), ha="right", **style)


def fault_rows(axes: Axes, faults: Sequence[Fault], axis: Axis) -> None:
    """One bar a fault: thin while it is injected and undone, thick while in place, hollow if it did not take."""
    axes.set_ylim(len(faults) - 0.4, -0.6)
    axes.set_xlim(*axis.limits)
    for row, fault in enumerate(faults):
        margin(axes, row, fault.name, color=Tone.FAULT, fontweight="bold")
        _fault_row(axes, row, fault, axis)


def _fault_row(axes: Axes, row: int, fault: Fault, axis: Axis) -> None:
    low, high = axis.limits
    begin, end = span(fault, axis)
    steady = axis.seconds(fault.applied) if fault.applied is not None else begin
    undoing = axis.seconds(fault.heal_invoked) if fault.heal_invoked is not None else end
    long = max(undoing - steady, (high - low) / 400)
    axes.barh(row, end - begin, left=begin, height=0.14, color=Tone.FAULT, linewidth=0)
    solid: dict[str, Any] = {"color": Tone.FAULT, "linewidth": 0}
    hollow: dict[str, Any] = {"facecolor": "none", "edgecolor": Tone.FAULT, "hatch": "////"}
    axes.barh(row, long, left=steady, height=0.7, **(solid if fault.took else hollow))
    said = fault.targets if fault.took else f"did not take: {fault.targets}"
    _beside(axes, row, said, (steady, steady + long, end), inside=fault.took)


def _beside(axes: Axes, row: int, said: str, bar: tuple[float, float, float], *, inside: bool) -> None:
    """What a fault aimed at: inside of its bar if it fits, else where there is room beside it."""
    low, high = axes.get_xlim()
    steady, until, end = bar
    needs = (len(label(said)) + 2) * (high - low) * 0.0075  # a letter is less than that
    gap = (high - low) * 0.006
    if inside and until - steady > needs:
        write(axes, steady + gap, row, said, color=Tone.PAPER)
    elif high - end > needs:
        write(axes, end + gap, row, said, color=Tone.MUTED)
    else:
        write(axes, steady - gap, row, said, ha="right", color=Tone.MUTED)


def span(fault: Fault, axis: Axis) -> tuple[float, float]:
    """First and last second of a fault, from its injection to the end of its undo; what has no undo is a moment."""
    begin = axis.seconds(fault.invoked)
    last = fault.healed or fault.heal_invoked
    if last is None:
        last = axis.high if not fault.undone else fault.applied or fault.invoked
    return begin, min(axis.seconds(last), axis.limits[1])


def bands(axes: Axes, faults: Sequence[Fault], axis: Axis) -> None:
    """The time of each fault behind all panels: a pale band with a line where it begins and a dashed one at its end."""
    for fault in (fault for fault in faults if fault.step not in QUIET):
        begin, end = span(fault, axis)
        axes.axvspan(begin, end, color=Tone.BAND, linewidth=0, zorder=0)
        axes.axvline(begin, color=Tone.FAULT, linewidth=0.7, zorder=1)
        axes.axvline(end, color=Tone.FAULT, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)


def rates(axes: Axes, by_outcome: dict[str, Floats], axis: Axis) -> None:
    """Records a second, outcomes stacked: ok filled, fail hatched one way, info the other."""
    base = np.zeros(axis.buckets)
    looks = {"ok": (Tone.OK, ""), "info": (Tone.INFO, "...."), "fail": (Tone.FAIL, "xxxx")}
    for outcome, (tone, hatch) in looks.items():
        if outcome not in by_outcome:
            continue
        top = base + by_outcome[outcome]
        drawn = (
            {"color": tone, "alpha": 0.85} if not hatch else {"facecolor": "none", "edgecolor": tone, "hatch": hatch}
        )
        axes.fill_between(axis.edges, stepped(base), stepped(top), step="post", linewidth=0, **drawn)
        if hatch:
            axes.step(axis.edges, stepped(np.where(top > base, top, np.nan)), where="post", color=tone, linewidth=1.2)
        base = top
    height = ceiling(base)
    axes.set_ylim(0, height)
    if base.max(initial=0.0) > height:
        peak = int(base.argmax())
        write(
            axes, axis.edges[peak + 1], height * 0.9, f" up to {number(round(float(base[peak])))}/s", color=Tone.MUTED
        )
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def ceiling(rate: Floats) -> float:
    """A height that shows the usual rate well: a burst after a stall may run out of the panel."""
    busy = rate[rate > 0]
    usual = float(np.percentile(busy, 90)) if len(busy) else 1.0
    return max(min(float(rate.max(initial=0.0)), 3 * usual), 1.0) * 1.12


def stepped(values: Floats) -> Floats:
    """One value more, for the right edge of the last bucket."""
    return np.append(values, values[-1:])


def latencies(axes: Axes, latency: Latency, axis: Axis) -> None:
    """Latency from the intended time on a log scale: p50 thin, p99 thick, maximum dotted."""
    looks = (
        (latency.top, Tone.TOP, 0.9, (0, (1, 1.2))),
        (latency.p99, Tone.P99, 1.6, "-"),
        (latency.p50, Tone.P50, 0.9, "-"),
    )
    for values, tone, width, style in looks:
        axes.step(axis.edges, stepped(values), where="post", color=tone, linewidth=width, linestyle=style)
    axes.set_yscale("log")
    known = np.concatenate([latency.top, latency.p50])
    known = known[np.isfinite(known) & (known > 0)]
    if len(known):
        axes.set_ylim(known.min() / 2, known.max() * 2)
    axes.yaxis.set_major_locator(LogLocator(numticks=5))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value)))


def errors(axes: Axes, rows: Sequence[ErrorRow], axis: Axis) -> None:
    """A tick for each bucket in which an error was met, taller the more; the total at the right."""
    axes.set_ylim(len(rows) - 0.4, -0.6)
    middle = (axis.edges[:-1] + axis.edges[1:]) / 2
    for row, error in enumerate(rows):
        margin(axes, row, error.label)
        some = error.counts > 0
        half = 0.12 + 0.28 * np.log1p(error.counts[some]) / np.log1p(error.counts.max(initial=1))
        axes.vlines(middle[some], row - half, row + half, color=Tone.FAIL, linewidth=1.4)
        write(
            axes,
            1.006,
            row,
            number(int(error.counts.sum())),
            transform=axes.get_yaxis_transform(),
            color=Tone.MUTED,
        )


def lane(axes: Axes, drawn: Lane) -> None:
    """A track for each node: thick where it led, thin where it followed, dotted where it was out."""
    axes.set_ylim(len(drawn.tracks) - 0.4, -0.6)
    for row, track in enumerate(drawn.tracks):
        write(axes, 1.006, row, track.label, transform=axes.get_yaxis_transform(), color=Tone.MUTED)
        for level, tone in _TONES.items():
            spans = [(s.begin, s.end - s.begin) for s in track.spans if s.level is level]
            axes.broken_barh(spans, (row - _THICKNESS[level] / 2, _THICKNESS[level]), facecolors=tone, linewidth=0)
        for gone in (s for s in track.spans if s.level is Level.OUT):
            axes.plot([gone.begin, gone.end], [row, row], color=Tone.OUT, linewidth=1.3, linestyle=(0, (1, 1.6)))
    margin(axes, (len(drawn.tracks) - 1) / 2, drawn.title)

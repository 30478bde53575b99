"""The panels of the timeline, each drawn on its own axes with the common time axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from chaosk.core.figures import number, seconds
from chaosk.core.printable import printable
from chaosk.report.axis import Axis, Floats, Longs
from chaosk.report.lanes import Level, StateLane
from chaosk.report.marks import KINDS
from chaosk.report.palette import Tone
from chaosk.report.traffic import LatencySeries
from chaosk.report.words import anchor, since
from chaosk.rundir.verdict import Fault

SMALL = 7.5
_LABEL = 34
_THICKNESS = {Level.LEADS: 0.72, Level.FOLLOWS: 0.24, Level.CLAIMS: 0.46}
_HATCHES = {"lost": "", "unseen": "////", "duplicated": "||||", "reordered": "----"}
_LEVELS = {
    Level.LEADS: "leads", Level.FOLLOWS: "follows", Level.OUT: "out", Level.CLAIMS: "leads by its own word alone",
}  # fmt: skip
NOTHING: Mapping[str, Longs] = MappingProxyType({})
_TONES = {Level.LEADS: Tone.LEADS, Level.FOLLOWS: Tone.FOLLOWS, Level.CLAIMS: Tone.FAIL}


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One probe's errors of one name: their number in each bucket."""

    label: str
    counts: Longs


@dataclass(frozen=True, slots=True)
class Note:
    """The exact meaning of an area of a panel, in words, shown as a tooltip."""

    left: float
    right: float
    """Seconds since the timeline's start."""
    text: str
    low: float | None = None
    high: float | None = None
    """Vertical range in the panel's units; None: the panel's whole height."""
    link: str = ""
    """Anchor in the page that it links to."""


def label(text: str, most: int = _LABEL) -> str:
    """Shorten a text for a plot, with visible characters only."""
    text = printable(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:  # noqa: ANN401 - matplotlib's own
    """Write a text literally: a dollar sign starts no formula."""
    options: dict[str, Any] = {"fontsize": SMALL, "color": Tone.INK, "va": "center", **style}
    axes.text(x, y, label(text), **options)


def margin(axes: Axes, y: float, text: str, **style: Any) -> None:  # noqa: ANN401 - matplotlib's own
    """Write a text left of the axes, at a height in data coordinates."""
    write(axes, -0.008, y, text, transform=axes.get_yaxis_transform(), ha="right", **style)


def fault_rows(axes: Axes, faults: Sequence[Fault], axis: Axis) -> list[Note]:
    """Draw one bar for each fault: thin during injection and undo, thick while in place, hollow if it did not take."""
    axes.set_ylim(len(faults) - 0.4, -0.6)
    axes.set_xlim(*axis.limits)
    for row, fault in enumerate(faults):
        margin(axes, row, fault.name, color=Tone.FAULT, fontweight="bold")
        _fault_row(axes, row, fault, axis)
    return [_fault_note(fault, axis, row) for row, fault in enumerate(faults)]


def _fault_note(fault: Fault, axis: Axis, row: int | None = None) -> Note:
    moments = (
        ("injected", fault.invoked), ("in place", fault.applied), ("undoing", fault.heal_invoked),
        ("undone", fault.healed),
    )  # fmt: skip
    when = ", ".join(f"{word} {since(axis.seconds(at))}" for word, at in moments if at is not None)
    aimed = f" {fault.targets}" if fault.targets else ""
    text = f"{fault.name}: {fault.step}{aimed}; {when}{'' if fault.took else '; did not take'}"
    low, high = (None, None) if row is None else (row - 0.4, row + 0.4)
    return Note(*span(fault, axis), text, low, high, link=anchor("fault", fault.name))


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
    """Write a fault's targets inside its bar if they fit, else beside it."""
    low, high = axes.get_xlim()
    steady, until, end = bar
    needs = (len(label(said)) + 2) * (high - low) * 0.0075  # a letter needs less than that
    gap = (high - low) * 0.006
    if inside and until - steady > needs:
        write(axes, steady + gap, row, said, color=Tone.PAPER)
    elif high - end > needs:
        write(axes, end + gap, row, said, color=Tone.MUTED)
    else:
        write(axes, steady - gap, row, said, ha="right", color=Tone.MUTED)


def span(fault: Fault, axis: Axis) -> tuple[float, float]:
    """Return first and last second of a fault, from its injection to the end of its undo; a moment without an undo."""
    begin = axis.seconds(fault.invoked)
    last = fault.healed or fault.heal_invoked
    if last is None:
        last = axis.high if not fault.undone else fault.applied or fault.invoked
    return begin, min(axis.seconds(last), axis.limits[1])


def bands(axes: Axes, faults: Sequence[Fault], axis: Axis) -> list[Note]:
    """Draw the time of each fault behind all panels: a pale band between a solid and a dashed line."""
    for fault in faults:
        begin, end = span(fault, axis)
        axes.axvspan(begin, end, color=Tone.BAND, linewidth=0, zorder=0)
        axes.axvline(begin, color=Tone.FAULT, linewidth=0.7, zorder=1)
        axes.axvline(end, color=Tone.FAULT, linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
    return [_fault_note(fault, axis) for fault in faults]


def rates(axes: Axes, by_outcome: dict[str, Floats], axis: Axis, wrong: Mapping[str, Longs] = NOTHING) -> list[Note]:
    """Draw records per second, outcomes stacked: ok filled, fail and info hatched.

    ``wrong``: by kind the number of records sent in each bucket that were lost or broke another rule. They are drawn in
    the colour of loss, from the bottom, over their outcome's colour.
    """
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
    base = np.maximum(base, _wrong(axes, wrong, axis))
    height = ceiling(base)
    axes.set_ylim(0, height)
    if base.max(initial=0.0) > height:
        peak = int(base.argmax())
        write(
            axes, axis.edges[peak + 1], height * 0.9, f" up to {number(round(float(base[peak])))}/s", color=Tone.MUTED
        )
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    counts = {name: np.rint(values * axis.width).astype(np.int64) for name, values in by_outcome.items()}
    return _bucket_notes(axis, {**counts, **{KINDS[kind]: values for kind, values in wrong.items()}}, number)


def _wrong(axes: Axes, wrong: Mapping[str, Longs], axis: Axis) -> Floats:
    """Draw the records with a violation; return their height in each bucket."""
    base = np.zeros(axis.buckets)
    for kind, counts in wrong.items():
        top = base + counts / axis.width
        look: dict[str, Any] = {"facecolor": Tone.LOSS} if not _HATCHES[kind] else {"facecolor": Tone.PAPER}
        axes.fill_between(
            axis.edges, stepped(base), stepped(top), where=_edges_of(counts > 0), step="post", edgecolor=Tone.LOSS,
            hatch=_HATCHES[kind] or None, linewidth=0.8, zorder=3, **look,
        )  # fmt: skip
        base = top
    return base


def _edges_of(some: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the edges on both sides of some buckets."""
    return np.asarray(np.append(some, False) | np.append(False, some))


def _bucket_notes(axis: Axis, columns: Mapping[str, Floats | Longs], told: Callable[[float], str]) -> list[Note]:
    """Return a note for each non-empty bucket, equal neighbours merged."""
    notes: list[Note] = []
    said = ""
    for bucket in range(axis.buckets):
        figures = {name: float(values[bucket]) for name, values in columns.items()}
        text = ", ".join(f"{told(value)} {name}" for name, value in figures.items() if value and isfinite(value))
        left, right = float(axis.edges[bucket]), float(axis.edges[bucket + 1])
        if text and text == said and notes[-1].right == left:
            notes[-1] = replace(notes[-1], right=right)
        elif text:
            notes.append(Note(left, right, text))
        said = text
    each = f" in each {seconds(axis.width)}"
    return [replace(note, text=f"{_when(note, axis)}: {note.text}{_each(note, axis, each)}") for note in notes]


def _when(note: Note, axis: Axis) -> str:
    utc = f", {axis.utc(note.left)} UTC" if axis.wall is not None else ""
    many = note.right - note.left > 1.5 * axis.width
    return f"{since(note.left)}{f' to {since(note.right)}' if many else ''}{utc}"


def _each(note: Note, axis: Axis, each: str) -> str:
    return each if note.right - note.left > 1.5 * axis.width else ""


def ceiling(rate: Floats) -> float:
    """Return a height that shows the usual rate well: a burst after a stall may exceed the panel."""
    busy = rate[rate > 0]
    usual = float(np.percentile(busy, 90)) if len(busy) else 1.0
    return max(min(float(rate.max(initial=0.0)), 3 * usual), 1.0) * 1.12


def stepped(values: Floats) -> Floats:
    """Repeat the last value, for the right edge of the last bucket."""
    return np.append(values, values[-1:])


def latencies(axes: Axes, latency: LatencySeries, axis: Axis) -> list[Note]:
    """Draw latency from the intended time on a log scale: p50 thin, p99 thick, maximum dotted."""
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
    return _bucket_notes(axis, {"p50": latency.p50, "p99": latency.p99, "max": latency.top}, seconds)


def errors(axes: Axes, rows: Sequence[ErrorRow], axis: Axis) -> list[Note]:
    """Draw a tick for each bucket with an error, taller for more of them, with the total on the right."""
    axes.set_ylim(len(rows) - 0.4, -0.6)
    middle = (axis.edges[:-1] + axis.edges[1:]) / 2
    notes: list[Note] = []
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
        found = _bucket_notes(axis, {error.label: error.counts}, number)
        notes += [replace(note, low=row - 0.45, high=row + 0.45) for note in found]
    return notes


def lane(axes: Axes, drawn: StateLane) -> list[Note]:
    """Draw a track for each node: thick as leader (red: by its own claim only), thin as follower, dotted if out."""
    axes.set_ylim(len(drawn.tracks) - 0.4, -0.6)
    for row, track in enumerate(drawn.tracks):
        write(axes, 1.006, row, track.label, transform=axes.get_yaxis_transform(), color=Tone.MUTED)
        for level, tone in _TONES.items():
            spans = [(s.begin, s.end - s.begin) for s in track.spans if s.level is level]
            axes.broken_barh(spans, (row - _THICKNESS[level] / 2, _THICKNESS[level]), facecolors=tone, linewidth=0)
        for gone in (s for s in track.spans if s.level is Level.OUT):
            axes.plot([gone.begin, gone.end], [row, row], color=Tone.OUT, linewidth=1.3, linestyle=(0, (1, 1.6)))
    margin(axes, (len(drawn.tracks) - 1) / 2, drawn.title)
    return [
        Note(s.begin, s.end, f"{drawn.title}, {track.label}: {_LEVELS[s.level]} {since(s.begin)} to {since(s.end)}",
             row - 0.4, row + 0.4)
        for row, track in enumerate(drawn.tracks) for s in track.spans
    ]  # fmt: skip

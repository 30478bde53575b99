"""The timeline: panels above each other that share the seconds, drawn by matplotlib as one plain SVG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from chaosk.report import panels
from chaosk.report.axis import Axis
from chaosk.report.lanes import Lane
from chaosk.report.palette import Tone, themed
from chaosk.report.panels import ErrorRow
from chaosk.report.traffic import Traffic
from chaosk.verdict import Fault

WIDTH, LEFT, RIGHT, BOTTOM, GAP, TITLE = 10.6, 1.5, 0.42, 0.45, 0.1, 0.2
"""Inches."""
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the page's own font
    "svg.hashsalt": "chaosk",  # the same run draws the same bytes
    "font.size": panels.SMALL,
    "hatch.linewidth": 0.7,
    "path.simplify": True,
    "text.parse_math": False,  # a dollar sign in a name is no formula
}


_REPLICAS = "Replicas of partitions{}, by broker: thick leads, thin is in sync, dotted is out of the ISR"
_SERVERS = "Brokers and ZooKeeper: thick is the controller or leads, thin serves, dotted does not answer"


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is drawn."""

    axis: Axis
    faults: tuple[Fault, ...]
    traffic: tuple[Traffic, ...]
    errors: tuple[ErrorRow, ...]
    partitions: tuple[Lane, ...]
    others: tuple[Lane, ...]
    """The brokers and ZooKeeper."""
    unshown: int = 0
    """Partitions that are not drawn, because more happened to others."""


@dataclass(frozen=True, slots=True)
class _Panel:
    title: str
    height: float
    draw: Callable[[Axes], None]
    framed: bool = False


def draw(timeline: Timeline) -> str:
    """The timeline as an SVG element whose colours are style variables; empty where there is nothing to draw."""
    wanted = list(_panels(timeline))
    if not wanted:
        return ""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # names may hold characters the measuring font lacks; the reader's browser has them
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = _laid_out(wanted, timeline)
        out = io.StringIO()
        figure.savefig(
            out, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
        )
    return themed(_element(out.getvalue()))


def _panels(t: Timeline) -> Iterator[_Panel]:
    if t.faults:
        yield _Panel("Faults", 0.22 * len(t.faults) + 0.06, lambda axes: panels.fault_rows(axes, t.faults, t.axis))
    for flow in t.traffic:
        yield from _traffic_panels(flow, t.axis)
    if t.errors:
        height = 0.19 * len(t.errors) + 0.06
        yield _Panel("Errors by name, and how many", height, lambda axes: panels.errors(axes, t.errors, t.axis))
    some = f" ({t.unshown} more, to which less happened, are not drawn)" if t.unshown else ""
    for title, lanes in ((_REPLICAS.format(some), t.partitions), (_SERVERS, t.others)):
        for number, lane in enumerate(lanes):
            yield _lane_panel(title if number == 0 else "", lane)


def _traffic_panels(flow: Traffic, axis: Axis) -> Iterator[_Panel]:
    what, until = ("written", "acknowledged") if flow.kind == "produce" else ("read", "delivered")
    title = f"{flow.probe}: records {what} per second"
    yield _Panel(title, 0.85, lambda axes: panels.rates(axes, flow.rates, axis), framed=True)
    latency = flow.latency
    if latency is not None:
        title = f"{flow.probe}: time from due to {until}, by when the record was due"
        yield _Panel(title, 0.85, lambda axes: panels.latencies(axes, latency, axis), framed=True)


def _lane_panel(title: str, lane: Lane) -> _Panel:
    return _Panel(title, 0.115 * len(lane.tracks) + 0.02, lambda axes: panels.lane(axes, lane))


def _laid_out(wanted: Sequence[_Panel], timeline: Timeline) -> Figure:
    height = BOTTOM + sum(panel.height + GAP + (TITLE if panel.title else 0) for panel in wanted)
    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasSVG(figure)
    _backdrop(figure, timeline, height)
    top = height
    for panel in wanted:
        top -= panel.height + GAP + (TITLE if panel.title else 0)
        place = (LEFT / WIDTH, top / height, (WIDTH - LEFT - RIGHT) / WIDTH, panel.height / height)
        axes = figure.add_axes(place)
        _prepare(axes, panel, timeline)
    return figure


def _backdrop(figure: Figure, timeline: Timeline, height: float) -> None:
    """Behind all panels: the seconds as thin lines, the faults as bands."""
    place = (LEFT / WIDTH, BOTTOM / height, (WIDTH - LEFT - RIGHT) / WIDTH, 1 - (BOTTOM + TITLE) / height)
    axes = figure.add_axes(place)
    panels.bands(axes, timeline.faults, timeline.axis)
    axes.set_xlim(*timeline.axis.limits)
    axes.xaxis.set_major_locator(_ticks())
    axes.grid(axis="x", color=Tone.GRID, linewidth=0.5)
    axes.yaxis.set_major_locator(NullLocator())
    axes.tick_params(colors=Tone.MUTED, length=3, labelsize=panels.SMALL)
    axes.set_xlabel("seconds since the start of the timeline", color=Tone.MUTED, fontsize=8)
    _frame(axes, "bottom")


def _ticks() -> MaxNLocator:
    return MaxNLocator(12, steps=[1, 2, 5, 10])


def _frame(axes: Axes, *sides: str) -> None:
    for side, spine in axes.spines.items():
        spine.set_visible(side in sides)
        spine.set_edgecolor(Tone.MUTED)


def _prepare(axes: Axes, panel: _Panel, timeline: Timeline) -> None:
    axes.patch.set_visible(False)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(NullLocator())
    panel.draw(axes)
    axes.set_xlim(*timeline.axis.limits)
    _frame(axes, *(("left", "bottom") if panel.framed else ()))
    axes.tick_params(colors=Tone.MUTED, length=2.5, labelsize=panels.SMALL)
    if panel.framed:
        axes.grid(axis="y", color=Tone.GRID, linewidth=0.5)
    else:
        axes.yaxis.set_major_locator(NullLocator())
    if panel.title:
        title = panels.label(panel.title, 150)
        axes.set_title(title, loc="left", fontsize=8.5, color=Tone.INK, pad=3)


def _element(svg: str) -> str:
    """The bare ``svg`` element, scaled to the page, its style rule kept to itself."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(
        r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", element
    )  # a hundredth of a point is enough
    element = re.sub(r"\s*\n\s*", " ", element)
    element = re.sub(r'<style type="text/css">\*', "<style>.timeline *", element)
    opening = '<svg class="timeline" role="img" aria-label="Timeline of the run: described by the tables below" '
    return re.sub(
        r'<svg [^>]*?(viewBox="[^"]*")[^>]*>',
        rf'{opening}\1 xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">',
        element,
        count=1,
    )

"""Stacked panels with a common time axis, drawn by matplotlib as one plain SVG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from markupsafe import escape
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from chaosk.core.printable import printable
from chaosk.report import panels
from chaosk.report.axis import Axis
from chaosk.report.palette import Tone, themed
from chaosk.report.panels import Note

WIDTH, LEFT, RIGHT, BOTTOM, GAP, TITLE = 10.6, 1.8, 0.42, 0.45, 0.1, 0.2
"""Inches."""
LINE = 0.13
"""Height of the second line of the time axis, in inches."""
NARROW = 2.5
"""Smallest width of an area in points, so that the mouse can hit a moment."""
Behind = Callable[[Axes], Iterable[Note] | None]
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the page's own font
    "svg.hashsalt": "chaosk",  # the same run draws the same bytes
    "font.size": panels.SMALL,
    "hatch.linewidth": 0.7,
    "path.simplify": True,
    "text.parse_math": False,  # a dollar sign in a name starts no formula
}


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: title, height in inches, drawing function, and whether it has its own visible axes."""

    title: str
    height: float
    draw: Callable[[Axes], Iterable[Note] | None]
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """A note and the axes that define its coordinates."""

    axes: Axes
    note: Note


def drawing(wanted: Sequence[Panel], axis: Axis, behind: Behind, says: str) -> str:
    """Draw the panels as an SVG element with style variables for colours; empty without panels.

    ``behind`` draws the common background; ``says`` is the label for screen readers.
    """
    if not wanted:
        return ""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # names may contain characters missing in the measuring font; the reader's browser has them
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure, noted = _laid_out(wanted, axis, behind)
        out = io.StringIO()
        figure.savefig(
            out, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
        )
        titles = "".join(_title(figure, one) for one in noted)
    areas = f'<g class="notes" fill="none" pointer-events="all">{titles}</g>'
    return themed(_element(out.getvalue(), says)).replace("</svg>", f"{areas}</svg>")


def _title(figure: Figure, noted: Noted) -> str:
    """Return a note as an invisible area with a tooltip, and with a link if it has one."""
    note, scale = noted.note, 72 / figure.dpi
    box, place = noted.axes.bbox, noted.axes.transData.transform
    ends = (1.0, 1.0) if note.low is None or note.high is None else (note.low, note.high)
    (left, one), (right, other) = place((note.left, ends[0])), place((note.right, ends[1]))
    low, high = sorted((one, other)) if one != other else (box.y0, box.y1)
    left, right = max(left, box.x0), min(max(right, left + NARROW / scale), box.x1)
    if right <= left:
        return ""
    x, y, wide, tall = (f"{value * scale:.1f}" for value in (left, figure.bbox.height - high, right - left, high - low))
    area = f'<path d="M{x} {y}h{wide}v{tall}h-{wide}z"><title>{escape(printable(note.text))}</title></path>'
    return f'<a href="#{escape(note.link)}">{area}</a>' if note.link else area


def _laid_out(wanted: Sequence[Panel], axis: Axis, behind: Behind) -> tuple[Figure, list[Noted]]:
    height = _bottom(axis) + sum(panel.height + GAP + (TITLE if panel.title else 0) for panel in wanted)
    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasSVG(figure)
    noted = _backdrop(figure, axis, behind, height)
    top = height
    for panel in wanted:
        top -= panel.height + GAP + (TITLE if panel.title else 0)
        place = (LEFT / WIDTH, top / height, (WIDTH - LEFT - RIGHT) / WIDTH, panel.height / height)
        axes = figure.add_axes(place)
        noted += [Noted(axes, note) for note in _prepare(axes, panel, axis)]
    return figure, noted


def _bottom(axis: Axis) -> float:
    return BOTTOM if axis.wall is None else BOTTOM + LINE


def _backdrop(figure: Figure, axis: Axis, behind: Behind, height: float) -> list[Noted]:
    """Draw the background of all panels: grid lines of the time axis, and ``behind``."""
    bottom = _bottom(axis)
    place = (LEFT / WIDTH, bottom / height, (WIDTH - LEFT - RIGHT) / WIDTH, 1 - (bottom + TITLE) / height)
    axes = figure.add_axes(place)
    notes = [Noted(axes, note) for note in behind(axes) or ()]
    axes.set_xlim(*axis.limits)
    axes.xaxis.set_major_locator(_ticks())
    axes.grid(axis="x", color=Tone.GRID, linewidth=0.5)
    axes.yaxis.set_major_locator(NullLocator())
    axes.tick_params(colors=Tone.MUTED, length=3, labelsize=panels.SMALL)
    if axis.wall is not None:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda second, _: f"{second:g}\n{axis.utc(second)}"))
    utc = "" if axis.wall is None else ", and UTC"
    axes.set_xlabel(f"seconds since the start of the timeline{utc}", color=Tone.MUTED, fontsize=8)
    _frame(axes, "bottom")
    return notes


def _ticks() -> MaxNLocator:
    return MaxNLocator(12, steps=[1, 2, 5, 10])


def _frame(axes: Axes, *sides: str) -> None:
    for side, spine in axes.spines.items():
        spine.set_visible(side in sides)
        spine.set_edgecolor(Tone.MUTED)


def _prepare(axes: Axes, panel: Panel, axis: Axis) -> Iterable[Note]:
    axes.patch.set_visible(False)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(NullLocator())
    notes = panel.draw(axes) or ()
    axes.set_xlim(*axis.limits)
    _frame(axes, *(("left", "bottom") if panel.framed else ()))
    axes.tick_params(colors=Tone.MUTED, length=2.5, labelsize=panels.SMALL)
    if panel.framed:
        axes.grid(axis="y", color=Tone.GRID, linewidth=0.5)
    else:
        axes.yaxis.set_major_locator(NullLocator())
    if panel.title:
        title = panels.label(panel.title, 150)
        axes.set_title(title, loc="left", fontsize=8.5, color=Tone.INK, pad=3)
    return notes


def _element(svg: str, says: str) -> str:
    """Return the bare ``svg`` element, scaled to the page, with its style rule limited to itself."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(
        r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", element
    )  # a hundredth of a point is enough
    element = re.sub(r"\s*\n\s*", " ", element)
    element = re.sub(r'<style type="text/css">\*', "<style>.timeline *", element)
    opening = f'<svg class="timeline" role="img" aria-label="{says}" '
    return re.sub(
        r'<svg [^>]*?(viewBox="[^"]*")[^>]*>',
        rf'{opening}\1 xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">',
        element,
        count=1,
    )

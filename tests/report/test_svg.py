"""Panels as one SVG: each is drawn with its title, in front of what lies behind all of them."""

from __future__ import annotations

from functools import partial

from matplotlib.axes import Axes

from chaosk.report.axis import Axis
from chaosk.report.palette import Tone
from chaosk.report.svg import Panel, drawing


def _behind(axes: Axes) -> None:
    axes.axvspan(1, 2, color=Tone.BAND)


def _note(drawn: list[str], name: str, _: Axes) -> None:
    drawn.append(name)


def test_no_panels_are_no_drawing(axis: Axis) -> None:
    """What lies behind nothing is nothing."""
    assert drawing([], axis, _behind, "Nothing") == ""


def test_each_panel_is_drawn_once(axis: Axis) -> None:
    """With its title; the whole says what it is, and every colour is a variable of the page."""
    drawn: list[str] = []
    wanted = [Panel(name, 0.5, partial(_note, drawn, name)) for name in ("Upper", "Lower")]
    svg = drawing(wanted, axis, _behind, "Two panels")
    assert drawn == ["Upper", "Lower"]
    assert svg.startswith('<svg class="timeline" role="img" aria-label="Two panels"')
    assert svg.index("var(--band)") < svg.index("Upper") < svg.index("Lower")
    assert not {tone.value for tone in Tone if tone.value in svg}

"""The drawing: every run and fault is in it, told apart by more than colour, and names stay names."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.resources import files
from itertools import pairwise

import pytest
import sample_run
from sample_run import Shape

from chaosk.campaign.history.overlay import _look, overlay
from chaosk.campaign.history.series import series
from chaosk.campaign.history.stored_run import StoredRun
from chaosk.report.palette import LINES, line, themed

Make = Callable[..., StoredRun]
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*runs: StoredRun) -> str:
    """The overlay of runs."""
    lines = series(runs, [])
    places = zip(range(len(runs)), "ABCD", lines, runs, strict=False)
    return overlay([(n, letter, one, run.verdict.faults) for n, letter, one, run in places if one is not None])


def texts(svg: str) -> list[str]:
    """Every text in a drawing."""
    root = ET.fromstring(svg)  # noqa: S314 - what matplotlib just wrote
    return ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]


def test_every_run_has_its_line_and_its_faults(make: Make) -> None:
    """A letter and a bar with the fault's name for each, and a line in each of the two plots, in its colour."""
    svg = drawn(make("a"), make("b"), make("c"))
    said = texts(svg)
    assert [text for text in said if text in {"A", "B", "C"}] == ["A", "B", "C"]
    assert said.count("kill") == 3
    assert "Records acknowledged per second, of all producers" in said
    assert "Time from due to acknowledged, 99th percentile, by when the record was due" in said
    for number in (1, 2, 3):
        assert len(re.findall(rf"stroke: var\(--run-{number}\)", svg)) >= 3


def test_the_faults_windows_are_marked_behind_the_plots(make: Make) -> None:
    """One band a fault; what only waits has none."""
    waits = sample_run.fault(Shape()).model_copy(update={"step": "wait"})
    assert drawn(make("a"), make("b")).count("fill: var(--band)") == 2
    assert drawn(make("c"), make("d", faults=(waits,))).count("fill: var(--band)") == 1


def test_nothing_to_draw_is_no_drawing() -> None:
    """A comparison of runs without events has no empty axes."""
    assert overlay([]) == ""


def test_a_name_is_no_part_of_the_drawing(make: Make) -> None:
    """Neither markup nor a formula, nor a character that moves others."""
    for name in ("</svg><script>x</script>", "$\\frac{1}{2}$", "\u202ekill"):
        fault = sample_run.fault(Shape()).model_copy(update={"name": name})
        svg = drawn(make(f"run{len(name)}", faults=(fault,)))
        assert "<script" not in svg
        assert "\u202e" not in svg
        assert any(text.startswith((name[:6], "\\u202e")) for text in texts(svg))


def test_no_two_runs_look_the_same() -> None:
    """As many as there are letters differ in colour or dash, and neighbours in dash too."""
    looks = [(look["color"], str(look["linestyle"])) for look in map(_look, range(26))]
    assert len(set(looks)) == 26
    assert all(one[1] != other[1] for one, other in pairwise(looks))


STYLE = (files("chaosk.campaign.history") / "templates" / "lines.css").read_text(encoding="utf-8")
PAPER = {False: "#ffffff", True: "#171c21"}


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("dark", [False, True])
def test_every_line_has_a_colour_that_can_be_seen(dark: bool) -> None:  # noqa: FBT001 - one of two
    """A contrast of 3 to 1 with the page, as the Web Content Accessibility Guidelines ask of graphics."""
    part = STYLE.split("@media (prefers-color-scheme: dark)")[int(dark)]
    colours = dict(re.findall(r"--(run-\d): (#[0-9a-f]{6})", part))
    assert {themed(line(number)) for number in range(LINES)} == {f"var(--{name})" for name in colours}
    for colour in colours.values():
        high, low = sorted((_luminance(colour), _luminance(PAPER[dark])), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3

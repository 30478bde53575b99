"""The figure: everything that is to be seen is drawn, and nothing in a name becomes part of the drawing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from sample_run import Shape, fault, ns

from chaosk.report import panels
from chaosk.report.axis import Axis
from chaosk.report.figure import TimelineFigure, draw
from chaosk.report.lanes import Level, LevelSpan, StateLane, Track
from chaosk.report.palette import Tone, themed
from chaosk.report.panels import ErrorRow, label, span
from chaosk.report.source import Source
from chaosk.report.timeline import see
from chaosk.report.traffic import LatencySeries, Traffic

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    """Every text in a drawing."""
    root = ET.fromstring(svg)  # noqa: S314 - what matplotlib just wrote
    return ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]


def empty(axis: Axis) -> TimelineFigure:
    """A timeline with nothing in it."""
    return TimelineFigure(axis=axis, faults=(), traffic=(), errors=(), partitions=(), others=())


def flow(axis: Axis, rates: Sequence[float] = (500,), probe: str = "writer") -> Traffic:
    """A producer with the given rates, repeated, and a latency."""
    rate = np.resize(np.array(rates, dtype=np.float64), axis.buckets)
    slow = np.full(axis.buckets, 0.01)
    return Traffic(probe, "produce", {"ok": rate}, LatencySeries(slow / 2, slow, slow * 3), {"ok": 1})


def test_nothing_to_draw_is_no_drawing(axis: Axis) -> None:
    """A run without events has no empty axes."""
    assert draw(empty(axis)) == ""


def test_the_sample_run_has_all_its_panels(source: Source) -> None:
    """Faults, rates, latencies, errors, partitions, brokers and ZooKeeper, with their names."""
    said = texts(draw(see(source).timeline))
    for expected in (
        "Faults", "kill", "broker 1 on node1", "writer: records written per second",
        "writer: time from due to acknowledged, by when the record was due", "reader: records read per second",
        "reader: time from due to delivered, by when the record was due",
        "Errors by name, and how many", "writer _MSG_TIMED_OUT",
        "writer _TRANSPORT", "orders 0", "orders 5", "brokers", "ZooKeeper",
        "seconds since the start of the timeline, and UTC",
    ):  # fmt: skip
        assert expected in said


def test_the_same_events_draw_the_same_bytes(source: Source) -> None:
    """No date, no random name: a report that is made again is the same file."""
    assert draw(see(source).timeline) == draw(see(source).timeline)


def test_it_is_one_element_that_scales(source: Source) -> None:
    """No XML declaration, document type or metadata inside of a page, and no size in points."""
    svg = draw(see(source).timeline)
    assert svg.startswith('<svg class="timeline" role="img" aria-label=')
    assert "<metadata" not in svg
    assert "<!DOCTYPE" not in svg
    assert not re.search(r"<svg[^>]*(width|height)=", svg)


def test_it_fetches_nothing(source: Source) -> None:
    """Links inside of the drawing only; no image, style sheet, font or script."""
    svg = draw(see(source).timeline)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', svg))
    assert all(link.startswith("#") for link in re.findall(r"url\(([^)]*)\)", svg))
    assert not re.search(r"<(script|image|foreignObject|use [^>]*href=\"[^#])", svg)


def test_colours_are_the_styles(source: Source) -> None:
    """Every colour is a variable, so that the dark page is dark; black would be invisible there."""
    svg = draw(see(source).timeline)
    assert set(re.findall(r"#[0-9a-f]{6}\b", svg)) == set()
    assert {"var(--ok)", "var(--fault)", "var(--leads)", "var(--follows)", "var(--out)", "var(--p99)"} <= set(
        re.findall(r"var\(--[a-z0-9]+\)", svg)
    )


def test_it_is_small(source: Source) -> None:
    """A minute's run is a few hundred kilobytes, whatever its number of events."""
    assert len(draw(see(source).timeline)) < 500_000


@pytest.mark.parametrize(
    "name",
    [
        "$\\frac{1}{0}$",
        "<script>alert(1)</script>",
        "a&b",
        '"><svg onload=x>',
        "Ünïçødé 東京 🦀",
        "-->",
        "\x1b[31m",
        "]]>",
    ],
)
def test_names_stay_names(axis: Axis, name: str) -> None:
    """Formulas, markup, strange letters and control characters are drawn as text, cut if long."""
    shown = replace(
        empty(axis),
        faults=(fault(Shape()).model_copy(update={"name": name, "targets": name}),),
        traffic=(flow(axis, probe=name),),
        errors=(ErrorRow(name, axis.count(np.array([ns(3)]))),),
        partitions=(StateLane(name, (Track(name, (LevelSpan(0, 5, Level.LEADS),)),)),),
    )
    said = texts(draw(shown))
    assert said.count(label(name)) >= 3
    assert not list(ET.fromstring(draw(shown)).iter(f"{SVG}script"))  # noqa: S314 - as above


def test_long_names_are_cut() -> None:
    """A label never runs over the plot."""
    assert label("x" * 500) == "x" * 33 + "…"


def test_a_burst_is_cut_and_told(axis: Axis) -> None:
    """After a stall a client catches up at many times the rate: the usual rate stays readable, the peak is a number."""
    rates = [500.0] * axis.buckets
    rates[40] = 9000.0
    assert "up to 9,000/s" in texts(draw(replace(empty(axis), traffic=(flow(axis, rates),))))


def test_a_steady_rate_is_not_cut(axis: Axis) -> None:
    """Nothing runs out of the panel without a word."""
    assert not any(text.startswith("up to") for text in texts(draw(replace(empty(axis), traffic=(flow(axis),)))))


@pytest.mark.parametrize("rates", [(0.0,), (float("1e-9"),), (1e9,)])
def test_rates_of_any_size_are_drawn(axis: Axis, rates: tuple[float, ...]) -> None:
    """A probe that wrote nothing at all, and one that is faster than any."""
    assert draw(replace(empty(axis), traffic=(flow(axis, rates),)))


def test_a_latency_of_nothing_is_drawn(axis: Axis) -> None:
    """All of a producer's sends failed: an empty panel, no warning about logarithms of nothing."""
    none = np.full(axis.buckets, np.nan)
    shown = replace(flow(axis), latency=LatencySeries(none, none, none))
    assert draw(replace(empty(axis), traffic=(shown,)))


def test_a_fault_lasts_from_injection_to_its_verified_undo(axis: Axis) -> None:
    """The band covers all of the time in which the cluster may have felt it."""
    assert span(fault(Shape()), axis) == pytest.approx((10.0, 43.4))


def test_a_fault_that_was_not_undone_lasts_until_the_end(axis: Axis) -> None:
    """Its band has no end before the run's."""
    open_end = fault(Shape()).model_copy(update={"heal_invoked": None, "healed": None, "undone": False})
    assert span(open_end, axis) == pytest.approx((10.0, 61.0))


def test_a_fault_without_undo_is_a_moment(axis: Axis) -> None:
    """An election is over when it is done."""
    moment = fault(Shape()).model_copy(update={"heal_invoked": None, "healed": None})
    assert span(moment, axis) == pytest.approx((10.0, 10.03))


def notes(svg: str) -> list[str]:
    """What each area of a drawing tells to who points at it."""
    root = ET.fromstring(svg)  # noqa: S314 - what matplotlib just wrote
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}title")]


def test_bars_and_bands_tell_their_exact_moments(axis: Axis) -> None:
    """A fault, and the stretch in which a broker led; the fault's leads to its row in the table."""
    lane = StateLane("orders 0", (Track("1", (LevelSpan(0.25, 5.75, Level.LEADS),)),))
    svg = draw(replace(empty(axis), faults=(fault(Shape()),), partitions=(lane,)))
    told = notes(svg)
    kill = (
        "kill: kill_broker broker 1 on node1; injected +10.00 s, in place +10.03 s, undoing +40.00 s, undone +43.40 s"
    )
    assert told.count(kill) == 2  # the bar, and the band behind all panels
    assert "orders 0, 1: leads +0.25 s to +5.75 s" in told
    assert svg.count('<a href="#fault-kill">') == 2


def test_areas_lie_over_what_they_tell_of(axis: Axis) -> None:
    """As wide as their seconds, inside of the drawing."""
    lane = StateLane("orders 0", (Track("1", (LevelSpan(0, 30, Level.LEADS), LevelSpan(30, 60, Level.OUT))),))
    svg = draw(replace(empty(axis), partitions=(lane,)))
    areas = re.findall(r'<path d="M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-\3z"><title>', svg)
    (first, _, width, _), (second, _, other, _) = (tuple(map(float, area)) for area in areas)
    assert width == pytest.approx(other, abs=0.2)
    assert first + width == pytest.approx(second, abs=0.2)
    left, _, right, bottom = map(float, re.search(r'viewBox="([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)"', svg).groups())  # type: ignore[union-attr]
    assert all(left < float(x) < right and 0 < float(y) + float(tall) < bottom for x, y, _, tall in areas)


def test_rates_tell_their_exact_numbers(axis: Axis) -> None:
    """Of each bucket; neighbours with the same numbers as one."""
    one = flow(axis, rates=(500,))
    told = notes(draw(replace(empty(axis), traffic=(one,))))
    assert any(text.endswith(": 125 ok in each 250 ms") for text in told)
    assert any(text.endswith(": 5 ms p50, 10 ms p99, 30 ms max in each 250 ms") for text in told)


def test_lost_records_are_drawn_in_the_colour_of_loss(axis: Axis) -> None:
    """When they were sent, with how many; a producer that lost nothing has none of it."""
    gone = axis.count(ns([10.1, 10.1, 10.2]))
    svg = draw(replace(empty(axis), traffic=(flow(axis),), wrong={"writer": {"lost": gone}}))
    assert "var(--loss)" in svg
    assert "writer: records written per second; 3 lost" in texts(svg)
    assert any(text.startswith("+10.00 s") and "125 ok, 3 lost" in text for text in notes(svg))
    assert "var(--loss)" not in draw(replace(empty(axis), traffic=(flow(axis),)))


def test_a_single_bucket_of_loss_is_seen(axis: Axis) -> None:
    """As wide as any other one: the drawing has an area for it."""
    gone = axis.count(ns([10.1]))
    svg = draw(replace(empty(axis), traffic=(flow(axis, rates=(0,)),), wrong={"writer": {"lost": gone}}))
    (shape,) = re.findall(r'<path id="[^"]*" d="([^"]*)" style="stroke: var\(--loss\)', svg)
    across = [float(x) for x in re.findall(r"[ML] ([\d.]+) ", shape)]
    assert max(across) - min(across) > 0.5


def test_the_axis_has_the_time_of_day(axis: Axis) -> None:
    """UTC beside the seconds, where the run knows it."""
    noon = replace(axis, wall=1_790_000_000_000_000_000)
    shown = replace(empty(noon), faults=(fault(Shape()),))
    assert {"0", "14:13:20", "10", "14:13:30"} <= set(texts(draw(shown)))
    assert "seconds since the start of the timeline, and UTC" in texts(draw(shown))
    assert "14:13:20" not in texts(draw(replace(shown, axis=axis)))


def test_a_fault_that_did_not_take_says_so(axis: Axis) -> None:
    """In words, and hollow."""
    failed = fault(Shape()).model_copy(update={"took": False, "applied": None})
    svg = draw(replace(empty(axis), faults=(failed,)))
    assert "did not take: broker 1 on node1" in texts(svg)
    assert "<pattern" in svg


def test_partitions_that_are_not_drawn_are_counted(axis: Axis) -> None:
    """Nobody takes twelve lanes for all partitions."""
    lane = StateLane("orders 0", (Track("1", (LevelSpan(0, 5, Level.LEADS),)),))
    said = texts(draw(replace(empty(axis), partitions=(lane,), unshown=88)))
    assert any("(88 more, to which less happened, are not drawn)" in text for text in said)


def test_errors_have_their_number(axis: Axis) -> None:
    """Ticks show when; the number how many."""
    row = ErrorRow("writer _TRANSPORT", axis.count(ns(np.arange(0, 30, 0.01))))
    assert "3,000" in texts(draw(replace(empty(axis), errors=(row,))))


def test_every_tone_has_a_light_and_a_dark_colour() -> None:
    """The style sheet knows each variable that a drawing can use, for both."""
    style = (files("chaosk.report") / "templates" / "style.css").read_text(encoding="utf-8")
    light, dark = style.split("@media (prefers-color-scheme: dark)")[:2]
    for tone in Tone:
        name = themed(tone).removeprefix("var(").removesuffix(")")
        assert f"{name}:" in light
        assert f"{name}:" in dark


def test_panels_stay_readable_with_a_hundred_error_names(source: Source) -> None:
    """The timeline keeps the most frequent ones; the panel's rows all have their place."""
    axis = see(source).timeline.axis
    rows = tuple(ErrorRow(f"writer _E{n}", axis.count(ns([float(n % 60)]))) for n in range(12))
    said = texts(draw(replace(empty(axis), errors=rows)))
    assert {f"writer _E{n}" for n in range(12)} <= set(said)
    assert panels.SMALL >= 7

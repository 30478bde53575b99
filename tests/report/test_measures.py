"""Measures: the figures of the verdict in tables, none dropped and none changed."""

from __future__ import annotations

import pytest
from sample_run import Shape, fault, measures, objective, verdict

from chaosk.report.measures import measure_rows, objective_rows, overall, says, tiles, window_name, windows
from chaosk.rundir.verdict import Measure
from chaosk.spec.metrics import METRICS


def measure(metric: str, subject: str, value: float | None, window: str = "run", *, censored: bool = False) -> Measure:
    """A measure in the metric's unit."""
    unit = METRICS[metric].unit if metric in METRICS else "s"
    return Measure(metric=metric, subject=subject, window=window, value=value, unit=unit, censored=censored)


def test_every_measure_has_its_cell() -> None:
    """Rows are metrics and subjects, columns windows; each figure is in exactly one cell."""
    found = measures(Shape())
    rows = measure_rows(verdict())
    assert windows(verdict()) == ("run", "baseline", "kill")
    assert sum(cell != "" for row in rows for cell in row.cells) == len(found)
    p99 = next(row for row in rows if row.name == "latency p99")
    assert p99.cells == ("", "6.4 ms", "10.4 s")


def test_rows_follow_the_order_of_the_metrics() -> None:
    """As the reference lists them, then by subject; what a plugin measured comes last."""
    found = (
        measure("rate", "b", 1),
        measure("own", "x", 1),
        measure("unavailability", "b", 1),
        measure("rate", "a", 1),
    )
    assert [(row.name, row.subject) for row in measure_rows(verdict(measures=found))] == [
        ("unavailability", "b"),
        ("rate", "a"),
        ("rate", "b"),
        ("own", "x"),
    ]


def test_windows_of_faults_stand_between_baseline_and_heal() -> None:
    """In the order in which the faults were injected, whatever their names; one that is no fault's comes after them."""
    found = tuple(measure("rate", "w", 1, window) for window in ("after_heal", "cut", "a", "zed", "baseline", "run"))
    faults = tuple(
        fault(Shape()).model_copy(update={"name": name, "invoked": at}) for name, at in (("cut", 9), ("zed", 5))
    )
    assert windows(verdict(measures=found, faults=faults)) == ("run", "baseline", "zed", "cut", "a", "after_heal")


def test_tiles_show_the_worst_subject() -> None:
    """The longest outage of all probes, with whose it was."""
    shown = {tile.name: tile for tile in tiles(verdict())}
    assert (shown["unavailability"].value, shown["unavailability"].subject) == ("11.0 s", "writer")


def test_unavailability_of_readers_stands_beside_that_of_writers() -> None:
    """The head does not say 12 s where those who read got nothing for 45 s: either's worst has a tile of its own."""
    found = (
        measure("unavailability", "writer", 12.5),
        measure("unavailability", "reader", 45.2),
        measure("unavailability", "idler", 1),
        measure("deliveries", "reader", 7),
        measure("deliveries", "idler", 7),
    )
    assert [(tile.name, tile.value, tile.subject) for tile in tiles(verdict(measures=found))] == [
        ("unavailability", "12.5 s", "writer"),
        ("consume unavailability", "45.2 s", "reader"),
    ]


def test_tiles_add_what_is_a_total() -> None:
    """Acknowledged records of two probes are one number, nobody's alone."""
    found = (measure("acknowledged_records", "a", 10), measure("acknowledged_records", "b", 5))
    (tile,) = tiles(verdict(measures=found))
    assert (tile.value, tile.subject) == ("15 records", "")


def test_tiles_prefer_the_runs_own_figure() -> None:
    """If the analysis gives one for the whole run, that is it."""
    found = (measure("lost_records", "a", 10), measure("lost_records", "", 12))
    (tile,) = tiles(verdict(measures=found))
    assert tile.value == "12 records"


def test_tiles_leave_out_what_was_not_measured() -> None:
    """And take the run's figures alone, not those of one window."""
    found = (measure("recovery", "kill", None), measure("unavailability", "w", 3, "kill"))
    assert tiles(verdict(measures=found)) == ()


def test_the_run_has_the_worst_figure_of_its_subjects() -> None:
    """The smallest of what should be large, the largest of the rest; a sum is at least so much if any part is."""
    found = [measure("availability", "a", 1.0), measure("availability", "b", 0.5)]
    found += [measure("unavailability", "a", 1.0), measure("unavailability", "b", 2.0)]
    found += [measure("lost_records", "a", 1.0), measure("lost_records", "b", 2.0, censored=True)]
    whole = [overall(metric, found) for metric in ("availability", "unavailability", "lost_records")]
    assert [(each.value, each.censored) for each in whole if each] == [(0.5, False), (2.0, False), (3.0, True)]


def test_a_censored_figure_stays_one() -> None:
    """A recovery that never came is at least as long as the run."""
    (tile,) = tiles(verdict(measures=(measure("recovery", "kill", 30, censored=True),)))
    assert tile.value == "≥ 30.0 s"


def test_missed_objectives_come_first() -> None:
    """Then what could not be measured; each with what was asked and what was found."""
    rows = objective_rows(
        (
            objective("unavailability", "writer", 11, maximum=20),
            objective("recovery", "kill", None, maximum=30),
            objective("rate", "", 100, minimum=400, unit="records/s", window="kill"),
        )
    )
    assert [row.state for row in rows] == ["missed", "not measured", "met"]
    assert (rows[0].subject, rows[0].window, rows[0].asked) == ("all", "during kill", "at least 400 records/s")
    assert rows[2].share == pytest.approx(0.55)


def test_only_a_maximum_has_a_share() -> None:
    """How much of what is allowed was used; of a minimum, a prediction or a bound of 0 nothing can be said."""
    rows = objective_rows(
        (
            objective("rate", "w", 100, minimum=50),
            objective("lost_records", "o", 0, maximum=0, minimum=0),
            objective("lost_records", "o", 5, maximum=10, prediction=True),
        )
    )
    assert [row.share for row in rows] == [None, None, None]


@pytest.mark.parametrize(
    ("window", "said"),
    [("run", "whole run"), ("baseline", "baseline"), ("after_heal", "after the last heal"), ("kill", "during kill")],
)
def test_windows_have_words(window: str, said: str) -> None:
    """Faults are named by their entry."""
    assert window_name(window) == said


def test_known_metrics_are_explained() -> None:
    """What a figure is, from the metrics' own table; nothing is made up for others."""
    assert all(says(metric) for metric in METRICS)
    assert says("unheard_of") == ""

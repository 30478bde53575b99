"""Figures against a baseline: what is worse is found, what is not is left alone, and the rates are what they say."""

from __future__ import annotations

from itertools import combinations
from math import inf
from random import Random
from typing import Any

import pytest
from sample_gate import attempt, gate, measured

from chaosk.campaign.gate.record import FigureComparison, Gate
from chaosk.campaign.gate.regression import COMPARABLE, compare, floor, repeats_needed
from chaosk.spec.metrics import METRICS

BEFORE = (10.0, 10.4, 10.9, 11.3, 12.0)


def one(
    before: tuple[float, ...], now: tuple[float, ...], metric: str = "recovery", **changes: Any
) -> FigureComparison:
    """The comparison of one figure."""
    new = gate(*measured(now, metric), metrics=(metric,), baseline="/b", **changes)
    (found,) = compare(new, gate(*measured(before, metric)))
    return found


def test_twice_as_long_is_found() -> None:
    """Five runs against five: none of the new ones is as good as the worst old one and a fifth."""
    found = one(BEFORE, tuple(2 * value for value in BEFORE))
    assert found.worse
    assert found.p == pytest.approx(1 / 252)
    assert found.missed == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    "now", [BEFORE, tuple(1.19 * value for value in BEFORE), (5.0,) * 5, (10.0, 10.1, 10.2, 10.3, 99.0)]
)
def test_what_is_tolerated_is_not_accused(now: tuple[float, ...]) -> None:
    """The same, a little worse, better, and one run of five that went wrong."""
    found = one(BEFORE, now)
    assert not found.worse
    assert found.p is not None
    assert found.p > 0.05


def test_p_is_that_of_all_orders() -> None:
    """Against counting: of all ways to deal the ten figures, those in which the rank sum is as great."""
    now = (12.9, 13.8, 13.9, 14.6, 20.0)
    bound = [max(value * 1.2, value + 1.0) for value in BEFORE]
    every = sorted([*now, *bound])
    assert len(set(every)) == 10
    ranks = sum(every.index(value) for value in now)
    sums = [sum(which) for which in combinations(range(10), 5)]
    assert one(BEFORE, now).p == pytest.approx(sum(each >= ranks for each in sums) / len(sums))


@pytest.mark.parametrize("metric", ["availability", "connect_availability"])
def test_of_some_figures_less_is_worse(metric: str) -> None:
    """Availability halved is worse, doubled it is not."""
    good, bad = (0.90, 0.91, 0.92, 0.93, 0.94), (0.45, 0.46, 0.47, 0.48, 0.49)
    assert one(good, bad, metric).worse
    assert not one(bad, good, metric).worse


def test_nothing_against_a_moment_is_nothing() -> None:
    """Outages are found from a second on: none before and half a second now is the same; two seconds are not."""
    assert not one((0.0,) * 5, (0.5, 0.6, 0.7, 0.8, 0.9), "unavailability").worse
    assert one((0.0,) * 5, (2.0, 2.1, 2.2, 2.3, 2.4), "unavailability").worse
    assert one((0.010,) * 5, (0.020, 0.021, 0.022, 0.023, 0.024), "latency_p99").worse
    assert not one((0.010,) * 5, (0.011, 0.012, 0.013, 0.014, 0.0145), "latency_p99").worse


def test_what_had_no_end_is_the_worst_there_is() -> None:
    """Worse than any that had one, and no worse than what had none before."""
    assert one(BEFORE, (inf,) * 5).worse
    assert not one((inf,) * 5, (inf,) * 5).worse


def test_an_unchanged_cluster_is_accused_no_oftener_than_is_said() -> None:
    """Four hundred gates of six figures without any slack, all from one distribution: at most a twentieth is accused.

    So few figures cannot be dealt out in exactly a twentieth of cases, and without slack the rate is not far below.
    """
    draw = Random(7)  # noqa: S311 - repeatable, not secret
    accused = 0
    for _ in range(400):
        sides = []
        for _side in range(2):
            runs = [
                run for name in ("A", "B", "C", "D", "E", "F")
                for run in measured([1000.0 + draw.random() * 900.0 for _ in range(7)], scenario=name)
            ]  # fmt: skip
            sides.append(gate(*runs, tolerance=0.0, baseline="/b"))
        accused += any(each.worse for each in compare(*sides))
    assert accused <= 0.05 * 400 + 3 * (400 * 0.05 * 0.95) ** 0.5


def test_holm_goes_on_after_the_first() -> None:
    """With two figures both far off, the second needs no more than the rate itself; with one, the other is let go."""
    far, near = tuple(2 * value for value in BEFORE), (13.4, 15.0, 15.5, 16.0, 17.0)
    runs = [*measured(far, scenario="A"), *measured(near, scenario="B")]
    old = gate(*measured(BEFORE, scenario="A"), *measured(BEFORE, scenario="B"))
    both = compare(gate(*runs, baseline="/b", error_rate=0.02), old)
    alone = compare(
        gate(*measured(BEFORE, scenario="A"), *measured(near, scenario="B"), baseline="/b", error_rate=0.02), old
    )
    second = both[1].p
    assert second is not None
    assert 0.01 < second < 0.02
    assert [each.worse for each in both] == [True, True]
    assert [each.worse for each in alone] == [False, False]


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ({"scenario": "Other"}, "the baseline has no such scenario"),
        ({"digest": "9999"}, "the scenario is another one than in the baseline"),
        ({"cluster": "5 brokers, 3 controllers"}, "the baseline is of another cluster: 5 brokers, 3 controllers"),
    ],
)
def test_what_is_not_the_same_is_not_compared(before: dict[str, Any], why: str) -> None:
    """With the reason, and never as not worse."""
    (found,) = compare(gate(*measured(BEFORE), baseline="/b"), gate(*measured(BEFORE, **before)))
    assert (found.p, found.worse) == (None, False)
    assert why in found.why_not


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        (1, 2, "the baseline's runs were made one at a time, these 2 side by side"),
        (3, 1, "the baseline's runs were made 3 side by side, these one at a time"),
    ],
)
def test_runs_side_by_side_are_not_compared_with_runs_alone(was: int, now: int, why: str) -> None:
    """They slow each other down: what looks worse may be that, and what looks the same may be better in truth."""
    far = tuple(2 * value for value in BEFORE)
    (found,) = compare(gate(*measured(far), side_by_side=now), gate(*measured(BEFORE), side_by_side=was))
    assert (found.p, found.worse, found.why_not) == (None, False, why)
    assert compare(gate(*measured(far), side_by_side=now), gate(*measured(BEFORE), side_by_side=now))[0].worse


def test_too_few_runs_are_not_compared() -> None:
    """Two of a side tell nothing; and three against three cannot accuse one of two figures at one percent."""
    assert "2 of the baseline, 5 of these; it takes 3" in one(BEFORE[:2], BEFORE).why_not
    weak = one(BEFORE[:3], tuple(9 * value for value in BEFORE[:3]), error_rate=0.01)
    assert (weak.p, weak.worse) == (None, False)
    assert "3 runs against 3 cannot tell it from chance among 1 figures; it takes 7" in weak.why_not


def test_how_many_runs_it_takes() -> None:
    """So many that the one order in which all are worse is rarer than the rate for one of the figures."""
    for before in (3, 5, 9):
        for figures in (1, 2, 12, 90):
            needed = repeats_needed(before, figures, 0.05)
            assert floor(before, needed) <= 0.05 / figures
            assert needed == 3 or floor(before, needed - 1) > 0.05 / figures
    assert repeats_needed(5, 12, 0.05) == 5
    assert repeats_needed(7, 90, 0.05) == 7


def test_how_often_twice_as_bad_is_missed() -> None:
    """Hardly ever where runs are alike; often where they are as different as the doubling itself."""
    alike, wild = one(BEFORE, BEFORE), one((2.0, 4.0, 10.0, 30.0, 90.0), (2.0, 4.0, 10.0, 30.0, 90.0))
    assert alike.missed is not None
    assert wild.missed is not None
    assert alike.missed < 0.01
    assert wild.missed > 0.5


def test_only_what_was_asked_for() -> None:
    """Other figures of the runs are not compared, so that they take no share of the rate."""
    runs = measured(BEFORE)
    assert compare(gate(*runs, metrics=("unavailability",), baseline="/b"), gate(*runs)) == ()
    assert {"recovery", "unavailability", "latency_p99", "availability"} <= set(COMPARABLE) <= METRICS.keys()


def test_a_run_without_the_figure_is_one_less() -> None:
    """An inconclusive run tells nothing, and is not taken for a good one."""
    runs = [*measured(BEFORE[:4]), attempt(repeat=5, exit_code=2)]
    found: tuple[FigureComparison, ...] = compare(gate(*runs, baseline="/b"), gate(*measured(BEFORE)))
    assert [len(found[0].now), len(found[0].before)] == [4, 5]
    assert isinstance(gate(*runs), Gate)

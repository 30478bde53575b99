"""What outages come to: the longest and the total by window, for any outages."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.outages import Outage, unavailability, union

SECOND = 1_000_000_000
WINDOWS = (TimeSpan("run", 0, 100 * SECOND), TimeSpan("kill", 10 * SECOND, 20 * SECOND))


def figures(*outages: Outage) -> dict[tuple[str, str], Any]:
    """By metric and window the value, and whether it is censored."""
    measures = unavailability(outages, ["writer"], WINDOWS)
    return {(m.metric, m.window): (m.value, m.censored) for m in measures}


def test_without_outages_there_is_none() -> None:
    """Zero is a figure, not a missing one."""
    assert figures()["unavailability", "run"] == (0, False)
    assert figures()["unavailable_total", "kill"] == (0, False)


def test_an_outage_counts_whole_in_every_window_it_overlaps() -> None:
    """It began before the kill's window ended."""
    found = figures(Outage("writer", 15 * SECOND, 40 * SECOND), Outage("writer", 50 * SECOND, 52 * SECOND))
    assert found["unavailability", "kill"] == (25, False)
    assert found["unavailability", "run"] == (25, False)
    assert found["unavailable_total", "run"] == (27, False)


def test_outages_of_several_partitions_at_once_count_once() -> None:
    """The total is time, not partitions times time."""
    found = figures(Outage("writer", 11 * SECOND, 15 * SECOND), Outage("writer", 12 * SECOND, 16 * SECOND))
    assert found["unavailable_total", "kill"] == (5, False)
    assert found["unavailability", "kill"] == (4, False)


def test_an_outage_that_had_not_ended_makes_the_figure_censored() -> None:
    """In the windows it overlaps, and in no other."""
    found = figures(Outage("writer", 90 * SECOND, 100 * SECOND, censored=True))
    assert found["unavailability", "run"] == (10, True)
    assert found["unavailability", "kill"] == (0, False)


def test_outages_of_others_do_not_count() -> None:
    """Each probe has its own."""
    assert figures(Outage("reader", 11 * SECOND, 15 * SECOND))["unavailability", "run"] == (0, False)


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


@given(SPANS)
def test_the_union_is_what_counting_moment_by_moment_gives(spans: list[tuple[int, int]]) -> None:
    """Against the plainest way to say it."""
    outages = [Outage("writer", began, began + length) for began, length in spans]
    covered = {moment for began, length in spans for moment in range(began, began + length)}
    assert union(outages) == len(covered)

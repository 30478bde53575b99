"""The schedule: deadlines that follow from the rate alone, exact at every rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.probes._schedule import Schedule

rates = st.floats(0.01, 1_000_000)
constant = st.builds(lambda rate: Schedule(rate, rate), rates)
ramps = st.builds(Schedule, st.floats(0, 10_000), rates, st.floats(0.001, 600))
schedules = st.one_of(constant, ramps)


@given(schedules, st.integers(0, 10_000_000))
def test_deadlines_never_go_back(schedule: Schedule, n: int) -> None:
    """A later record is never due before an earlier one, and the first one is due at once."""
    assert schedule.due(0) == 0
    assert schedule.due(n) <= schedule.due(n + 1)


@given(schedules, st.integers(0, 10**11))
def test_count_is_the_number_of_deadlines_that_have_passed(schedule: Schedule, elapsed: int) -> None:
    """The record before is due by then, the next one is not: no slot is missed and none is early."""
    count = schedule.count(elapsed)
    assert count >= 1
    assert schedule.due(count - 1) <= elapsed
    assert schedule.due(count) > elapsed


@given(schedules, st.integers(0, 1_000_000))
def test_a_record_is_counted_when_it_is_due(schedule: Schedule, n: int) -> None:
    """At the moment a record is due it is counted, and the moment before it is not (unless others share it)."""
    assert schedule.count(schedule.due(n)) > n
    assert schedule.count(schedule.due(n) - 1) <= n


@given(rates, st.floats(1, 1000))
def test_a_constant_rate_is_kept(rate: float, seconds: float) -> None:
    """After so many seconds, rate times seconds records are due, and the first."""
    assert Schedule(rate, rate).count(round(seconds * 1e9)) == pytest.approx(rate * seconds, abs=1.5, rel=1e-9)


@given(st.floats(0, 5000), st.floats(1, 5000), st.floats(0.1, 100))
def test_a_ramp_has_the_mean_of_its_ends(start: float, to: float, over: float) -> None:
    """During an even ramp the number of records is the mean rate times its length."""
    count = Schedule(start, to, over).count(round(over * 1e9))
    assert count == pytest.approx((start + to) / 2 * over, abs=1.5, rel=1e-6)


@given(st.floats(0, 5000), st.floats(1, 5000), st.floats(0.1, 100), st.floats(1, 100))
def test_after_the_ramp_the_rate_stays(start: float, to: float, over: float, more: float) -> None:
    """From its end on the number of records grows by the final rate."""
    schedule = Schedule(start, to, over)
    grown = schedule.count(round((over + more) * 1e9)) - schedule.count(round(over * 1e9))
    assert grown == pytest.approx(to * more, abs=2, rel=1e-6)


def test_nothing_is_due_before_the_start() -> None:
    """A clock that reads a little early sends nothing."""
    assert Schedule(100, 100).count(-1) == 0


@pytest.mark.parametrize(("n", "due"), [(0, 0), (1, 2_000_000), (500, 1_000_000_000), (1_000_000, 2_000_000_000_000)])
def test_five_hundred_a_second_is_one_every_two_milliseconds(n: int, due: int) -> None:
    """A rate that divides evenly gives round deadlines, also far out."""
    assert Schedule(500, 500).due(n) == due


def test_a_ramp_from_nothing_starts() -> None:
    """From 0/s to 100/s in 10 s: record n is due when the area under the ramp is n."""
    schedule = Schedule(0, 100, 10)
    assert [schedule.due(n) / 1e9 for n in (0, 5, 125, 500, 600)] == [0, 1, 5, 10, 11]

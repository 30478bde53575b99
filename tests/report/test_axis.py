"""The axis: every moment of the run has one bucket, and there are few of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.report.axis import MOST, Axis

SECOND = 1_000_000_000
zeros = st.integers(min_value=0, max_value=10**16)
spans = st.integers(min_value=0, max_value=30 * 24 * 3600 * SECOND)


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    """Axes of any length up to a month, with a baseline before their zero."""
    zero, before, after = draw(zeros), draw(st.integers(0, 600 * SECOND)), draw(spans)
    return Axis(zero, zero - before, zero + after)


@given(axes(), st.lists(st.floats(0, 1), max_size=50))
def test_every_moment_inside_is_counted_once(axis: Axis, shares: list[float]) -> None:
    """Whatever the length, a moment between low and high lies in exactly one bucket that is drawn."""
    times = np.array([axis.low + int(share * (axis.high - axis.low)) for share in shares], dtype=np.int64)
    assert axis.count(times).sum() == len(times)
    assert len(axis.count(times)) == axis.buckets


@given(axes())
def test_there_are_few_buckets(axis: Axis) -> None:
    """A month has no more buckets than a minute may have, so a report does not grow with its run."""
    assert 1 <= axis.buckets <= MOST + 1
    assert len(axis.edges) == axis.buckets + 1


@given(axes(), st.floats(0, 1))
def test_a_bucket_holds_what_lies_between_its_edges(axis: Axis, share: float) -> None:
    """The edges are those of the buckets: a moment in bucket n is not before edge n nor after edge n + 1."""
    at = axis.low + int(share * (axis.high - axis.low))
    number = int(axis.bucket(np.array([at], dtype=np.int64))[0])
    assert axis.edges[number] - 1e-3 <= axis.seconds(at) <= axis.edges[number + 1] + 1e-3


def test_what_lies_outside_is_not_counted() -> None:
    """What happened before the baseline or after the audit is not drawn at the edges."""
    axis = Axis(100 * SECOND, 95 * SECOND, 160 * SECOND)
    assert axis.bucket(np.array([95 * SECOND - 1, 161 * SECOND], dtype=np.int64)).tolist() == [-1, -1]


@pytest.mark.parametrize(("length", "width"), [(60, 0.25), (600, 2.0), (7200, 15.0), (86_400, 300.0)])
def test_widths_are_round(length: int, width: float) -> None:
    """A bucket is as long as a person would choose."""
    assert Axis(0, 0, length * SECOND).width == width


def test_buckets_start_at_the_zero_of_the_plot() -> None:
    """A bucket begins exactly where the timeline does, so a fault at 0 s does not share one with the baseline."""
    axis = Axis(100 * SECOND, 95 * SECOND - 77, 160 * SECOND)
    assert 0.0 in axis.edges.tolist()


def test_seconds_count_from_the_timelines_start() -> None:
    """Before it they are negative."""
    axis = Axis(100 * SECOND, 95 * SECOND, 160 * SECOND)
    assert axis.limits == (-5.0, 60.0)
    assert axis.seconds(100 * SECOND + 250_000_000) == 0.25

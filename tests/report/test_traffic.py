"""Traffic: rates that add up, latency from the intended time, and nothing counted that did not happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_run import ns

from chaosk.report import traffic
from chaosk.report.axis import Axis
from chaosk.report.source import Source
from chaosk.report.tables import Frame, frames
from chaosk.report.traffic import Due, consumed, due_times, produced

Make = Callable[[str, list[dict[str, Any]]], Frame]


def send(due: float, done: float | None, outcome: str = "ok", **more: Any) -> dict[str, Any]:
    """A row of sends; times in seconds."""
    row = {"probe": "writer", "scheduled": int(ns(due)), "invoked": int(ns(due)), "outcome": outcome}
    return {**row, "completed": None if done is None else int(ns(done)), **more}


def test_rates_add_up_to_the_records(frame: Make, axis: Axis) -> None:
    """The area under a rate is the number of records with that outcome."""
    rows = [send(n / 10, n / 10 + 0.01) for n in range(100)] + [send(1, 31, "info"), send(2, 2, "fail")]
    (flow,) = produced([frame("sends", rows)], axis)
    areas = {name: round(float(rate.sum() * axis.width)) for name, rate in flow.rates.items()}
    assert areas == {"ok": 100, "info": 1, "fail": 1}
    assert flow.totals == areas


def test_a_send_that_never_ended_counts_where_it_began(frame: Make, axis: Axis) -> None:
    """Without a completion its moment is when it was handed over, and its outcome is what the probe said."""
    (flow,) = produced([frame("sends", [send(7, None, "info")])], axis)
    assert flow.rates["info"][int(axis.bucket(np.array([ns(7)]))[0])] > 0
    assert flow.latency is None


def test_an_outcome_of_another_version_counts_as_uncertain(frame: Make, axis: Axis) -> None:
    """What is not known to be ok or fail may have been written."""
    (flow,) = produced([frame("sends", [send(7, 8, "strange")])], axis)
    assert flow.totals == {"info": 1}


def test_latency_counts_from_when_a_record_was_due(frame: Make, axis: Axis) -> None:
    """A record that was due at 10 s and acknowledged at 21 s shows 11 s at 10 s, not at 21 s."""
    (flow,) = produced([frame("sends", [send(10, 21), send(21, 21.002)])], axis)
    assert flow.latency is not None
    due, done = (int(axis.bucket(np.array([ns(at)]))[0]) for at in (10, 21))
    assert flow.latency.top[due] == pytest.approx(11.0)
    assert flow.latency.top[done] == pytest.approx(0.002)
    assert np.isnan(flow.latency.p99[due + 1])


@given(st.lists(st.floats(0.000_02, 900), min_size=1, max_size=300))
@settings(max_examples=50)
def test_percentiles_are_right_to_five_percent(latencies: list[float]) -> None:
    """Read off a histogram, p50 and p99 are those of the sorted values, to the width of its bins."""
    axis = Axis(0, 0, 10**9)
    values = np.sort(np.array(latencies))
    tally = traffic._TrafficCounts(axis)
    due = np.zeros(len(values), dtype=np.int64)
    tally.wait(due, (values * 1e9).astype(np.int64))
    tally.count("ok", due)
    latency = tally.traffic("writer", "produce").latency
    assert latency is not None
    for share, found in ((0.5, latency.p50), (0.99, latency.p99)):
        exact = values[int(np.ceil(share * len(values))) - 1]
        assert found[0] == pytest.approx(exact, rel=0.05)
    assert latency.top[0] == pytest.approx(values[-1], rel=1e-6, abs=1e-9)  # events are in whole nanoseconds


def test_batches_add_up(frame: Make, axis: Axis) -> None:
    """Two batches say what one of all their rows says."""
    rows = [send(n / 7, n / 7 + 0.003 * (n % 5 + 1), "ok" if n % 9 else "fail") for n in range(200)]
    (whole,) = produced([frame("sends", rows)], axis)
    (parts,) = produced([frame("sends", rows[:37]), frame("sends", rows[37:])], axis)
    assert whole.totals == parts.totals
    assert whole.latency is not None
    assert parts.latency is not None
    np.testing.assert_array_equal(whole.latency.p99, parts.latency.p99)


def test_each_probe_has_its_own_traffic(frame: Make, axis: Axis) -> None:
    """Probes are told apart, in order of their names."""
    rows = [send(1, 1.1, probe="b"), send(1, 1.1, probe="a"), send(2, 2.1, probe="a")]
    assert [(flow.probe, flow.totals) for flow in produced([frame("sends", rows)], axis)] == [
        ("a", {"ok": 2}),
        ("b", {"ok": 1}),
    ]


def read_row(seq: int | None, at: float, producer: str | None = "writer", incarnation: int = 0) -> dict[str, Any]:
    """A row of reads; the time in seconds."""
    return {"probe": "reader", "at": int(ns(at)), "producer": producer, "producer_incarnation": incarnation, "seq": seq}


def test_delivery_is_timed_from_when_the_record_was_due(frame: Make, axis: Axis) -> None:
    """End to end: from the due time of the very record, also when incarnations use the same sequence numbers."""
    sends = [send(1, 1.1, seq=0, incarnation=0), send(3, 3.1, seq=0, incarnation=1)]
    due = due_times([frame("sends", sends)])
    (flow,) = consumed([frame("reads", [read_row(0, 1.5), read_row(0, 5.0, incarnation=1)])], axis, due)
    assert flow.latency is not None
    tops = sorted(flow.latency.top[~np.isnan(flow.latency.top)].tolist())
    assert tops == pytest.approx([0.5, 2.0])


def test_records_of_nobody_are_counted_but_not_timed(frame: Make, axis: Axis) -> None:
    """A payload that is not ours, or of a send that was never written down, has no due time."""
    due: Due = {("writer", 0): np.array([int(ns(1))], dtype=np.int64)}
    rows = [read_row(None, 2, producer=None), read_row(99, 2), read_row(0, 2, producer="other"), read_row(0, 2)]
    (flow,) = consumed([frame("reads", rows)], axis, due)
    assert flow.totals == {"ok": 4}
    assert flow.latency is not None
    assert int((~np.isnan(flow.latency.top)).sum()) == 1


def test_due_times_have_a_limit(frame: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run that is too long nothing is kept, rather than half: then end-to-end latency is not drawn."""
    monkeypatch.setattr(traffic, "MOST_DUE", 10)
    rows = [send(n, n + 1, seq=n, incarnation=0) for n in range(30)]
    assert due_times([frame("sends", rows)]) == {}


def test_a_sequence_number_out_of_all_bounds_does_not_fill_memory(frame: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged row with seq 2^60 must not make an array of that length."""
    monkeypatch.setattr(traffic, "MOST_DUE", 1000)
    due = due_times([frame("sends", [send(0, 1, seq=2**60, incarnation=0), send(0, 1, seq=1, incarnation=0)])])
    assert sum(map(len, due.values())) <= 4 * traffic.MOST_DUE


def test_the_sample_run(source: Source, axis: Axis) -> None:
    """The whole of a run: rate before the fault, less during it, a burst after it, and the slowest record."""
    columns = ("probe", "scheduled", "invoked", "completed", "outcome")
    (flow,) = produced(frames(source.run, "sends", *columns), axis)
    assert flow.totals == {"ok": 32_490, "info": 10}
    assert flow.latency is not None
    assert 10.9 < float(np.nanmax(flow.latency.top)) < 12
    before, during = (int(axis.bucket(np.array([ns(at)]))[0]) for at in (5, 15))
    assert flow.rates["ok"][before] == pytest.approx(500, rel=0.05)
    assert flow.rates["ok"][during] == pytest.approx(333, rel=0.05)

"""Series: the runs' own figures, on one axis, and nothing where a run was not under way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import sample_run
from sample_run import ZERO, Shape

from chaosk.campaign.history import series as module
from chaosk.campaign.history.series import series
from chaosk.campaign.history.stored_run import StoredRun
from chaosk.rundir.verdict import Fault

Make = Callable[..., StoredRun]
LATER = 10_000_000_000_000
"""By how much another run's clock is ahead, nanoseconds."""


def test_what_was_acknowledged_adds_up(make: Make) -> None:
    """The area under the line is the number of sends that were ok."""
    notes: list[str] = []
    (one,) = series([make("a")], notes)
    assert one is not None
    ok = int((sample_run.sends(Shape(rate=50))["outcome"] == "ok").sum())
    assert round(float(np.nansum(one.acknowledged) * one.axis.width)) == ok
    assert notes == []


def test_the_stall_is_seen(make: Make) -> None:
    """While the leader is down a third of the partitions waits, and what is due then waits for seconds."""
    (one,) = series([make("a")], [])
    assert one is not None
    middle = (one.axis.edges[:-1] + one.axis.edges[1:]) / 2
    assert np.nanmedian(one.acknowledged[middle < 9]) == pytest.approx(50, abs=8)
    assert np.nanmedian(one.acknowledged[(middle > 12) & (middle < 20)]) == pytest.approx(33, abs=8)
    assert np.nanmax(one.latency_p99[(middle > 10) & (middle < 12)]) > 8


def test_runs_share_an_axis_and_end_where_they_end(make: Make) -> None:
    """Each counts from its own timeline's start; after a run's end there is nothing, not a rate of none."""
    long, short = series([make("a"), make("b", duration=20.0)], [])
    assert long is not None
    assert short is not None
    assert long.axis.edges.tolist() == short.axis.edges.tolist()
    assert [long.ends, short.ends] == pytest.approx([61.5, 20.0])
    begins = long.axis.edges[:-1]
    assert np.isfinite(long.acknowledged[begins < long.ends]).all()
    assert np.isfinite(short.acknowledged[begins < short.ends]).all()
    assert np.isnan(short.acknowledged[begins >= short.ends]).all()


def test_each_run_has_its_own_clock(make: Make) -> None:
    """Monotonic clocks have nothing to do with each other: only what is since the start of a timeline is compared."""
    moved = make("b", began=ZERO + LATER)
    sends = sample_run.sends(Shape(rate=50))
    for name in ("scheduled", "invoked", "completed"):
        sends[name] = sends[name] + LATER
    sample_run.write_table(moved.run, "sends", sends)
    sample_run.write_table(moved.run, "phases", {"phase": ["baseline"], "began": [ZERO + LATER - 5_000_000_000]})
    one, two = series([make("a"), moved], [])
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.acknowledged, two.acknowledged)


@pytest.mark.parametrize("spoil", ["torn", "gone", "linked"])
def test_events_that_cannot_be_read_are_noted(make: Make, spoil: str) -> None:
    """The other run is drawn all the same."""
    bad = make("b")
    path = bad.run.events / "sends.parquet"
    if spoil == "torn":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.rename(bad.run.root / "sends.parquet")
    if spoil == "linked":
        path.symlink_to(bad.run.root / "sends.parquet")
    notes: list[str] = []
    good, none = series([make("a"), bad], notes)
    assert good is not None
    assert none is None
    assert len(notes) == 1
    assert notes[0].startswith(str(bad.run.root))
    assert notes[0].endswith("it is not drawn")


def test_a_table_without_end_is_not_counted(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes of Parquet can stand for any number of rows."""
    monkeypatch.setattr(module, "MOST_ROWS", 100)
    notes: list[str] = []
    assert series([make("a")], notes) == [None]
    assert "more than 100 rows" in notes[0]


def test_a_baseline_that_began_long_ago_does_not_squeeze_the_rest(make: Make) -> None:
    """Ten minutes before the timeline's start are shown at most, whatever a run's phases say."""
    old = make("b")
    sample_run.write_table(old.run, "phases", {"phase": ["baseline"], "began": [1]})
    (one,) = series([old], [])
    assert one is not None
    assert one.axis.limits[0] == -600.0


def test_a_fault_is_a_verdicts(make: Make) -> None:
    """Its times are on the same clock as the series' axis."""
    made = make("a")
    (fault,) = made.verdict.faults
    assert isinstance(fault, Fault)
    (one,) = series([made], [])
    assert one is not None
    assert one.axis.seconds(fault.invoked) == pytest.approx(sample_run.KILLED)

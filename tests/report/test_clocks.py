"""Hosts' clocks that jumped or drifted: what did for certain, and what the measurement may be off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.clocks import ClockShift, moves, told
from chaosk.report.content import content
from chaosk.report.html import html
from chaosk.report.markdown import markdown
from chaosk.report.source import read
from chaosk.report.tables import Frame
from chaosk.rundir.paths import RunDir

Make = Callable[[str, list[dict[str, Any]]], Frame]
HOUR = 3_600_000_000_000
MS = 1_000_000


def look(at: float, offset: int, host: str = "node1", error: int = 20 * MS) -> dict[str, Any]:
    """What an answer told."""
    return {"host": host, "at": int(ns(at)), "offset": offset, "error": error}


def test_a_clock_that_goes_on_does_not_jump(frame: Make) -> None:
    """A few milliseconds are drift, and more is what the measurement may be off; another host's clock is another."""
    rows = [look(0, 3 * MS), look(5, -9 * MS), look(9, 700 * MS, error=300 * MS), look(11, HOUR, "node2")]
    assert moves([frame("host_clocks", rows)]) == ()


def test_an_hour_on_and_back(frame: Make) -> None:
    """Both are told, with when they were seen at the latest; the order in which answers came does not matter."""
    rows = [look(20, HOUR), look(0, 0), look(41, 5 * MS), look(10, 2 * MS), look(30, HOUR), look(15, 1, "node2")]
    assert moves([frame("host_clocks", rows[:3]), frame("host_clocks", rows[3:])]) == (
        ClockShift("node1", int(ns(10)), int(ns(20)), HOUR - 2 * MS, 40 * MS, at_once=True),
        ClockShift("node1", int(ns(30)), int(ns(41)), 5 * MS - HOUR, 40 * MS, at_once=True),
    )


@pytest.mark.parametrize(("by", "jumped"), [(539, False), (540, True), (-540, True)])
def test_how_much_is_a_jump(frame: Make, by: int, *, jumped: bool) -> None:
    """Half a second beyond what both looks may be off."""
    assert bool(moves([frame("host_clocks", [look(0, 0), look(1, by * MS)])])) is jumped


def test_a_clock_that_is_too_fast(frame: Make) -> None:
    """From the last look at which it was right to the first at which it was as wrong as it became; then it is put back.

    Five per cent for 30 s, looked at every two seconds: no step of it is a jump, and its end is one.
    """
    rows = [look(at, round(max(0.0, min(at - 10, 30.0)) * 50) * MS + (at % 3) * MS) for at in range(0, 60, 2)]
    rows += [look(at, 2 * MS) for at in range(60, 70, 2)]
    drift, jump = moves([frame("host_clocks", rows)])
    assert (drift.at_once, drift.after, drift.before) == (False, int(ns(12)), int(ns(38)))
    assert abs(drift.by - 1_300 * MS) <= 5 * MS
    assert (jump.at_once, jump.after, jump.before) == (True, int(ns(58)), int(ns(60)))


@pytest.mark.parametrize(("seconds", "at_once"), [(4, True), (4.1, False)])
def test_what_took_long_may_be_a_drift(frame: Make, seconds: float, *, at_once: bool) -> None:
    """A second in more than four could be either: then nobody says that it jumped, but it moved."""
    (move,) = moves([frame("host_clocks", [look(0, 0), look(seconds, 1_000 * MS)])])
    assert (move.at_once, move.by) == (at_once, 1_000 * MS)


def test_every_form_of_the_report_tells(frame: Make, make_run: Callable[..., RunDir], axis: Axis) -> None:
    """In the page and in Markdown; a run without one has no such section."""
    run = make_run()
    assert "Clocks of hosts" not in markdown(content(run)) + html(content(run))
    batch = frame("host_clocks", [look(0, 0), look(12, HOUR)]).batch
    pq.write_table(pa.Table.from_batches([batch]), run.events / "host_clocks.parquet")
    (line,) = told(read(run), axis)
    assert line.startswith("node1: the wall clock jumped by +3600.000 s (± 0.040 s) between 0.0 s and 12.0 s")
    assert "Clocks of hosts" in markdown(content(run))
    assert "jumped by +3600.000 s" in html(content(run))

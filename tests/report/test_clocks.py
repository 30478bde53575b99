"""Jumps of hosts' clocks: what is one for certain, and what the measurement may be off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.clocks import Jump, jumps, told
from chaosk.report.content import content
from chaosk.report.html import html
from chaosk.report.markdown import markdown
from chaosk.report.source import read
from chaosk.report.tables import Frame
from chaosk.rundir import RunDir

Make = Callable[[str, list[dict[str, Any]]], Frame]
HOUR = 3_600_000_000_000
MS = 1_000_000


def look(at: float, offset: int, host: str = "node1", error: int = 20 * MS) -> dict[str, Any]:
    """What an answer told."""
    return {"host": host, "at": int(ns(at)), "offset": offset, "error": error}


def test_a_clock_that_goes_on_does_not_jump(frame: Make) -> None:
    """A few milliseconds are drift, and more is what the measurement may be off; another host's clock is another."""
    rows = [look(0, 3 * MS), look(5, -9 * MS), look(9, 700 * MS, error=300 * MS), look(11, HOUR, "node2")]
    assert jumps([frame("host_clocks", rows)]) == ()


def test_an_hour_on_and_back(frame: Make) -> None:
    """Both are told, with when they were seen at the latest; the order in which answers came does not matter."""
    rows = [look(20, HOUR), look(0, 0), look(41, 5 * MS), look(10, 2 * MS), look(30, HOUR), look(15, 1, "node2")]
    assert jumps([frame("host_clocks", rows[:3]), frame("host_clocks", rows[3:])]) == (
        Jump("node1", int(ns(10)), int(ns(20)), HOUR - 2 * MS, 40 * MS),
        Jump("node1", int(ns(30)), int(ns(41)), 5 * MS - HOUR, 40 * MS),
    )


@pytest.mark.parametrize(("by", "jumped"), [(539, False), (540, True), (-540, True)])
def test_how_much_is_a_jump(frame: Make, by: int, *, jumped: bool) -> None:
    """Half a second beyond what both looks may be off."""
    assert bool(jumps([frame("host_clocks", [look(0, 0), look(1, by * MS)])])) is jumped


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

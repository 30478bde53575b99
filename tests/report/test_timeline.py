"""The timeline: what the report reads of the events, and what it does without them."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import numpy as np
import pytest
from sample_run import ZERO, Shape, measures, ns, outage, sends, verdict, write_table

from chaosk.report.source import Source, read
from chaosk.report.timeline import MOST_PROBES, axis_of, see
from chaosk.rundir.paths import RunDir

MakeRun = Callable[..., RunDir]


def test_the_axis_begins_with_the_baseline(source: Source) -> None:
    """Not with the warm-up, in which nobody is measured; it ends with the audit."""
    assert axis_of(source).limits == pytest.approx((-5.0, 61.5))


def test_without_phases_it_begins_with_the_first_probe(make_run: MakeRun) -> None:
    """A run that was broken off has written no phase."""
    run = make_run()
    (run.events / "phases.parquet").unlink()
    assert axis_of(read(run)).limits[0] == pytest.approx(-5.5)


def test_without_events_it_begins_with_the_timeline(make_run: MakeRun) -> None:
    """Which is all that the verdict knows."""
    run = make_run()
    shutil.rmtree(run.events)
    assert axis_of(read(run)).limits[0] == 0.0


@pytest.mark.parametrize("duration", [0.0, -1.0, 0.001])
def test_a_run_without_length_has_an_axis(make_run: MakeRun, duration: float) -> None:
    """An interrupted run may have ended before it began; plots still need a width."""
    axis = axis_of(read(make_run(verdict(duration=duration))))
    assert axis.high > axis.zero
    assert axis.buckets >= 1


def test_everything_of_a_run_is_seen(source: Source) -> None:
    """Two probes, two names of errors, six partitions, brokers and ZooKeeper, two stalls."""
    seen = see(source)
    assert [flow.probe for flow in seen.timeline.traffic] == ["writer", "reader"]
    assert [row.label for row in seen.timeline.errors] == ["writer _MSG_TIMED_OUT", "writer _TRANSPORT"]
    assert [lane.title for lane in seen.timeline.partitions] == [f"orders {n}" for n in range(6)]
    assert [lane.title for lane in seen.timeline.others] == ["brokers", "ZooKeeper"]
    assert [explanation.stall.longest.who for explanation in seen.explanations] == ["writer", "readers"]
    assert (seen.timeline.unshown, source.notes) == (0, [])


def test_each_table_that_is_torn_costs_only_its_own_part(make_run: MakeRun) -> None:
    """Without sends the cluster is still drawn, and the outages of the verdict are still explained."""
    run = make_run()
    (run.events / "sends.parquet").write_bytes(b"torn")
    source = read(run)
    seen = see(source)
    assert [flow.probe for flow in seen.timeline.traffic] == ["reader"]
    assert seen.timeline.traffic[0].latency is None
    assert len(seen.timeline.partitions) == 6
    assert [explanation.outcomes for explanation in seen.explanations] == [(), ()]
    assert len(source.notes) == 1


def test_many_probes_are_drawn_in_part(make_run: MakeRun) -> None:
    """A storm of clients does not make a page without end."""
    run = make_run()
    shape = Shape(rate=20)
    columns = sends(shape)
    names = np.array([f"w{n % 30:02d}" for n in range(len(columns["seq"]))], dtype=object)
    write_table(run, "sends", {**columns, "probe": names})
    assert len(see(read(run)).timeline.traffic) == MOST_PROBES


def test_the_outages_are_those_of_the_verdict(make_run: MakeRun) -> None:
    """What no check found is not explained, however long the hole in the plot."""
    assert see(read(make_run(verdict(findings=())))).explanations == ()
    one = outage("produce_unavailability", "writer", (0,), 30, 33)
    (only,) = see(read(make_run(verdict(findings=(one,))))).explanations
    assert only.stall.longest.began == int(ns(30))


def test_nothing_of_the_measures_comes_from_the_events(source: Source) -> None:
    """Figures are the verdict's; the events are drawn."""
    assert source.verdict.measures == measures(Shape())
    assert source.verdict.began == ZERO

"""Why a stall was as long as it was: a killed leader and a silent one read differently."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.changes import PartitionChange
from chaosk.report.explain import Explanation, explain
from chaosk.report.happenings import ClientError, Surroundings
from chaosk.report.outages import PartitionOutage
from chaosk.report.source import Source
from chaosk.report.stalls import LATE, Stall
from chaosk.report.timeline import see


def leads(at: float, leader: int, epoch: int, partition: int = 0, isr: tuple[int, ...] = (2, 3)) -> PartitionChange:
    """A change of leader or ISR of a partition of orders."""
    return PartitionChange(int(ns(at)), "orders", partition, leader, epoch, frozenset(isr), (1, 2, 3))


def explained(axis: Axis, outage: PartitionOutage, **fields: Any) -> Explanation:
    """The explanation of one outage in surroundings where only ``fields`` happened."""
    none: dict[str, Any] = {
        "faults": (), "partitions": (), "controllers": (), "brokers": (), "zookeepers": (), "quorum": (), "errors": (),
        "rebalances": (), "members": {},
    }  # fmt: skip
    return explain(Stall(outage, (outage.place,)), Counter(), Surroundings(axis=axis, **{**none, **fields}))


def outage(began: float = 10, ended: float = 21, who: str = "writer", *, censored: bool = False) -> PartitionOutage:
    """An outage of orders 0, of a producer or of the group ``readers``."""
    kind = "consume" if who == "readers" else "produce"
    return PartitionOutage(who, kind, ("orders", 0), int(ns(began)), int(ns(ended)), censored)


def test_the_time_is_split_at_the_new_leader(axis: Axis) -> None:
    """How long the cluster took to elect, and how long the client took from then."""
    found = explained(axis, outage(), partitions=(leads(0, 1, 4), leads(19.2, 2, 5)))
    assert [part.label for part in found.parts] == [
        "until broker 2 led orders 0",
        "from then until a record got through",
    ]
    assert [part.seconds for part in found.parts] == pytest.approx([9.2, 1.8])
    assert found.because == "11.0 s: 9.2 s until broker 2 led orders 0, 1.8 s from then until a record got through."


def test_parts_add_up_to_the_outage(axis: Axis) -> None:
    """Also where leadership moved just before the first send had to wait."""
    for moved in (8.5, 10.0, 15.0, 21.0):
        found = explained(axis, outage(), partitions=(leads(0, 1, 4), leads(moved, 2, 5)))
        assert sum(part.seconds for part in found.parts) == pytest.approx(11.0)
        assert all(part.seconds >= 0 for part in found.parts)


@pytest.mark.parametrize("changes", [(), (leads(0, 1, 4),), (leads(0, 1, 4), leads(40, 2, 5)), (leads(12, 1, 4),)])
def test_without_a_new_leader_it_says_so(axis: Axis, changes: tuple[PartitionChange, ...]) -> None:
    """A move long after, or the first sample of a leader, is no reason."""
    found = explained(axis, outage(), partitions=changes)
    assert len(found.parts) == 1
    assert found.because.startswith("11.0 s. Leader and ISR stayed the same")


def test_another_partitions_leader_is_no_reason(axis: Axis) -> None:
    """Only the partition that was out is asked."""
    found = explained(axis, outage(), partitions=(leads(0, 1, 4, 7), leads(19, 2, 5, 7)))
    assert len(found.parts) == 1


def test_a_partition_without_leader_in_between_still_moved(axis: Axis) -> None:
    """From 1 over none to 2 is a move; from 1 over none to 1 is none."""
    gone = (leads(0, 1, 4), leads(10.1, -1, 4))
    assert len(explained(axis, outage(), partitions=(*gone, leads(19, 2, 5))).parts) == 2
    assert len(explained(axis, outage(), partitions=(*gone, leads(19, 1, 5))).parts) == 1


def test_a_leader_that_waits_for_a_dead_follower_says_so(axis: Axis) -> None:
    """With acks=all a partition stands still, though its leader lives, until the dead broker is out of its ISR."""
    changes = (leads(0, 2, 4, isr=(1, 2, 3)), leads(19.25, 2, 4))
    found = explained(axis, outage(), partitions=changes)
    assert found.because.startswith("11.0 s: 9.2 s until broker 1 was out of the ISR of orders 0, ")


def test_an_isr_that_grows_is_no_turning_point(axis: Axis) -> None:
    """A follower that comes back lets nothing through that did not get through before."""
    grown = (leads(0, 2, 4, isr=(2,)), leads(19, 2, 4, isr=(2, 3)))
    assert explained(axis, outage(), partitions=grown).because.startswith("11.0 s. Leader and ISR stayed")


def test_readers_wait_for_the_isr_too(axis: Axis) -> None:
    """They see what is below the high watermark, and that stands still meanwhile."""
    shrunk = (leads(0, 2, 4, isr=(2, 3)), leads(19, 2, 4, isr=(2,)))
    found = explained(axis, outage(who="readers"), partitions=shrunk)
    assert found.parts[0].label == "until broker 3 was out of the ISR of orders 0"


def test_a_change_seen_just_after_the_end_is_what_ended_it(axis: Axis) -> None:
    """The cluster is sampled: the record may be through before the sample that shows why."""
    changes = (leads(0, 2, 4, isr=(1, 2, 3)), leads(21.2, 2, 4))
    found = explained(axis, outage(), partitions=changes)
    assert found.because == "11.0 s, all of it until broker 1 was out of the ISR of orders 0."
    assert any("ISR 2, 3" in happening.what for happening in found.happenings)


def test_the_last_change_counts(axis: Axis) -> None:
    """A new leader at once, which then had to wait for its ISR to shrink."""
    changes = (leads(0, 1, 4, isr=(1, 2, 3)), leads(12, 2, 5, isr=(1, 2, 3)), leads(20, 2, 5))
    assert (
        explained(axis, outage(), partitions=changes).parts[0].label == "until broker 1 was out of the ISR of orders 0"
    )


def test_a_group_that_rebalanced_says_so(axis: Axis) -> None:
    """The turning point of a consumer is when it was given partitions, if that was after the new leader."""
    fields: dict[str, Any] = {
        "rebalances": ((int(ns(12)), "a", "revoke"), (int(ns(20)), "a", "assign"), (int(ns(20)), "z", "assign")),
        "members": {"readers": frozenset("a")},
    }
    found = explained(axis, outage(who="readers"), partitions=(leads(0, 1, 4), leads(19.2, 2, 5)), **fields)
    assert found.parts[0].label == "until the group had rebalanced"
    assert found.parts[0].seconds == pytest.approx(10.0)


def test_an_open_end_is_a_lower_bound(axis: Axis) -> None:
    """What had not ended is never told as if it had."""
    found = explained(axis, outage(censored=True), partitions=(leads(0, 1, 4), leads(19.2, 2, 5)))
    assert "11.0 s or more, it had not ended when the run did" in found.because
    assert "got through" not in found.because


def test_client_errors_are_counted_by_name(axis: Axis) -> None:
    """Within the outage and of its own probe, most frequent first: what tells a refused from a silent connection."""
    errors = [ClientError(int(ns(10 + n)), "writer", "_TRANSPORT", "") for n in range(5)]
    errors += [ClientError(int(ns(12)), "writer", "_ALL_BROKERS_DOWN", "")] * 2
    errors += [ClientError(int(ns(30)), "writer", "_LATE", ""), ClientError(int(ns(12)), "other", "_OTHER", "")]
    found = explained(axis, outage(), errors=tuple(errors))
    assert found.errors == (("_TRANSPORT", 5), ("_ALL_BROKERS_DOWN", 2))


def test_the_sample_run(source: Source) -> None:
    """A whole run: the writer waited for the election, the group for its rebalance."""
    writer, readers = see(source).explanations
    assert writer.because == "11.1 s: 9.2 s until broker 2 led orders 0, 1.8 s from then until a record got through."
    assert dict(writer.outcomes) == {LATE: 1832, "_MSG_TIMED_OUT": 10}
    assert writer.errors == (("_TRANSPORT", 12),)
    assert readers.parts[0].label == "until the group had rebalanced"

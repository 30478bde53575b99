"""Lanes: who led, followed and was out, without a hole and without an overlap."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from sample_run import ns

from chaosk.report.axis import Axis
from chaosk.report.changes import Claim, PartitionChange, StateChange
from chaosk.report.lanes import (
    MOST_PARTITIONS,
    Level,
    _spans,
    broker_lane,
    mode_lane,
    most_changed,
    partition_lanes,
)


def change(at: float, leader: int, isr: set[int], partition: int = 0, topic: str = "orders") -> PartitionChange:
    """A change of a partition on brokers 1, 2 and 3."""
    return PartitionChange(int(ns(at)), topic, partition, leader, 4, frozenset(isr), (1, 2, 3))


def test_a_partition_has_a_track_for_each_replica(axis: Axis) -> None:
    """Each replica leads, follows or is out; the last state lasts until the end of what is shown."""
    (lane,) = partition_lanes([change(0, 1, {1, 2, 3}), change(9, 2, {2, 3})], axis)
    tracks = {track.label: [(span.begin, span.end, span.level) for span in track.spans] for track in lane.tracks}
    assert lane.title == "orders 0"
    assert tracks == {
        "1": [(0, 9, Level.LEADS), (9, 61, Level.OUT)],
        "2": [(0, 9, Level.FOLLOWS), (9, 61, Level.LEADS)],
        "3": [(0, 61, Level.FOLLOWS)],
    }


def test_two_leaders_at_once_are_shown_as_two(axis: Axis) -> None:
    """Broker 1, deposed at 9 s, says of itself that it leads until 30 s, and hears then that it follows."""
    second = PartitionChange(int(ns(9)), "orders", 0, 2, 5, frozenset({2, 3}), (1, 2, 3))
    third = PartitionChange(int(ns(30)), "orders", 0, 2, 5, frozenset({1, 2, 3}), (1, 2, 3))
    claims = [
        Claim(1, ("orders", 0), 4, int(ns(0)), int(ns(30))),
        Claim(2, ("orders", 0), 5, int(ns(9)), int(ns(60))),
        Claim(1, ("other", 0), 4, int(ns(0)), int(ns(60))),
    ]
    (lane,) = partition_lanes([change(0, 1, {1, 2, 3}), second, third], axis, claims)
    tracks = {track.label: [(span.begin, span.end, span.level) for span in track.spans] for track in lane.tracks}
    assert tracks["1"] == [(0, 9, Level.LEADS), (9, 30, Level.CLAIMS), (30, 61, Level.FOLLOWS)]
    assert tracks["2"] == [(0, 9, Level.FOLLOWS), (9, 61, Level.LEADS)]


def test_a_leader_that_hears_of_it_within_a_second_is_no_second_one(axis: Axis) -> None:
    """News of an election travel; and who was never deposed is the leader."""
    second = PartitionChange(int(ns(9)), "orders", 0, 2, 5, frozenset({2, 3}), (1, 2, 3))
    claims = [Claim(1, ("orders", 0), 4, 0, int(ns(9.9))), Claim(2, ("orders", 0), 5, int(ns(9)), int(ns(60)))]
    (lane,) = partition_lanes([change(0, 1, {1, 2, 3}), second], axis, claims)
    assert Level.CLAIMS not in {span.level for track in lane.tracks for span in track.spans}


def test_a_partition_without_leader_shows_none(axis: Axis) -> None:
    """Leader -1 is nobody, and no track."""
    (lane,) = partition_lanes([change(0, -1, set())], axis)
    assert [track.label for track in lane.tracks] == ["1", "2", "3"]
    assert {span.level for track in lane.tracks for span in track.spans} == {Level.OUT}


def test_a_broker_that_is_no_assigned_replica_gets_a_track(axis: Axis) -> None:
    """During a reassignment a broker outside of the first list may lead."""
    later = PartitionChange(int(ns(5)), "orders", 0, 9, 5, frozenset({9}), (9, 2, 3))
    (lane,) = partition_lanes([change(0, 1, {1}), later], axis)
    assert [track.label for track in lane.tracks] == ["1", "2", "3", "9"]


def test_of_many_partitions_the_most_changed_are_drawn(axis: Axis) -> None:
    """A hundred partitions: those to which something happened, and then the first ones, in order."""
    changes = [change(0, 1, {1}, partition) for partition in range(100)]
    changes += [change(5, 2, {2}, partition) for partition in (97, 42)]
    titles = [lane.title for lane in partition_lanes(changes, axis)]
    assert len(titles) == MOST_PARTITIONS
    assert titles[-2:] == ["orders 42", "orders 97"]
    assert titles[:3] == ["orders 0", "orders 1", "orders 2"]


def test_most_changed_does_not_depend_on_the_order_of_ties() -> None:
    """Two runs with the same events draw the same partitions."""
    changes = [change(0, 1, {1}, partition, topic) for partition in range(9) for topic in ("b", "a")]
    assert most_changed(changes, 3) == most_changed(changes[::-1], 3) == (("a", 0), ("a", 1), ("a", 2))


def test_the_controller_is_the_broker_that_leads(axis: Axis) -> None:
    """A broker that does not answer is out even if it was the controller."""
    answers = [StateChange(int(ns(at)), who, state) for at, who, state in
               ((0, 1, "answers"), (0, 2, "answers"), (10, 1, "silent"), (43, 1, "answers"))]  # fmt: skip
    moved = [StateChange(int(ns(0)), 1, "controller"), StateChange(int(ns(19)), 2, "controller")]
    lane = broker_lane(answers, moved, axis)
    assert lane is not None
    tracks = {track.label: [(span.begin, span.level) for span in track.spans] for track in lane.tracks}
    assert tracks["1"] == [(0, Level.LEADS), (10, Level.OUT), (43, Level.FOLLOWS)]
    assert tracks["2"] == [(0, Level.FOLLOWS), (19, Level.LEADS)]


def test_zookeeper_standalone_leads(axis: Axis) -> None:
    """One node alone is its own leader; a role of another version is shown as out rather than guessed."""
    modes = [StateChange(int(ns(0)), 1, "standalone"), StateChange(int(ns(5)), 1, "observer")]
    lane = mode_lane("ZooKeeper", modes, axis)
    assert lane is not None
    assert [span.level for span in lane.tracks[0].spans] == [Level.LEADS, Level.OUT]


def test_nothing_known_is_no_lane(axis: Axis) -> None:
    """A run without a watcher has no lanes."""
    assert partition_lanes([], axis) == ()
    assert broker_lane([], [], axis) is None
    assert mode_lane("ZooKeeper", [], axis) is None


@given(st.lists(st.tuples(st.integers(-20, 80), st.sampled_from(list(Level))), max_size=30))
def test_spans_neither_overlap_nor_leave_holes(levels: list[tuple[int, Level]]) -> None:
    """From the first state on every moment has one level, and equal neighbours are one span."""
    axis = Axis(int(ns(0)), int(ns(-5)), int(ns(61)))
    spans = _spans([(int(ns(at)), level) for at, level in sorted(levels)], axis)
    for one, other in itertools.pairwise(spans):
        assert one.end == other.begin
        assert one.level is not other.level
    assert all(-5 <= span.begin < span.end <= 61 for span in spans)
    if any(at < 61 for at, _ in levels):
        assert spans[-1].end == 61

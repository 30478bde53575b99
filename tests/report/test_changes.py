"""Changes: what many brokers said, as the moments at which something became different."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from sample_run import KILLED, MOVED, STARTED, ns

from chaosk.report.axis import Axis
from chaosk.report.changes import (
    _digest,
    answering,
    claims,
    controllers,
    modes,
    partition_changes,
    state_changes,
)
from chaosk.report.source import Source
from chaosk.report.tables import Frame, frames

Make = Callable[[str, list[dict[str, Any]]], Frame]
COLUMNS = ("at", "asked", "topic", "partition", "leader", "leader_epoch", "replicas", "isr")


def sample(at: float, asked: int, leader: int, epoch: int, isr: list[int], partition: int = 0) -> dict[str, Any]:
    """What a broker said of a partition; the moment in seconds."""
    return {
        "at": int(ns(at)), "asked": asked, "topic": "orders", "partition": partition, "leader": leader,
        "leader_epoch": epoch, "replicas": [1, 2, 3], "isr": isr,
    }  # fmt: skip


def test_what_stays_the_same_is_no_change(frame: Make) -> None:
    """Three brokers that say the same a hundred times say one thing."""
    rows = [sample(at / 5, asked, 1, 4, [1, 2, 3]) for at in range(100) for asked in (1, 2, 3)]
    (only,) = partition_changes([frame("partitions", rows)])
    assert (only.at, only.leader, only.isr, only.replicas) == (int(ns(0)), 1, frozenset({1, 2, 3}), (1, 2, 3))


def test_the_first_to_know_counts(frame: Make) -> None:
    """A new leader is one from when the first broker names it, though others lag."""
    rows = [sample(0, 2, 1, 4, [1, 2]), sample(0, 3, 1, 4, [1, 2])]
    rows += [sample(9.2, 3, 2, 5, [2]), sample(9.4, 2, 1, 4, [1, 2]), sample(9.6, 2, 2, 5, [2])]
    changes = partition_changes([frame("partitions", rows)])
    assert [(change.leader, change.at) for change in changes] == [(1, int(ns(0))), (2, int(ns(9.2)))]


def test_who_holds_itself_to_be_the_leader_is_kept_apart(frame: Make) -> None:
    """Two brokers that each say so of themselves, at different epochs, one of them in two batches; not who is named."""
    first = [sample(at / 5, 1, 1, 4, [1, 2]) for at in range(10)] + [sample(0, 2, 1, 4, [1, 2])]
    second = [sample(at / 5, 1, 1, 4, [1, 2]) for at in range(10, 20)]
    second += [sample(at / 5, 2, 2, 5, [2]) for at in range(8, 30)] + [sample(1.8, 3, 2, 5, [2])]
    found = claims([frame("partitions", first), frame("partitions", second)])
    assert [(one.broker, one.epoch, one.began, one.ended) for one in found] == [
        (1, 4, int(ns(0)), int(ns(3.8))),
        (2, 5, int(ns(1.6)), int(ns(5.8))),
    ]


def test_who_says_nothing_for_a_while_claims_nothing_meanwhile(frame: Make) -> None:
    """A broker that was frozen for ten seconds led in its own eyes before and after; and without samples nobody did."""
    rows = [sample(at, 1, 1, 4, [1]) for at in (0, 0.5, 11, 11.5)]
    found = claims([frame("partitions", rows)])
    assert [(one.began, one.ended) for one in found] == [
        (int(ns(0)), int(ns(0.5))),
        (int(ns(11)), int(ns(11.5))),
    ]
    assert claims([frame("partitions", [])]) == ()


def test_a_broker_that_is_cut_off_does_not_make_leadership_flap(frame: Make) -> None:
    """The old leader goes on saying that it leads; each of its answers is stale, none is a change."""
    rows = [sample(0, asked, 1, 4, [1, 2]) for asked in (1, 2)]
    rows += [sample(at, 1, 1, 4, [1, 2]) for at in range(10, 30)]
    rows += [sample(at + 0.5, 2, 2, 5, [2]) for at in range(10, 30)]
    changes = partition_changes([frame("partitions", rows)])
    assert [change.leader for change in changes] == [1, 2]


def test_a_restarted_broker_with_an_old_view_is_stale(frame: Make) -> None:
    """A report with an older leader epoch is ignored even if it is a change for the one who made it."""
    rows = [sample(0, 2, 2, 5, [2]), sample(1, 1, -1, 3, []), sample(2, 1, 1, 4, [1, 2]), sample(3, 1, 2, 5, [2])]
    assert [change.epoch for change in partition_changes([frame("partitions", rows)])] == [5]


def test_the_isr_changes_within_an_epoch(frame: Make) -> None:
    """The ISR shrinks and grows without a new leader."""
    rows = [sample(0, 2, 2, 5, [1, 2]), sample(1, 2, 2, 5, [2]), sample(2, 2, 2, 5, [1, 2])]
    changes = partition_changes([frame("partitions", rows)])
    assert [sorted(change.isr) for change in changes] == [[1, 2], [2], [1, 2]]


def test_an_empty_batch_has_no_changes(frame: Make) -> None:
    """A table may be there without a row."""
    assert partition_changes([frame("partitions", [])]) == ()


def test_the_order_of_the_isr_says_nothing(frame: Make) -> None:
    """The same brokers in another order are the same ISR."""
    rows = [sample(0, 2, 2, 5, [1, 2]), sample(1, 2, 2, 5, [2, 1])]
    assert len(partition_changes([frame("partitions", rows)])) == 1


def test_batches_do_not_repeat_what_the_one_before_ended_with(frame: Make) -> None:
    """A border between two batches is no change."""
    rows = [sample(at, asked, 1, 4, [1, 2, 3]) for at in range(10) for asked in (1, 2)]
    batches = [frame("partitions", rows[n : n + 3]) for n in range(0, len(rows), 3)]
    assert len(partition_changes(batches)) == 1


@given(st.lists(st.lists(st.integers(0, 10_000), max_size=5, unique=True), max_size=30))
def test_digests_are_equal_for_equal_sets_alone(lists: list[list[int]]) -> None:
    """The number that stands for an ISR tells different ones apart, whatever the broker ids."""
    digests = _digest(pa.array(lists, pa.list_(pa.int32()))).tolist()
    for one, first in zip(lists, digests, strict=True):
        for other, second in zip(lists, digests, strict=True):
            assert (set(one) == set(other)) == (first == second)


def test_digests_of_a_slice_are_its_own() -> None:
    """A batch may be a view into a longer one; its lists start in the middle of all values."""
    whole = pa.array([[1, 2], [3], [], [1, 2]], pa.list_(pa.int32()))
    assert _digest(whole.slice(1)).tolist() == _digest(whole).tolist()[1:]


def test_a_controller_counts_from_the_first_that_names_it(frame: Make) -> None:
    """The old one goes on naming itself; a broker that just started names none."""
    said = [(1, 0, 1), (2, 0, 1), (2, 9, 3), (1, 10, 1), (3, 11, 3), (2, 12, None), (1, 43, 3)]
    rows = [{"asked": asked, "completed": int(ns(at)), "controller": named} for asked, at, named in said]
    assert [(c.who, c.at) for c in controllers([frame("brokers", rows)])] == [(1, int(ns(0))), (3, int(ns(9)))]


def test_a_controller_that_comes_back_is_a_change(frame: Make) -> None:
    """From 1 to 3 and to 1 again are two moves."""
    rows = [{"asked": 2, "completed": int(ns(at)), "controller": named} for at, named in ((0, 1), (9, 3), (20, 1))]
    assert [change.who for change in controllers([frame("brokers", rows)])] == [1, 3, 1]


def test_a_broker_is_silent_from_the_end_of_the_attempt(frame: Make) -> None:
    """An attempt that failed says that the broker did not answer, from when that was known."""
    rows = [
        {"asked": 1, "invoked": int(ns(0)), "completed": int(ns(0.01)), "alive": [1]},
        {"asked": 1, "invoked": int(ns(10)), "completed": int(ns(10.5)), "error": "timed out"},
        {"asked": 1, "invoked": int(ns(11)), "completed": int(ns(11.5)), "error": "refused"},
    ]
    states = [(change.state, change.at) for change in answering([frame("brokers", rows)])]
    assert states == [("answers", int(ns(0.01))), ("silent", int(ns(10.5)))]


def test_zookeeper_nodes_change_their_role(frame: Make) -> None:
    """A node that does not serve has an empty role."""
    rows = [
        {"node": node, "at": int(ns(at)), "mode": mode}
        for at, node, mode in ((0, 1, "leader"), (0, 2, "follower"), (5, 1, None), (6, 2, "leader"), (7, 2, "leader"))
    ]
    changes = [(change.who, change.state) for change in modes([frame("zookeepers", rows)])]
    assert changes == [(1, "leader"), (2, "follower"), (1, ""), (2, "leader")]


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 3), st.sampled_from("ab"))))
def test_no_two_changes_of_one_in_a_row_are_the_same(rows: list[tuple[int, int, str]]) -> None:
    """Each change is one: the state before was another, and time does not run backwards."""
    changes = state_changes(rows)
    assert [change.at for change in changes] == sorted(change.at for change in changes)
    for who in {change.who for change in changes}:
        states = [change.state for change in changes if change.who == who]
        assert all(one != other for one, other in itertools.pairwise(states))


def test_the_sample_run(source: Source, axis: Axis) -> None:
    """A whole run: its leader is killed, leadership moves, the ISR shrinks and grows, and leadership comes home."""
    changes = partition_changes(frames(source.run, "partitions", *COLUMNS))
    moved = [(change.leader, round(axis.seconds(change.at), 1)) for change in changes if change.place == ("orders", 0)]
    assert moved == [(1, -5.0), (2, MOVED), (2, 44.0), (1, 50.0)]
    silent = answering(frames(source.run, "brokers", "asked", "completed", "error"))
    assert [round(axis.seconds(c.at), 1) for c in silent if c.who == 1] == [-5.0, KILLED, STARTED + 3]

"""Assignment and rebalance numbers: up exactly when a partition was taken and given again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaosk.probes._ownership import AssignmentChange, Ownership

A, B, C = ("orders", 0), ("orders", 1), ("orders", 2)


def test_the_first_assignment_is_number_zero() -> None:
    """Assignment 0 of rebalance 0."""
    assert Ownership().given([A]) == [AssignmentChange("assign", "orders", 0, 0, 0)]


def test_an_eager_rebalance_gives_everything_a_new_number() -> None:
    """All is revoked and given again: one rebalance, and every kept partition has assignment 1."""
    held = Ownership()
    held.given([A, B])
    revoked = held.taken([A, B], "revoke")
    given = held.given([A])
    assert [(change.assignment, change.rebalance) for change in revoked] == [(0, 1), (0, 1)]
    assert [(change.assignment, change.rebalance) for change in given] == [(1, 1)]
    assert held.held == {A: 1}


def test_a_cooperative_rebalance_leaves_what_is_kept_alone() -> None:
    """One partition goes, the other keeps its number; what comes later is new."""
    held = Ownership()
    held.given([A, B])
    held.taken([B], "revoke")
    assert held.given([]) == []
    assert held.held == {A: 0}
    assert held.given([C]) == [AssignmentChange("assign", "orders", 2, 0, 2)]
    assert held.held == {A: 0, C: 0}


def test_an_assign_of_what_is_held_is_no_change() -> None:
    """A manual assign of the same partitions keeps their numbers."""
    held = Ownership()
    held.given([A, B])
    assert held.given([A, B, C]) == [AssignmentChange("assign", "orders", 2, 0, 1)]
    assert held.held == {A: 0, B: 0, C: 0}


def test_lost_partitions_are_gone_as_well() -> None:
    """Lost and given again is a new assignment, in a rebalance of its own."""
    held = Ownership()
    held.given([A])
    assert held.taken([A], "lost") == [AssignmentChange("lost", "orders", 0, 0, 1)]
    assert held.latest(A) == 0
    assert not held.held
    assert held.given([A]) == [AssignmentChange("assign", "orders", 0, 1, 1)]


def test_what_is_not_held_cannot_be_taken() -> None:
    """A revocation of unknown partitions writes nothing."""
    held = Ownership()
    held.given([A])
    assert held.taken([B], "revoke") == []
    assert held.held == {A: 0}


def test_first_time_is_until_it_is_given_again() -> None:
    """Where to begin is chosen once; later assignments go by what was committed."""
    held = Ownership()
    held.given([A])
    assert held.first_time(A)
    held.taken([A], "revoke")
    held.given([A])
    assert not held.first_time(A)
    assert held.latest(B) is None


moves = st.lists(
    st.tuples(st.sampled_from(["assign", "revoke", "lost"]), st.sets(st.sampled_from([A, B, C]))), max_size=30
)


@given(moves)
def test_numbers_count_how_often_a_partition_was_given_anew(history: list[tuple[str, set[tuple[str, int]]]]) -> None:
    """Against a model: intervals never overlap, numbers rise by one, rebalances never fall."""
    held, times, open_, last = Ownership(), dict[tuple[str, int], int](), set[tuple[str, int]](), 0
    for kind, places in history:
        ordered = sorted(places)
        changes = held.given(ordered) if kind == "assign" else held.taken(ordered, kind)  # type: ignore[arg-type]
        for change in changes:
            place = (change.topic, change.partition)
            assert change.kind == kind
            assert change.rebalance >= last
            last = change.rebalance
            if kind == "assign":
                assert place not in open_
                times[place] = times.get(place, -1) + 1
                open_.add(place)
            else:
                open_.remove(place)
            assert change.assignment == times[place]
        assert set(held.held) == open_

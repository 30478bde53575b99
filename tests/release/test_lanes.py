"""Which lane runs what: a queue, the labs that are up, and what is made of refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_gate import attempt, gate

from chaosk.campaign.gate.lanes import Lane, Lanes, begun, lanes_of, leaving, left, next_place, over
from chaosk.campaign.gate.record import Attempt

Refuses = Callable[[int, int], bool]
"""Whether a lane refuses the attempt at a place."""


class Played(NamedTuple):
    """What became of a gate."""

    attempts: list[Attempt]
    lanes: Lanes
    starts: list[tuple[int, str | None]]
    """The labs that were put up, each with its lane."""


def attempts(*labs: str | None) -> list[Attempt]:
    """One for each lab, by name."""
    return [attempt(f"S{place}", exit_code=None, lab=lab) for place, lab in enumerate(labs)]


def lanes(*labs: str | None) -> Lanes:
    """One for each, with that lab up."""
    return tuple(Lane(number, lab=lab) for number, lab in enumerate(labs, 1))


def done(one: Attempt) -> Attempt:
    """The attempt, over."""
    return one.model_copy(update={"state": "done", "exit_code": 0})


def test_there_are_as_many_as_clusters_or_as_labs_were_asked_for() -> None:
    """A cluster keeps its inventory; a gate of one lane is what it always was."""
    assert lanes_of(gate()) == (Lane(1),)
    assert lanes_of(gate(inventory="/a")) == (Lane(1, "/a"),)
    assert lanes_of(gate(inventory="/a", beside=("/b",), side_by_side=2)) == (Lane(1, "/a"), Lane(2, "/b"))
    assert lanes_of(gate(side_by_side=3)) == (Lane(1), Lane(2), Lane(3))


def test_labs_of_two_lanes_are_two_labs() -> None:
    """The first lane's are called as ever; the longest name there can be still is one of a lab."""
    assert [lane.name_of("lab") for lane in lanes(None, None)] == ["lab", "lab-2"]
    assert Lane(9).name_of("c-01234567") == "c-01234567-9"


@pytest.mark.parametrize(
    ("up", "waiting", "expected"),
    [
        ("x", ["y", "x", "z", "x"], 1),
        (None, ["x", "y"], 0),
        ("q", ["x", "y"], 0),
        (None, [None, None], 0),
        ("x", [], None),
    ],
)
def test_one_lane_alone(up: str | None, waiting: list[str | None], expected: int | None) -> None:
    """What needs the lab that is up, before what comes first; a cluster of one's own is none."""
    (lane,) = lanes(up)
    assert next_place(lane, (lane,), attempts(*waiting)) == expected


def test_no_lab_is_put_up_twice_while_another_is_needed() -> None:
    """What needs one that no lane has comes before what another lane can do on its own."""
    every = lanes("x", None)
    assert next_place(every[1], every, attempts("x", "x", "x", "y")) == 3


def test_a_lane_that_would_idle_puts_up_one_more() -> None:
    """Of the shape of which most is left for each lane that has it."""
    every = lanes("x", "x", "y", None)
    assert next_place(every[3], every, attempts("x", "x", "x", "y", "y")) == 3
    assert next_place(every[3], every, attempts("x", "x", "x", "y")) == 0


def test_nothing_is_run_twice() -> None:
    """Neither what is done, nor what another lane is at; and a lane has one run at a time."""
    told = attempts("x", "x", "x")
    told[0] = done(told[0])
    every = begun(lanes("x", "x"), 1, 1, told[1])
    assert next_place(every[1], every, told) == 2
    assert next_place(every[0], every, told) is None
    assert left(every, told) == [2]


def test_what_is_to_be_run_alone_comes_last_and_alone() -> None:
    """It waits until nothing is under way, no lab stays up beside it, and then nothing is begun as long as it lasts."""
    told = [attempt(f"S{place}", exit_code=None, lab="v", alone=True) for place in range(2)] + attempts("x")
    every = lanes("x", "v")
    assert next_place(every[1], every, told) == 2, "the others first, though its own lab is up"
    every = begun(every, 1, 2, told[2])
    assert next_place(every[1], every, told) is None
    every, _ = over(every, 1, refused=False)
    told[2] = done(told[2])
    assert next_place(every[0], every, told) == 0
    assert leaving(every[0], every, told[0]) == ["x", "v-2"]
    every = begun(every, 1, 0, told[0])
    assert [lane.lab for lane in every] == ["v", None]
    assert next_place(every[1], every, told) is None
    every, _ = over(every, 1, refused=False)
    told[0] = done(told[0])
    assert leaving(every[0], every, told[1]) == []
    assert leaving(every[1], every, told[1]) == ["v"], "the same lab in another lane is another one"


def test_alone_is_no_matter_of_one_lane() -> None:
    """There nothing is beside it, and the queue is what it always was."""
    told = [attempt("A", exit_code=None, lab="v", alone=True), *attempts("x")]
    (lane,) = lanes(None)
    assert next_place(lane, (lane,), told) == 0
    assert leaving(Lane(1, lab="x"), (Lane(1, lab="x"),), told[0]) == ["x"]


def test_a_refusal_is_put_to_another_lane_first() -> None:
    """It counts only once nobody is left to be asked; the lane goes on meanwhile."""
    told = attempts(None, None, None)
    every, counts = over(begun(lanes(None, None), 1, 0, told[0]), 1, refused=True)
    assert not counts
    assert next_place(every[0], every, told) == 1
    assert next_place(every[1], every, told) == 0
    every, counts = over(begun(every, 2, 0, told[0]), 2, refused=True)
    assert counts
    assert every == lanes(None, None)


def test_who_refused_what_another_ran_is_out() -> None:
    """A cluster that is down gets nothing more, however soon it is free again."""
    told = attempts(None, None)
    every, _ = over(begun(lanes(None, None), 1, 0, told[0]), 1, refused=True)
    every, counts = over(begun(every, 2, 0, told[0]), 2, refused=False)
    assert counts
    assert [lane.out for lane in every] == [True, False]
    assert next_place(every[0], every, told) is None
    every, counts = over(begun(every, 2, 1, told[1]), 2, refused=True)
    assert counts, "the last lane is believed"


def test_a_suspect_is_asked_nothing_new() -> None:
    """Two refusals of which no other lane has said anything yet are enough, but for what others refused."""
    every, told = lanes(None, None, None), attempts(*[None] * 4)
    for place in (0, 1):
        every, _ = over(begun(every, 1, place, told[place]), 1, refused=True)
    assert next_place(every[0], every, told) is None
    every, _ = over(begun(every, 2, 3, told[3]), 2, refused=True)
    assert next_place(every[0], every, told) == 3


def played(told: Sequence[Attempt], every: Lanes, refuses: Refuses, order: Sequence[int]) -> Played:
    """All run as far as it goes, the ends of runs in that order."""
    told, starts, turn = list(told), list[tuple[int, str | None]](), 0
    while True:
        for lane in every:
            if (place := next_place(lane, every, told)) is not None:
                starts += [(lane.number, told[place].lab)] if told[place].lab != lane.lab else []
                every = begun(every, lane.number, place, told[place])
        busy = [lane for lane in every if lane.at is not None]
        if not busy:
            return Played(told, every, starts)
        assert len(busy) == 1 or not any(told[lane.at or 0].alone for lane in busy), "something is beside it"
        lane = busy[order[turn % len(order)] % len(busy)]
        turn += 1
        assert turn < 1000, "it goes on for ever"
        place = lane.at or 0
        refused = refuses(lane.number, place)
        every, counts = over(every, lane.number, refused=refused)
        if counts:
            assert told[place].state == "not run"
            told[place] = told[place].model_copy(update={"state": "done", "exit_code": 69 if refused else 0})


SOME = st.lists(st.integers(0, 7), min_size=1, max_size=12)


@given(labs=st.lists(st.sampled_from("xyzv"), max_size=12), count=st.integers(1, 4), order=SOME)
def test_all_is_run_once_and_no_lane_puts_a_lab_up_twice(labs: list[str], count: int, order: list[int]) -> None:
    """Whatever ends when, and whatever is to be run alone; and one lane alone puts every lab up once."""
    told = [one.model_copy(update={"alone": one.lab == "v"}) for one in attempts(*labs)]
    found = played(told, lanes(*[None] * count), lambda _lane, _place: False, order)
    assert [one.exit_code for one in found.attempts] == [0] * len(labs)
    assert len(found.starts) == len(set(found.starts))
    assert {lab for _, lab in found.starts} == set(labs)
    assert count > 1 or len(found.starts) == len(set(labs))
    assert not any(lane.out or lane.refused for lane in found.lanes)


@given(
    count=st.integers(1, 4),
    broken=st.sets(st.integers(1, 4)),
    unfit=st.sets(st.integers(0, 9)),
    alone=st.sets(st.integers(0, 9)),
    size=st.integers(0, 10),
    order=SOME,
)
def test_broken_clusters_and_unfit_scenarios_are_told_apart(
    count: int, broken: set[int], unfit: set[int], alone: set[int], size: int, order: list[int]
) -> None:
    """Each attempt ends as it would on a cluster that is well, if there is one; otherwise all are refused."""
    told = [one.model_copy(update={"alone": n in alone}) for n, one in enumerate(attempts(*[None] * size))]
    found = played(told, lanes(*[None] * count), lambda lane, place: lane in broken or place in unfit, order)
    well = set(range(1, count + 1)) - broken
    codes = [0 if well and place not in unfit else 69 for place in range(size)]
    assert [one.exit_code for one in found.attempts] == codes
    assert not any(lane.out for lane in found.lanes if lane.number in well)


def test_a_gate_over_all_scenarios_puts_up_one_lab_more_than_there_are_shapes() -> None:
    """Most need one shape, few the others: one lane does the others, and then helps with the first."""
    labs = ["lab"] * 60 + ["lab-5-3"] * 3 + ["k-3-3"] * 8 + ["c-1"] * 2
    found = played(attempts(*labs), lanes(None, None), lambda _lane, _place: False, [0, 1])
    assert found.starts == [(1, "lab"), (2, "lab-5-3"), (2, "k-3-3"), (2, "c-1"), (2, "lab")]

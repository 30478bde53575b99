"""Simpler sequences: fewer faults, the values written first, shorter times; all of them of the space."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import given, settings
from hypothesis import strategies as st
from sample_explore import SPACE, space

from chaosk.campaign.explore.draw import draw
from chaosk.campaign.explore.feasibility import refusal
from chaosk.campaign.explore.sequence import DrawnFault, Sequence
from chaosk.campaign.explore.smaller import smaller
from chaosk.campaign.explore.space import Space


@cache
def known() -> Space:
    """The sample space."""
    return space(Path(mkdtemp()), SPACE)


def least(sequence: Sequence, fails: Callable[[Sequence], bool]) -> tuple[Sequence, list[Sequence]]:
    """What is left of a sequence, and all that was tried."""
    tried: list[Sequence] = []
    search = smaller(known(), sequence)
    try:
        candidate = next(search)
        while True:
            tried.append(candidate)
            candidate = search.send(fails(candidate))
    except StopIteration as done:
        return done.value, tried


def move(
    number: int, fault: int, picks: tuple[int, ...] = (), lasts: float | None = None, start: float = 2.5
) -> DrawnFault:
    """One fault."""
    return DrawnFault(name=f"fault-{number}", fault=fault, picks=picks, lasts=lasts, start=start)


def test_to_the_one_fault_as_simple_as_it_can_be() -> None:
    """A cut of 12 s and more fails, whatever else there is: it alone is left, hardly longer than that."""
    sequence = (move(1, 1, (1,), 4.0), move(2, 0, (1,), 19.0), move(3, 3), move(4, 2, (0,)))
    found, tried = least(sequence, lambda some: any(one.fault == 0 and (one.lasts or 0) >= 12 for one in some))
    assert [one.name for one in found] == ["fault-2"]
    assert found[0].picks == (0,)
    assert 12.0 <= (found[0].lasts or 0) <= 14.0
    assert found[0].start == 1.0
    assert len(tried) < 14


def test_what_it_takes_stays() -> None:
    """The second value, the whole duration, both faults in their order: nothing simpler fails, nothing changes."""
    sequence = (move(1, 1, (1,), 4.0), move(2, 0, (1,), 19.0))
    assert least(sequence, lambda some: some == sequence)[0] == sequence


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.data())
def test_all_that_is_tried_is_of_the_space(seed: int, data: st.DataObject) -> None:
    """Whatever fails: valid scenarios, from the same values, no longer than what was found, and it ends."""
    sequence = draw(known(), seed, 1, refusal(known(), None)).sequence
    found, tried = least(sequence, lambda some: data.draw(st.booleans()))
    for some in (found, *tried):
        assert refusal(known(), None)(some) is None
        by_name = {one.name: one for one in sequence}
        assert [one.name for one in some] == [name for name in by_name if name in {one.name for one in some}]
        for one in some:
            was = by_name[one.name]
            span = known().faults[one.fault].lasts
            assert (one.fault, len(one.picks)) == (was.fault, len(was.picks))
            assert one.start <= was.start
            if span is not None:
                assert span.min <= (one.lasts or 0) <= (was.lasts or 0)

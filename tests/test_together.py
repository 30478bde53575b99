"""Several asked at the same time."""

from __future__ import annotations

import threading

import pytest

from chaosk.core.errors import HostError
from chaosk.core.parallel import parallel_map


def test_all_are_asked_before_any_has_answered() -> None:
    """Forty that wait for each other: none waits for its turn, and answers stand in the order of the questions."""
    meeting = threading.Barrier(40, timeout=20)

    def ask(number: int) -> int:
        meeting.wait()
        return -number

    assert parallel_map(ask, range(40)) == [-number for number in range(40)]


def test_nobody_is_asked() -> None:
    """No question is no answer, not an error."""
    assert parallel_map(str, []) == []


def test_the_first_that_fails_is_raised_after_all_have_answered() -> None:
    """An error of one hides no work of the others: they are done when it is raised."""
    done: list[int] = []

    def ask(number: int) -> None:
        if number in {1, 3}:
            raise HostError(f"node{number}", "away")
        done.append(number)

    with pytest.raises(HostError, match="node1"):
        parallel_map(ask, range(5))
    assert sorted(done) == [0, 2, 4]

"""Watching over a run: the first stop condition that holds stops it, soon, and once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar, cast

import pytest
from pydantic import PrivateAttr

from chaosk.errors import ClusterError
from chaosk.run.monitor import Monitor
from chaosk.runrecord import Breach
from chaosk.stop_conditions._contract import Seen, Sight, StopCondition

SIGHT = cast("Sight", object())


class Asked(StopCondition):
    """Answers what a function says."""

    example: ClassVar[str] = ""
    _answer: Callable[[], Seen | None] = PrivateAttr()

    def look(self, sight: Sight) -> Seen | None:
        """Ask it."""
        return self._answer()


def asked(answer: Callable[[], Seen | None]) -> Asked:
    """A condition that asks a function."""
    condition = Asked()
    condition._answer = answer
    return condition


def breaches(*conditions: StopCondition, within: float = 1.0) -> list[Breach]:
    """What the monitor decided, after some time."""
    found: list[Breach] = []
    heard = threading.Event()

    def stop(breach: Breach) -> None:
        found.append(breach)
        heard.set()

    monitor = Monitor(conditions, SIGHT, stop)
    monitor.start()
    heard.wait(within)
    time.sleep(0.2)
    monitor.end()
    return found


def test_the_first_one_stops_the_run_once() -> None:
    """Two hold at the same time: one breach, with what was seen and when."""
    two = [asked(lambda: Seen(5, "too bad")) for _ in range(2)]
    (found,) = breaches(*two)
    assert (found.what, found.at) == ("too bad", 5)
    assert found.condition == "test_monitor"
    assert found.healed is None


def test_it_looks_again_and_again_and_decides_soon() -> None:
    """What turns bad later is seen within a pause, and decided at once: well under a second."""
    bad = time.monotonic_ns() + 500_000_000

    def look() -> Seen | None:
        return Seen(bad, "bad") if time.monotonic_ns() >= bad else None

    (found,) = breaches(asked(look), within=2.0)
    assert 0 <= found.decided - found.at < 300_000_000


def test_one_that_waits_delays_no_other() -> None:
    """Each has a thread of its own."""
    never = threading.Event()
    slow = asked(lambda: cast("Any", never.wait(5)) and None)
    began = time.monotonic()
    assert [each.what for each in breaches(slow, asked(lambda: Seen(1, "bad")))] == ["bad"]
    assert time.monotonic() - began < 1.0
    never.set()


def test_who_cannot_tell_stops_nothing() -> None:
    """A cluster that does not answer is no breach by itself; it is asked again."""
    times: list[int] = []

    def look() -> Seen | None:
        times.append(1)
        raise ClusterError("no broker answers")

    assert breaches(asked(look), within=0.5) == []
    assert len(times) >= 3


def test_a_defect_in_a_condition_stops_the_run() -> None:
    """A run that nobody watches any more must not go on as if somebody did."""

    def look() -> Seen | None:
        raise KeyError("oops")

    (found,) = breaches(asked(look))
    assert "a defect in it, so nobody watches: KeyError: 'oops'" in found.what


def test_after_the_end_nothing_is_decided() -> None:
    """An answer that comes late is heard by nobody."""
    found: list[Breach] = []
    answering = threading.Event()

    def look() -> Seen | None:
        answering.wait(5)
        return Seen(1, "bad")

    monitor = Monitor([asked(look)], SIGHT, found.append)
    monitor.start()
    monitor.end()
    answering.set()
    time.sleep(0.3)
    assert found == []


@pytest.mark.parametrize("count", [0, 1])
def test_a_run_may_have_none(count: int) -> None:
    """Nothing to watch, nothing that ends it."""
    assert breaches(*[asked(lambda: None)] * count, within=0.3) == []

"""Watching over a run: the first stop condition that holds stops it, soon, and once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar, cast

import pytest
from pydantic import PrivateAttr

from chaosk.core.errors import ClusterError
from chaosk.run import monitor as module
from chaosk.run.monitor import Monitor
from chaosk.rundir.record import Breach
from chaosk.spec.contracts.stop_condition import StopCondition, StopConditionInputs, StopReason

SIGHT = cast("StopConditionInputs", object())


class Asked(StopCondition):
    """Answers what a function says."""

    example: ClassVar[str] = ""
    _answer: Callable[[], StopReason | None] = PrivateAttr()

    def look(self, sight: StopConditionInputs) -> StopReason | None:
        """Ask it."""
        return self._answer()


def asked(answer: Callable[[], StopReason | None]) -> Asked:
    """A condition that asks a function."""
    condition = Asked()
    condition._answer = answer
    return condition


def breaches(*conditions: StopCondition, within: float = 1.0) -> list[Breach]:
    """What the monitor decided, after some time."""
    stop, said = threading.Event(), list[str]()
    monitor = Monitor(conditions, SIGHT, stop, said.append)
    assert monitor.words is None
    monitor.start()
    stop.wait(within)
    time.sleep(0.2)
    monitor.end()
    assert stop.is_set() == (monitor.breach is not None) == (len(said) == 1)
    return [monitor.breach] if monitor.breach is not None else []


def test_the_first_one_stops_the_run_once() -> None:
    """Two hold at the same time: one breach, with what was seen and when."""
    two = [asked(lambda: StopReason(5, "too bad")) for _ in range(2)]
    (found,) = breaches(*two)
    assert (found.what, found.at) == ("too bad", 5)
    assert found.condition == "test_monitor"
    assert found.healed is None


def test_it_looks_again_and_again_and_decides_soon() -> None:
    """What turns bad later is seen within a pause, and decided at once: well under a second."""
    bad = time.monotonic_ns() + 500_000_000

    def look() -> StopReason | None:
        return StopReason(bad, "bad") if time.monotonic_ns() >= bad else None

    (found,) = breaches(asked(look), within=2.0)
    assert 0 <= found.decided - found.at < 900_000_000


def test_one_that_waits_delays_no_other() -> None:
    """Each has a thread of its own."""
    never = threading.Event()
    slow = asked(lambda: cast("Any", never.wait(20)) and None)
    began = time.monotonic()
    assert [each.what for each in breaches(slow, asked(lambda: StopReason(1, "bad")))] == ["bad"]
    assert time.monotonic() - began < 10
    never.set()


def test_who_cannot_tell_stops_nothing() -> None:
    """A cluster that does not answer is no breach by itself; it is asked again."""
    times: list[int] = []

    def look() -> StopReason | None:
        times.append(1)
        raise ClusterError("no broker answers")

    assert breaches(asked(look), within=0.5) == []
    assert len(times) >= 3


def test_a_defect_in_a_condition_stops_the_run() -> None:
    """A run that nobody watches any more must not go on as if somebody did."""

    def look() -> StopReason | None:
        raise KeyError("oops")

    (found,) = breaches(asked(look))
    assert "its evaluation failed: KeyError: 'oops'" in found.what


def test_after_the_end_nothing_is_decided() -> None:
    """An answer that comes late is heard by nobody."""
    answering = threading.Event()

    def look() -> StopReason | None:
        answering.wait(5)
        return StopReason(1, "bad")

    stop = threading.Event()
    monitor = Monitor([asked(look)], SIGHT, stop, print)
    monitor.start()
    monitor.end()
    answering.set()
    time.sleep(0.3)
    assert (monitor.breach, stop.is_set()) == (None, False)


def test_a_run_that_ends_already_ends_as_it_does() -> None:
    """After Ctrl-C what comes true is no abort: the run was interrupted."""
    stop = threading.Event()
    stop.set()
    monitor = Monitor([asked(lambda: StopReason(1, "bad"))], SIGHT, stop, print)
    monitor.start()
    time.sleep(0.2)
    monitor.healed()
    assert (monitor.breach, monitor.words) == (None, None)


def test_who_cannot_look_for_long_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch that sees nothing is no watch; one look that says something starts the patience anew."""
    monkeypatch.setattr(module, "BLIND", 0.5)
    times: list[float] = []

    def look() -> StopReason | None:
        times.append(time.monotonic())
        if len(times) == 4:
            return None
        raise ClusterError("no broker answers")

    (found,) = breaches(asked(look), within=3.0)
    assert "s: no broker answers" in found.what
    assert times[-1] - times[3] >= 0.5


def test_the_moment_of_healing_is_noted() -> None:
    """After the decision, once everything is undone; the words are those of the verdict."""
    stop = threading.Event()
    monitor = Monitor([asked(lambda: StopReason(1, "bad"))], SIGHT, stop, print)
    monitor.start()
    assert stop.wait(20)
    monitor.healed()
    assert monitor.breach is not None
    assert monitor.breach.healed is not None
    assert monitor.breach.healed >= monitor.breach.decided
    assert monitor.words == "ABORTED BY GUARD test_monitor: bad"


@pytest.mark.parametrize("count", [0, 1])
def test_a_run_may_have_none(count: int) -> None:
    """Nothing to watch, nothing that ends it."""
    assert breaches(*[asked(lambda: None)] * count, within=0.3) == []

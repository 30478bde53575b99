"""What stop conditions look at: the topics of others, what probes did lately, signs of life of hosts."""

from __future__ import annotations

import threading
import time
from typing import cast

import pytest

from chaosk.cluster.foreign import Foreign
from chaosk.core.errors import HostError, StepError
from chaosk.run import stop_condition_inputs as module
from chaosk.run.stop_condition_inputs import HostWatch, ProbeHistory, RunStopConditionInputs
from chaosk.run.watcher.state import StrainedState, WatcherState
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.stop_condition import OperationCounts


def probe(ok: int = 0, fail: int = 0, info: int = 0, errors: int = 0) -> ProbeState:
    """The writer, as far as it got."""
    return ProbeState(probe="writer", kind="produce", running=True, ok=ok, fail=fail, info=info, errors=errors)


class Clock:
    """A clock that a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 100.0
        monkeypatch.setattr(module, "now", lambda: int(self.seconds * 1e9))


def test_changes_are_counted_over_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the look of that many seconds ago until now; whatever is neither ok nor pending is bad."""
    clock, states = Clock(monkeypatch), [probe(ok=10, fail=1)]
    history = ProbeHistory(lambda: (states[0],))
    assert history.changes(5.0) is None
    clock.seconds, states[0] = 103.0, probe(ok=20, fail=2, info=3)
    assert history.changes(5.0) is None
    clock.seconds, states[0] = 105.0, probe(ok=21, fail=4, info=3, errors=5)
    assert history.changes(5.0) == (105_000_000_000, (OperationCounts("writer", 11, 11),))
    assert history.changes(2.0) == (105_000_000_000, (OperationCounts("writer", 1, 7),))


def test_a_probe_that_was_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts from nothing again, and so did whoever came later."""
    clock = Clock(monkeypatch)
    states: list[tuple[ProbeState, ...]] = [(probe(ok=100, fail=9),)]
    history = ProbeHistory(lambda: states[0])
    history.changes(1.0)
    clock.seconds, states[0] = 101.0, (probe(ok=3, fail=1), probe(ok=2).model_copy(update={"probe": "late"}))
    assert history.changes(1.0) == (101_000_000_000, (OperationCounts("writer", 3, 1), OperationCounts("late", 2, 0)))


def test_the_history_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute is kept, in looks a tenth of a second apart."""
    clock = Clock(monkeypatch)
    history = ProbeHistory(lambda: (probe(),))
    for _ in range(5000):
        clock.seconds += 0.04
        history.changes(60.0)
    assert len(history._seen) < 650
    assert history.changes(60.0) is not None


class Known(Foreign):
    """`ours` was made by chaosk; every other topic needs two replicas."""

    def __init__(self) -> None:
        """Asks nobody."""

    def is_foreign(self, topic: str) -> bool:
        """All but one."""
        return topic != "ours"

    def least(self, topic: str) -> int:
        """Two."""
        return 2


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """It is 5 s after the beginning of time."""
    clock = Clock(monkeypatch)
    clock.seconds = 5.0
    return clock


def sight(states: list[WatcherState | None]) -> RunStopConditionInputs:
    """Of a watcher that says these, one after the other."""
    hosts = HostWatch(Hosts(), (), frozenset)
    return RunStopConditionInputs(lambda: states.pop(0), Known(), ProbeHistory(lambda: ()), hosts)


def watched(at: float, *strained: tuple[str, int]) -> WatcherState:
    """A state with these topics' partition 0 strained, led by whom."""
    return WatcherState(
        at=int(at * 1e9), controller=0, alive=(0, 1), silent=(), topics=(), zookeepers={},
        strained=tuple(
            StrainedState(topic=topic, partition=0, leader=leader, in_sync=1, replicas=3) for topic, leader in strained
        ),
    )  # fmt: skip


def test_topics_of_others_with_what_they_need() -> None:
    """Not those that chaosk made for other scenarios; nothing before the watcher's first look."""
    seen = sight([None, watched(1, ("ours", 0), ("payments", 1))])
    assert seen.strained() is None
    found = seen.strained()
    assert found is not None
    assert found[0] == 1_000_000_000
    assert [(one.name, one.in_sync, one.replicas, one.least) for one in found[1]] == [("payments-0", 1, 3, 2)]


def test_how_long_a_partition_is_offline() -> None:
    """From the first look that found it without a leader; a leader in between starts that anew."""
    leaders = [(1, -1), (2, -1), (4, -1), (5, 2), (6, -1), (7, -1)]
    seen = sight([watched(at, ("payments", leader)) for at, leader in leaders])
    found = [look[1][0].offline for _ in leaders if (look := seen.strained()) is not None]
    assert found == [0.0, 1.0, 3.0, 0.0, 0.0, 1.0]


def test_old_news_is_no_news(early: Clock) -> None:
    """A watcher that says nothing any more is not taken at its last word."""
    early.seconds = 100.0
    with pytest.raises(StepError, match="the watcher has reported nothing for 6 s"):
        sight([watched(94)]).strained()
    assert sight([watched(96)]).strained() is not None


class Hosts:
    """A transport: `node2` refuses, `node3` hangs."""

    def __init__(self) -> None:
        """Nobody was asked yet."""
        self.release = threading.Event()
        self.asked: list[str] = []

    def run(self, command: Command) -> Result:
        """Answer, refuse or hang."""
        self.asked.append(command.host)
        if command.host == "node2":
            raise HostError("node2", "connection refused")
        if command.host == "node3":
            self.release.wait(20)
        return cast("Result", None)

    def close(self) -> None:
        """Nothing to close."""


def test_hosts_that_do_not_answer() -> None:
    """All are asked at the same time, and nobody waits longer than was asked; each has its reason."""
    hosts = Hosts()
    watch = HostWatch(hosts, ("node1", "node2", "node3"), frozenset)
    began = time.monotonic()
    _, silent = watch.unreachable(0.3)
    assert time.monotonic() - began < 10
    assert silent == {"node2": "node2: connection refused", "node3": "not within 0.3 s"}
    hosts.release.set()
    watch.close()


def test_hosts_in_the_hands_of_a_fault_are_spared() -> None:
    """Before they are asked, and also if the fault has come while it was waited."""
    held = iter([frozenset({"node3"}), frozenset({"node2", "node3"})])
    hosts = Hosts()
    watch = HostWatch(hosts, ("node1", "node2", "node3"), lambda: next(held))
    assert watch.unreachable(0.3)[1] == {}
    assert sorted(hosts.asked) == ["node1", "node2"]
    watch.close()

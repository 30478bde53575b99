"""Who may join the faults that stand: counted from when it is let in until nothing of it is left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from fake_live import FakeLive, inventory, state

from chaosk.core.errors import ClusterError, StepError
from chaosk.planning.blast_radius import excesses
from chaosk.planning.resolve import aim
from chaosk.run import admission as module
from chaosk.run.admission import Admission
from chaosk.spec.allow import Allow
from chaosk.spec.contracts.live import ForeignPartition
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.scenario import Entry

NONE: tuple[ForeignPartition, ...] = ()


def aimed(name: str, kind: str, **fields: object) -> tuple[PreparedFault, Entry]:
    """An entry and its fault on the fake cluster."""
    entry = Entry.model_validate({"name": name, kind: fields})
    return aim(entry, inventory(), FakeLive(), 1, "run"), entry


def admission(
    allow: Allow | None = None, foreign: Callable[[], tuple[ForeignPartition, ...]] = lambda: NONE, here: str = ""
) -> Admission:
    """Over a cluster of three."""
    return Admission(inventory(), allow or Allow(), foreign, frozenset({here}) if here else frozenset())


def test_live_targets_count_together() -> None:
    """The ZooKeeper leader and a follower are two of three: the second one is refused, in words that name the first."""
    door = admission()
    door.admit(*aimed("one", "kill_zookeeper", target="zookeeper leader"))
    with pytest.raises(StepError, match=r"two: refused before anything was done with one in place: .*no majority"):
        door.admit(*aimed("two", "kill_zookeeper", target="zookeeper follower"))


def test_what_is_over_counts_no_more() -> None:
    """Forgotten, and so is what was refused: it never counted."""
    door = admission()
    door.admit(*aimed("one", "kill_zookeeper", target="zookeeper leader"))
    for _ in range(2):
        with pytest.raises(StepError):
            door.admit(*aimed("two", "kill_zookeeper", target="zookeeper follower"))
    door.forget({"one", "somebody"})
    door.admit(*aimed("two", "kill_zookeeper", target="zookeeper follower"))


def test_the_scenario_lifts_a_limit() -> None:
    """With a reason."""
    door = admission(Allow(zookeeper_majority="to see it"))
    door.admit(*aimed("all", "kill_zookeeper", target="zookeepers"))


def test_topics_of_others_are_asked_for_when_something_is_harmed() -> None:
    """As they are now; a wait asks nobody."""
    asked: list[int] = []

    def foreign() -> tuple[ForeignPartition, ...]:
        asked.append(1)
        return (ForeignPartition(state=state(0, 0, (0, 1, 2)), least=3),)

    door = admission(foreign=foreign)
    door.admit(*aimed("wait", "wait", duration="1s"))
    assert asked == []
    with pytest.raises(StepError, match=r"orders-0 \(2 in sync, 3 needed\).*allow: \{foreign_under_min_isr: WHY\}"):
        door.admit(*aimed("kill", "kill_broker", target="broker 2"))
    assert asked == [1]


def test_nobody_knows_is_a_refusal() -> None:
    """Where the cluster does not tell, no fault joins on trust."""

    def silent() -> tuple[ForeignPartition, ...]:
        raise ClusterError("no broker answers")

    with pytest.raises(StepError, match="its harm to topics outside the scenario is unknown"):
        admission(foreign=silent).admit(*aimed("kill", "kill_broker", target="broker 2"))


def test_contradictions_are_refused() -> None:
    """Two hands on the same broker, behind different words; what ends the first one may come."""
    door = admission()
    door.admit(*aimed("kill", "kill_broker", target="leader(orders, 1)"))
    with pytest.raises(StepError, match="the process of broker 1 on node2 is already affected by kill"):
        door.admit(*aimed("freeze", "pause_broker", target="broker 1"))
    door.admit(*aimed("start", "start_broker", target="broker 1"))


def test_the_machine_that_chaosk_runs_on() -> None:
    """A leader's host may turn out to be it."""
    cut = aimed("cut", "cut_network", between=["host(leader(orders, 0))", "everyone else"])
    admission(here="node2").admit(*cut)
    with pytest.raises(StepError, match="node1 is the machine that chaosk runs on"):
        admission(here="node1").admit(*cut)


def test_two_at_the_same_moment_are_not_let_in_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be fine alone: exactly one of them is, however long it takes to look at it."""

    def slowly(*words: Any) -> Any:
        time.sleep(0.05)
        return excesses(*words)

    monkeypatch.setattr(module, "excesses", slowly)
    faults = [aimed(f"kill{number}", "kill_zookeeper", target=f"zookeeper {number}") for number in (1, 2, 3)]
    for _ in range(3):
        door, refused, start = admission(), list[str](), threading.Barrier(3)

        def enter(fault: PreparedFault, entry: Entry, door: Admission = door, start: threading.Barrier = start) -> None:
            start.wait()
            try:
                door.admit(fault, entry)
            except StepError as error:
                refused.append(str(error))  # noqa: B023 - the thread ends before the next round

        threads = [threading.Thread(target=enter, args=one) for one in faults]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 2

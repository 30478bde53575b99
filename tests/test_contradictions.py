"""Which faults cannot be in place at the same time."""

from __future__ import annotations

from fake_live import FakeLive, inventory

from chaosk.planning.conflicts import contradiction
from chaosk.planning.resolve import aim
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.scenario import Entry, steps


def fault(name: str, kind: str, **fields: object) -> PreparedFault:
    """A fault as it would be aimed on the fake cluster."""
    entry = Entry.model_validate({"name": name, kind: fields})
    return aim(entry, inventory(), FakeLive(), 1, "run")


def told(new: PreparedFault, *standing: PreparedFault) -> str | None:
    """What is said against it."""
    return contradiction(new, steps()[new.step].ends, standing)


KILL = fault("kill", "kill_broker", target="broker 1")


def test_two_steps_on_one_process() -> None:
    """Whatever they do to it; and not on another broker, nor on the ZooKeeper node beside it."""
    why = told(fault("freeze", "pause_broker", target="broker 1"), KILL)
    assert why is not None
    assert "the process of broker 1 on node2 is already affected by kill (kill_broker)" in why
    assert "after: {entry: kill, is: healed}" in why
    assert told(fault("freeze", "pause_broker", target="broker 2"), KILL) is None
    assert told(fault("stop", "stop_zookeeper", target="zookeeper 2"), KILL) is None
    assert told(fault("again", "restart_broker", target="brokers"), KILL) is not None


def test_a_start_ends_a_kill_if_it_ends_all_of_it() -> None:
    """Starting one of two that a kill keeps dead contradicts it; what is frozen cannot be started."""
    both = fault("both", "kill_broker", target="followers(orders, 0)")
    start = fault("start", "start_broker", target="broker 1")
    assert told(start, KILL) is None
    why = told(start, both)
    assert why is not None
    assert "would end a part of both only (kill_broker), which needs broker 2 on node3 as well" in why
    assert told(start, fault("freeze", "pause_broker", target="broker 1")) is not None


def test_a_process_may_be_started_behind_a_cut() -> None:
    """A cut holds the network, not the processes."""
    cut = fault("cut", "cut_network", between=["host(broker 1)", "everyone else"])
    assert told(fault("start", "start_broker", target="broker 1"), cut, KILL) is None
    assert told(KILL, cut) is None


def test_two_cuts_of_one_pair() -> None:
    """In either order of the groups; cuts that share only one side are two."""
    one = fault("one", "cut_network", between=["broker 0", ["broker 1", "broker 2"]])
    why = told(fault("two", "cut_network", between=["broker 2", "broker 0"], direction="in"), one)
    assert why is not None
    assert "the network between broker 0 on node1 and broker 2 on node3" in why
    assert told(fault("two", "cut_network", between=["broker 1", "broker 2"]), one) is None


def test_one_probe_in_two_hands() -> None:
    """It cannot be killed while it is stopped; starting it is what ends that."""
    stop = fault("stop", "stop_probe", probe="writer")
    assert told(fault("kill", "kill_probe", probe="writer"), stop) is not None
    assert told(fault("kill", "kill_probe", probe="reader"), stop) is None
    assert told(fault("start", "start_probe", probe="writer"), stop) is None


def test_what_holds_nothing_contradicts_nothing() -> None:
    """A wait, an election: any number of them at a time."""
    wait = fault("wait", "wait", duration="1s")
    assert told(fault("again", "wait", duration="1s"), wait) is None
    assert told(fault("elect", "elect_leader", topic="orders"), KILL, wait) is None

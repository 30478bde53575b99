"""Hands: deeds become commands, elections and signals; who cannot answer does not confirm."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from chaosk.core.errors import ClusterError, ConnectionLost, StepError
from chaosk.run.clock import Interrupted
from chaosk.run.executor import Executor
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.live import Live
from chaosk.spec.contracts.step import (
    AddPartitions,
    Configure,
    Deed,
    DeleteTopic,
    Elect,
    Fact,
    Look,
    MakeTopic,
    Operation,
    Pause,
    Reassign,
    Run,
    Signal,
)
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.inventory import Inventory
from chaosk.spec.topic_shape import TopicShape

INVENTORY = Inventory.model_validate(
    {
        "name": "mine",
        "hosts": {"node1": {"address": "192.0.2.1"}},
        "brokers": {
            1: {
                "host": "node1",
                "service": {"systemd": "kafka.service"},
                "listeners": {"CLIENT": {"address": "192.0.2.1", "port": 9092}},
            }
        },
    }
)


BROKER = Entity(kind="broker", name="1")


@dataclass
class Shell:
    """A transport that answers each program by a table: exit status and output, or an error to raise."""

    answers: dict[str, Any] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)

    def run(self, command: Command) -> Result:
        """Look the program up."""
        self.ran.append(command.argv[0])
        answer = self.answers.get(command.argv[0], (0, ""))
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Exception):
            raise answer
        status, out = answer
        return Result(
            command=command, exit_status=status, stdout=out, stderr="", sent=0, received=1, host_started=0, host_ended=1
        )

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Cluster:
    """A live cluster of which one broker answers or not."""

    up: bool = True

    def brokers(self) -> tuple[int, ...]:
        """The members."""
        return (1,) if self.up else ()

    def settings(self, entity: Entity) -> dict[str, str]:
        """Two of broker 1; nobody can tell if the cluster is down."""
        if not self.up:
            raise ClusterError("no broker answers")
        return {"a": "1", "b": "2"} if entity == BROKER else {}

    def broker_answers(self, broker: int) -> bool:
        """Whether it answers; nobody can tell if the cluster is down."""
        if not self.up:
            raise ClusterError("no broker answers")
        return True


@dataclass
class Rig:
    """Hands over a shell and a cluster, and what they were asked."""

    shell: Shell = field(default_factory=Shell)
    cluster: Cluster = field(default_factory=Cluster)
    operations: list[Operation] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)

    def hands(self) -> Executor:
        """The hands."""
        return Executor(INVENTORY, self.shell, cast("Live", self.cluster), self.operations.append, self.signals.append)


@pytest.fixture
def rig() -> Rig:
    """Everything answers and succeeds."""
    return Rig()


NEVER = threading.Event()


def command(word: str) -> Command:
    """A command of one word."""
    return Command(host="node1", argv=(word,))


def test_a_run_deed_runs_its_command(rig: Rig) -> None:
    """Once, and a status of 0 is all it takes."""
    rig.hands().do(Run(command=command("stop")), NEVER)
    assert rig.shell.ran == ["stop"]


def test_a_command_that_fails_is_an_error_with_host_program_and_output(rig: Rig) -> None:
    """The message tells the operator where to look."""
    rig.shell.answers["stop"] = (5, "Unit not found")
    with pytest.raises(StepError, match=r"node1: `stop` ended with 5: Unit not found"):
        rig.hands().do(Run(command=command("stop")), NEVER)


def test_operations_and_signals_go_to_whom_they_concern(rig: Rig) -> None:
    """Neither is a command on a host."""
    elect = Elect(topic="orders", election="preferred")
    reassign = Reassign(topic="orders", replicas=(1, 2))
    configure = Configure(settings=Settings(of=BROKER, values={"a": "1"}))
    add = AddPartitions(topic="orders", count=3)
    delete = DeleteTopic(topic="orders", identity="id")
    make = MakeTopic(shape=TopicShape(topic="orders"))
    signal = Signal(probe="writer", action="kill")
    operations: list[Deed] = [elect, reassign, configure, add, delete, make]
    for deed in (*operations, signal):
        rig.hands().do(deed, NEVER)
    assert (rig.operations, rig.signals, rig.shell.ran) == (operations, [signal], [])


def test_a_pause_takes_its_time_and_can_be_interrupted(rig: Rig) -> None:
    """It lasts as long as it says, unless the run is told to stop."""
    began = time.monotonic()
    rig.hands().do(Pause(seconds=0.2), NEVER)
    assert time.monotonic() - began >= 0.2
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        rig.hands().do(Pause(seconds=60), stop)


def test_a_fact_as_a_deed_is_waited_for(rig: Rig) -> None:
    """It is asked again until it holds."""
    rig.shell.answers["gone"] = [(1, "still there"), (1, "still there"), (0, "")]
    rig.hands().do(Fact(says="it is gone", query=command("gone"), within=5.0), NEVER)
    assert len(rig.shell.ran) == 3


def test_a_fact_that_never_holds_fails_the_deed_with_what_was_seen(rig: Rig) -> None:
    """Its words and the last evidence are in the message."""
    rig.shell.answers["gone"] = (1, "pid 42 is there")
    with pytest.raises(StepError, match=r"not seen within 0.2 s: it is gone \(pid 42 is there\)"):
        rig.hands().do(Fact(says="it is gone", query=command("gone"), within=0.2), NEVER)


def test_a_fact_without_a_time_is_asked_once(rig: Rig) -> None:
    """`before` facts are about now."""
    rig.shell.answers["gone"] = (1, "")
    answer = rig.hands().confirm(Fact(says="it is gone", query=command("gone")), NEVER)
    assert (answer.holds, answer.waited, answer.seen, rig.shell.ran) == (False, False, "status 1", ["gone"])


@pytest.mark.parametrize("ready", [True, False])
def test_a_fact_that_had_to_be_waited_for_says_so(rig: Rig, *, ready: bool) -> None:
    """What holds at the first look has held since before it; what comes true later has not."""
    rig.shell.answers["gone"] = [(0, "now")] if ready else [(1, "not yet"), (0, "now")]
    answer = rig.hands().confirm(Fact(says="it is gone", query=command("gone"), within=20), NEVER)
    assert (answer.holds, answer.seen, answer.waited) == (True, "now", not ready)


def test_a_no_beyond_doubt_is_not_asked_again(rig: Rig) -> None:
    """Who is refused for good, somebody else's topic say, hears it at once and not after all the time there is."""
    rig.shell.answers["mine"] = [(1, "not heard of it"), (1, "theirs")]
    began = time.monotonic()
    answer = rig.hands().confirm(Fact(says="it is mine", query=command("mine"), within=60, doubt=0.3), NEVER)
    assert (answer.holds, answer.seen) == (False, "theirs")
    assert 0.3 <= time.monotonic() - began < 30


def test_who_cannot_answer_is_asked_for_longer(rig: Rig) -> None:
    """That is no answer to be believed, and a no from before it is in doubt again."""
    gone = ConnectionLost("node1: gone")
    rig.shell.answers["mine"] = [(1, ""), gone, (1, ""), gone, gone, gone, gone, gone, (0, "mine")]
    answer = rig.hands().confirm(Fact(says="it is mine", query=command("mine"), within=60, doubt=0.2), NEVER)
    assert (answer.holds, answer.seen) == (True, "mine")


@pytest.mark.parametrize("error", [ConnectionLost("node1: gone"), StepError("node1: what?")])
def test_a_host_that_cannot_be_asked_does_not_confirm(rig: Rig, error: Exception) -> None:
    """No answer is a no with the reason, never a yes and never a crash of the run."""
    rig.shell.answers["gone"] = error
    answer = rig.hands().ask(Fact(says="it is gone", query=command("gone")))
    assert (answer.holds, answer.seen) == (False, str(error))


def test_a_condition_is_asked_of_the_cluster(rig: Rig) -> None:
    """Facts may be conditions, by their text."""
    fact = Fact(says="broker 1 is up", query="broker_up(1)")
    assert rig.hands().ask(fact).holds
    rig.cluster.up = False
    answer = rig.hands().ask(fact)
    assert not answer.holds
    assert answer.seen


@pytest.mark.parametrize(
    ("values", "holds", "seen"),
    [
        ({"a": "1"}, True, "a=1 for broker 1"),
        ({"a": "1", "c": None}, True, "a=1, no c for broker 1"),
        ({"a": "2"}, False, "a=1 for broker 1"),
        ({"a": None}, False, "a=1 for broker 1"),
    ],
)
def test_settings_are_so_or_not(rig: Rig, values: dict[str, str | None], holds: bool, seen: str) -> None:  # noqa: FBT001
    """Those that are asked about, each with its value, or not set at all; what was seen is the evidence."""
    fact = Fact(says="it is so", query=Settings(of=BROKER, values=values))
    assert rig.hands().ask(fact) == Answer(holds=holds, seen=seen)
    rig.cluster.up = False
    assert not rig.hands().ask(fact).holds


def test_a_look_is_handed_on(rig: Rig) -> None:
    """To whom a run has for it; without a run nobody would read of it."""
    looks: list[Look] = []
    hands = replace(rig.hands(), look=looks.append)
    hands.do(Look(entry="now"), NEVER)
    assert looks == [Look(entry="now")]
    with pytest.raises(StepError, match="now: there is no run"):
        rig.hands().do(Look(entry="now"), NEVER)

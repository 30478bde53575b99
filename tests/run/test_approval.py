"""Asking before an entry acts: what is shown, what an answer does, and that it hits whom it was shown to hit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import pytest
import yaml
from fake_live import FakeLive, inventory, kraft_inventory, state
from sample_inventory import secured

from chaosk.core.errors import ChaoskError, StepError
from chaosk.planning.example_cluster import ExampleCluster
from chaosk.planning.resolve import aim, freeze
from chaosk.run.approval import CHANGED, Approval, Question, Skipped
from chaosk.run.timeline_clock import TimelineClock
from chaosk.rundir.decision import Decision, What
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.contracts.target import Scene
from chaosk.spec.expression import parse_target
from chaosk.spec.scenario import Entry, steps

NOT_ON_A_FAKE = {"crash_kernel", "power_off", "reboot"}
"""Steps that need more of a host than the inventory of these tests says."""


@dataclass
class Answers:
    """Gives answers one by one, and notes what it was asked."""

    answers: list[What]
    pace: TimelineClock
    meanwhile: Callable[[], None] = lambda: None
    asked: list[Question] = field(default_factory=list)
    ended: str | None = None

    def attach(self, write: Callable[[Decision], None]) -> None:
        """Nothing is written here."""

    def decide(self, question: Question, halt: threading.Event) -> Decision:
        """The next answer; the timeline must stand still."""
        assert self.pace.stands
        self.asked.append(question)
        self.meanwhile()
        return Decision(at=1, wall=0, who="anna", what=self.answers.pop(0), entry=question.entry)


def entry(**step: object) -> Entry:
    """A timeline entry."""
    return Entry.model_validate(
        {"name": "a", "for": "30s", **(step or {"pause_broker": {"target": "leader(orders, 0)"}})}
    )


def settle(answers: Answers, live: FakeLive, one: Entry) -> PreparedFault:
    """What is to be injected."""
    asking = Approval(answers, answers.pace, inventory())
    return asking.settled(one, lambda: aim(one, inventory(), live, 1, "run"), threading.Event())


def test_the_question_shows_target_commands_and_undo() -> None:
    """As they will be: nothing symbolic is left."""
    answers = Answers(["go"], TimelineClock())
    fault = settle(answers, FakeLive(), entry())
    (asked,) = answers.asked
    assert asked.targets == ("broker 0 on node1",)
    assert asked.does[0].endswith("STOP")
    assert "CONT" in asked.undoes[0]
    assert asked.lasts == "30s"
    assert asked.lease == "1m on node1, renewed while the run lives"
    assert [node.id for node in fault.targets] == ["0"]
    assert not answers.pace.stands


def test_a_skip_is_told_with_its_name() -> None:
    """Nothing is injected."""
    with pytest.raises(Skipped, match="by anna, 1970-01-01T00:00:00Z"):
        settle(Answers(["skip"], TimelineClock()), FakeLive(), entry())


def test_a_target_that_moved_meanwhile_is_asked_about_again() -> None:
    """A go is for those that were shown: the new leader is shown first."""
    live = FakeLive()
    answers = Answers(["go", "go"], TimelineClock())

    def move() -> None:
        live.states = (state(0, 1, (0, 1, 2)), *live.states[1:])

    answers.meanwhile = move
    fault = settle(answers, live, entry())
    assert [asked.targets for asked in answers.asked] == [("broker 0 on node1",), ("broker 1 on node2",)]
    assert [asked.again for asked in answers.asked] == ["", CHANGED]
    assert [node.id for node in fault.targets] == ["1"]


def test_a_target_that_is_gone_meanwhile_fails_the_entry() -> None:
    """As it does without a question."""
    live = FakeLive()
    answers = Answers(["go"], TimelineClock())

    def lose() -> None:
        live.states = (state(0, -1, (0, 1, 2), ()), *live.states[1:])

    answers.meanwhile = lose
    with pytest.raises(StepError, match="is nothing at the moment"):
        settle(answers, live, entry())


def test_a_wait_asks_nobody() -> None:
    """It does nothing to anybody."""
    answers = Answers([], TimelineClock())
    settle(answers, FakeLive(), Entry.model_validate({"name": "a", "wait": {"duration": "1s"}}))
    assert answers.asked == []


@pytest.mark.parametrize("name", sorted(steps()))
def test_aimed_twice_at_the_same_it_is_the_same(name: str) -> None:
    """Of every step: else a go would be asked for again and again."""
    example = yaml.safe_load(steps()[name].example)
    one = Entry.model_validate({"name": "a", name: example[name]})
    faults = []
    for cluster in (secured(inventory()), kraft_inventory()):
        scene = Scene(cluster, ExampleCluster(cluster), Random(0))  # noqa: S311 - one of many
        with suppress(ChaoskError):
            aims = {text: parse_target(text).resolve(scene) for text in one.step.targets()}
            faults.append((freeze(one, cluster, aims, "run"), freeze(one, cluster, aims, "run")))
    assert all(first == second for first, second in faults)
    assert faults or name in NOT_ON_A_FAKE

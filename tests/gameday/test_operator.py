"""The desk: one question at a time, its time limit, and every decision written down once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from chaosk.core.errors import EventLogError
from chaosk.run.approval import Question
from chaosk.run.clock import Interrupted
from chaosk.run.gameday import operator as module
from chaosk.run.gameday.operator import Operator
from chaosk.rundir.decision import Decision


def question(name: str) -> Question:
    """A question about an entry."""
    return Question(name, "pause_broker", "x", ("broker 1",), ("stop",), ("go on",), "30s", "")


@dataclass
class Asked:
    """Questions asked in threads of their own, as the timeline does, and what came of each."""

    desk: Operator
    stop: threading.Event
    written: list[Decision] = field(default_factory=list)
    ends: dict[str, str] = field(default_factory=dict)
    threads: list[threading.Thread] = field(default_factory=list)

    def ask(self, name: str) -> None:
        """Ask, and wait until the desk knows."""

        def work() -> None:
            try:
                self.ends[name] = self.desk.decide(question(name), self.stop).what
            except Interrupted:
                self.ends[name] = "interrupted"

        before = self.desk.open
        waiting = 0 if before is None else before.behind + 1
        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()
        while (now := self.desk.open) is None or now.behind < waiting:
            time.sleep(0.01)

    def end(self) -> dict[str, str]:
        """What came of each."""
        for thread in self.threads:
            thread.join(10)
        return self.ends


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """A desk that may be answered at once."""
    monkeypatch.setattr(module, "READ_FIRST", 0.0)
    stop = threading.Event()
    found = Asked(Operator("anna", 60.0, stop), stop)
    found.desk.attach(found.written.append)
    yield found
    stop.set()
    found.end()


def test_questions_are_answered_one_after_the_other(asked: Asked) -> None:
    """Two that are due at once: each gets its own answer, in the order in which they came."""
    asked.ask("a")
    asked.ask("b")
    opened = asked.desk.open
    assert opened is not None
    assert (opened.question.entry, opened.behind) == ("a", 1)
    assert asked.desk.answer("go")
    assert asked.desk.answer("skip")
    assert asked.end() == {"a": "go", "b": "skip"}
    assert [(one.who, one.what, one.entry) for one in asked.written] == [("anna", "go", "a"), ("anna", "skip", "b")]


def test_a_key_that_was_pressed_twice_answers_one_question(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next question must have been there for a moment before it takes an answer."""
    asked.ask("a")
    asked.ask("b")
    assert asked.desk.answer("go")
    monkeypatch.setattr(module, "READ_FIRST", 30.0)
    assert not asked.desk.answer("go")
    assert asked.desk.open is not None


def test_without_a_question_there_is_nothing_to_answer(asked: Asked) -> None:
    """A key too early is no answer to what comes later."""
    assert not asked.desk.answer("go")
    asked.ask("a")
    assert asked.desk.open is not None


def test_nobody_answers_in_time() -> None:
    """The run is told to stop, as by Ctrl-C, and why is written down."""
    stop, written = threading.Event(), list[Decision]()
    desk = Operator("anna", 0.2, stop)
    desk.attach(written.append)
    with pytest.raises(Interrupted):
        desk.decide(question("a"), stop)
    assert stop.is_set()
    assert [(one.what, one.entry, one.text) for one in written] == [("unanswered", "a", "no answer within 0.2 s")]
    assert "no answer in time" in (desk.ended or "")


def test_a_note_gives_the_question_its_time_anew(asked: Asked) -> None:
    """Who writes notes has not walked away."""
    asked.ask("a")
    first = asked.desk.open
    time.sleep(0.1)
    asked.desk.note("still looking")
    second = asked.desk.open
    assert first is not None
    assert second is not None
    assert second.asked > first.asked
    assert (asked.written[-1].what, asked.written[-1].entry, asked.written[-1].text) == ("note", "a", "still looking")


def test_a_stop_ends_every_question(asked: Asked) -> None:
    """And is written down once, however often the key is pressed."""
    asked.ask("a")
    asked.ask("b")
    asked.desk.stop()
    asked.desk.stop()
    assert asked.end() == {"a": "interrupted", "b": "interrupted"}
    assert [one.what for one in asked.written] == ["stop"]
    assert not asked.desk.answer("go")


def test_a_signal_is_written_down_later_than_it_is_heard(asked: Asked) -> None:
    """Its handler takes no lock; whoever asks next for the reason finds it."""
    asked.desk.hear("SIGHUP")
    assert asked.written == []
    assert "connection was lost" in (asked.desk.ended or "")
    assert (asked.written[0].what, asked.desk.lost) == ("lost", True)


def test_what_was_said_before_there_is_a_record_is_kept() -> None:
    """A note while the lab is put up lands in the record all the same."""
    desk, written = Operator("anna", 60.0, threading.Event()), list[Decision]()
    desk.note("early")
    desk.attach(written.append)
    assert [one.text for one in written] == ["early"]


def test_a_record_that_cannot_be_written_stops_no_healing() -> None:
    """A full disk, of all times now."""
    stop = threading.Event()
    desk = Operator("anna", 60.0, stop)

    def full(decision: Decision) -> None:
        raise EventLogError("no space")

    desk.attach(full)
    desk.stop()
    assert stop.is_set()


def test_after_the_run_nothing_is_decided(asked: Asked) -> None:
    """A terminal that goes away while the report is made: the run was not interrupted by it."""
    asked.desk.close()
    asked.desk.stop("lost", "x")
    assert asked.written == []
    assert asked.desk.ended is None
    assert asked.desk.lost

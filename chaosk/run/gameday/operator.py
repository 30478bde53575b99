"""The desk between a run and its operator: the open question, its time limit, and the decisions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from chaosk.core.errors import ChaoskError
from chaosk.run.approval import Question
from chaosk.run.clock import Interrupted, now
from chaosk.rundir.decision import Decision, What

log = structlog.get_logger()

READ_FIRST = 0.5
"""Seconds before a question can be answered, so that a repeated key press does not answer the next question."""
_LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Open:
    """The question to answer now."""

    question: Question
    asked: int
    """When, in monotonic nanoseconds; a note restarts it."""
    within: float
    """Time limit in seconds."""
    behind: int = 0
    """Number of further questions in the queue."""

    @property
    def left(self) -> float:
        """Seconds until the run is healed and stopped for lack of an answer."""
        return self.within - (now() - self.asked) / 1e9


class Operator:
    """Asks one operator; usable from any thread. See :class:`chaosk.run.approval.Decider`."""

    def __init__(self, operator: str, within: float, stop: threading.Event) -> None:
        """``within``: seconds for each answer; ``stop`` is set to have the run healed and stopped."""
        self.operator = operator
        self._within = within
        self._stop = stop
        self._lock = threading.RLock()
        self._waiting: list[tuple[Question, threading.Event]] = []
        self._asked = self._shown = 0
        self._answers: dict[str, Decision] = {}
        self._kept: list[Decision] = []
        self._write: Callable[[Decision], None] | None = None
        self._ended: str | None = None
        self._signal: str | None = None
        self._lost = self._over = False

    # --- the run's side -----------------------------------------------------------------------------------------------

    def attach(self, write: Callable[[Decision], None]) -> None:
        """Write down decisions from now on, and first the earlier ones."""
        with self._lock:
            self._write = write
            for decision in self._kept:
                self._put(decision)

    def decide(self, question: Question, halt: threading.Event) -> Decision:
        """Wait for go or skip; without an answer in time the run is healed and stopped. Raises Interrupted."""
        answered = threading.Event()
        with self._lock:
            self._waiting.append((question, answered))
            if len(self._waiting) == 1:
                self._begin()
        try:
            while not answered.wait(_LOOK):
                if halt.is_set():
                    raise Interrupted("the run was told to stop")
                self._mind_the_time(question)
            return self._answers.pop(question.entry)
        finally:
            with self._lock:
                if any(one is answered for _, one in self._waiting):
                    self._done(answered)

    @property
    def ended(self) -> str | None:
        """Reason why the operator stopped the run; None if it was not the operator."""
        self.mind_signals()
        return self._ended

    @property
    def lost(self) -> bool:
        """True if the operator's connection was lost."""
        return self._lost

    @property
    def over(self) -> bool:
        """True if the run is over, so that no decision is left."""
        return self._over

    def close(self) -> None:
        """End the run's part: later decisions are not written down."""
        self.mind_signals()
        self._over = True

    # --- the operator's side ------------------------------------------------------------------------------------------

    @property
    def open(self) -> Open | None:
        """The question to answer now; None if there is none."""
        with self._lock:
            if not self._waiting:
                return None
            return Open(self._waiting[0][0], self._asked, self._within, len(self._waiting) - 1)

    @property
    def stopping(self) -> bool:
        """True if the run was told to stop."""
        return self._stop.is_set()

    def answer(self, what: What) -> bool:
        """Answer the open question with go or skip; return False if there is none, or the answer is too early."""
        with self._lock:
            if not self._waiting or self.stopping or now() - self._shown < READ_FIRST * 1e9:
                return False
            question, answered = self._waiting[0]
            self._answers[question.entry] = self._said(what, question.entry)
            self._done(answered)
            answered.set()
            return True

    def note(self, text: str) -> None:
        """Keep a note; the time limit of an open question restarts."""
        with self._lock:
            self._said("note", self._about(), text)
            self._asked = now()

    def stop(self, what: What = "stop", text: str | None = None) -> None:
        """Have the run healed and stopped; writes down each reason once."""
        self._lost = self._lost or what == "lost"
        with self._lock:
            if not self._over and not any(decision.what == what for decision in self._kept):
                decision = self._said(what, self._about(), text)
                self._ended = self._ended or f"interrupted by {decision.sentence()}"
        self._stop.set()

    def hear(self, signal: str) -> None:
        """Remember a signal; called from its handler, so it takes no lock and writes nothing."""
        self._signal = self._signal or signal

    def mind_signals(self) -> None:
        """Write down the meaning of the last signal, if it was one of the operator's."""
        signal, self._signal = self._signal, None
        if signal == "SIGHUP":
            self.stop("lost", "SIGHUP")
        elif signal == "SIGINT":
            self.stop("stop", "Ctrl-C")

    # --- inside -------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._asked = self._shown = now()

    def _done(self, answered: threading.Event) -> None:
        self._waiting = [one for one in self._waiting if one[1] is not answered]
        self._begin()

    def _about(self) -> str | None:
        return self._waiting[0][0].entry if self._waiting else None

    def _mind_the_time(self, question: Question) -> None:
        opened = self.open
        if opened is not None and opened.question is question and opened.left <= 0:
            self.stop("unanswered", f"no answer within {self._within:g} s")

    def _said(self, what: What, entry: str | None, text: str | None = None) -> Decision:
        decision = Decision(at=now(), wall=time.time_ns(), who=self.operator, what=what, entry=entry, text=text)
        self._kept.append(decision)
        self._put(decision)
        return decision

    def _put(self, decision: Decision) -> None:
        """Write a decision down if possible: a full disk must not keep a run from healing."""
        log.info("decision", **decision.model_dump())
        if self._write is not None:
            try:
                self._write(decision)
            except ChaoskError as error:
                log.warning("decision", problem=str(error))

"""Watches facts about a fault that no host can watch itself: those about probes and the cluster.

Each fault has its own thread: one that hangs delays no renewal, no other fault and no undo.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from chaosk.run.clock import now
from chaosk.run.lasting import FactCheck
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.step import Fact

EVERY = 5.0
"""Seconds between two rounds; the same interval as on hosts."""


class Vigil(threading.Thread):
    """Evaluates each of some facts once a round, until it is ended."""

    def __init__(
        self, facts: tuple[Fact, ...], ask: Callable[[Fact], Answer], tell: Callable[[FactCheck], None]
    ) -> None:
        """``ask`` evaluates a fact once; ``tell`` is called in this thread with the look."""
        super().__init__(name="vigil", daemon=True)
        self._facts = facts
        self._ask = ask
        self._tell = tell
        self._ended = threading.Event()

    def run(self) -> None:
        """Evaluate the facts until ended."""
        while not self._ended.wait(EVERY):
            for fact in self._facts:
                if self._ended.is_set():
                    return
                self._tell(look(fact, self._ask))

    def end(self) -> None:
        """End the thread; a hanging request is not waited for."""
        self._ended.set()


def look(fact: Fact, ask: Callable[[Fact], Answer]) -> FactCheck:
    """Evaluate a fact once, with its time."""
    began = now()
    try:
        answer = ask(fact)
    except Exception as error:  # noqa: BLE001 - the connection may be closed by then, as nothing waits for this thread
        answer = Answer(holds=False, seen=f"{type(error).__name__}: {error}", answered=False)
    return as_look(fact, answer, began)


def as_look(fact: Fact, answer: Answer, began: int, *, by_host: bool = False) -> FactCheck:
    """Return an answer as a look, requested between ``began`` and now."""
    holds = answer.holds if answer.answered else None
    return FactCheck(fact.says, began, now(), holds, answer.seen, by_host=by_host, remedy=fact.remedy)

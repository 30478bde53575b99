"""Asking again and again, in a thread of its own."""

from __future__ import annotations

import threading
import time

import pytest

from chaosk.run import vigil
from chaosk.run.lasting import FactCheck
from chaosk.run.vigil import Vigil
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.step import Fact

FACT = Fact(says="probe writer is frozen", query="probe_frozen(writer)")


def test_asks_until_it_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer is told with its time; who could not be asked says neither yes nor no."""
    monkeypatch.setattr(vigil, "EVERY", 0.02)
    answers = [Answer(holds=True, seen="frozen"), Answer(holds=False, seen="broke", answered=False)]
    looks: list[FactCheck] = []
    came = threading.Event()

    def tell(look: FactCheck) -> None:
        looks.append(look)
        if len(looks) == 2:
            came.set()

    it = Vigil((FACT,), lambda _: answers[min(len(looks), 1)], tell)
    it.start()
    assert came.wait(5)
    it.end()
    it.join(5)
    told = len(looks)
    time.sleep(0.1)
    assert len(looks) == told
    assert [(look.says, look.holds, look.seen) for look in looks[:2]] == [
        (FACT.says, True, "frozen"), (FACT.says, None, "broke"),
    ]  # fmt: skip
    assert all(look.earliest <= look.latest for look in looks)


def test_nobody_waits_for_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end is that of a thread which may hang for as long as it likes."""
    monkeypatch.setattr(vigil, "EVERY", 0.02)
    asked, go_on = threading.Event(), threading.Event()

    def ask(_: Fact) -> Answer:
        asked.set()
        go_on.wait(5)
        return Answer(holds=True, seen="")

    it = Vigil((FACT, FACT), ask, lambda _: None)
    it.start()
    assert asked.wait(5)
    began = time.monotonic()
    it.end()
    assert time.monotonic() - began < 1.0
    go_on.set()
    it.join(5)
    assert not it.is_alive()

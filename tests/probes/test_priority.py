"""The sending thread's priority: taken where it may be, and kept to that thread."""

from __future__ import annotations

import os
import threading

import pytest

from chaosk.probes._priority import go_first


def policy() -> int:
    """The calling thread's scheduling policy."""
    return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK


def test_without_the_right_to_it_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without privileges gets an ordinary thread, and no error."""

    def refuse(*_words: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    before = policy()
    go_first()
    assert policy() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="the right to it is root's")
def test_only_the_thread_that_asks_goes_first() -> None:
    """Threads that it starts, and the one that started it, stay ordinary."""
    seen: list[int] = []

    def sender() -> None:
        go_first()
        seen.append(policy())
        child = threading.Thread(target=lambda: seen.append(policy()))
        child.start()
        child.join()

    thread = threading.Thread(target=sender)
    thread.start()
    thread.join()
    if seen[0] == os.SCHED_OTHER:
        pytest.skip("this container does not allow real-time threads")
    assert seen == [os.SCHED_RR, os.SCHED_OTHER]
    assert policy() == os.SCHED_OTHER

"""Keeping a lease alive: how often, and when it counts as lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from chaosk.core.errors import ConnectionLost, HostError
from chaosk.run.renewal import Renewal


def wait(holds: Callable[[], bool]) -> bool:
    """Wait up to five seconds."""
    end = time.monotonic() + 5
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


class Host:
    """Answers each renewal with what a test put into `answers`, the last one again and again."""

    def __init__(self, *answers: str | Exception | None) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self) -> str | None:
        """The next answer."""
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_renews_three_times_as_often_as_needed_until_it_is_ended() -> None:
    """Two renewals in a row may fail; none comes after the end."""
    host = Host(None)
    renewal = Renewal(host, "a lease", 0.3)
    renewal.start()
    assert wait(lambda: host.asked >= 4)
    renewal.end()
    renewal.join(5)
    asked = host.asked
    time.sleep(0.3)
    assert (host.asked, renewal.lost) == (asked, None)


def test_a_refusal_loses_it_at_once_and_is_not_asked_again() -> None:
    """A host that has healed itself does not take the lease back."""
    host = Host(None, "node1: the lease has run out")
    renewal = Renewal(host, "a lease", 0.06)
    renewal.start()
    renewal.join(5)
    assert (host.asked, renewal.lost) == (2, "node1: the lease has run out")


def test_a_host_that_answers_again_in_time_has_lost_nothing() -> None:
    """One broken connection is no reason to distrust the fault."""
    host = Host(ConnectionLost("reset"), None)
    renewal = Renewal(host, "a lease", 0.6)
    renewal.start()
    assert wait(lambda: host.asked >= 4)
    renewal.end()
    assert renewal.lost is None


def test_silence_for_as_long_as_the_lease_loses_it() -> None:
    """Nobody knows whether the host has healed itself: it had the time to."""
    host = Host(HostError("node1", "cannot be reached"))
    renewal = Renewal(host, "a lease", 0.15)
    renewal.start()
    assert wait(lambda: renewal.lost is not None)
    renewal.end()
    assert renewal.lost is not None
    assert "not renewed for 0.15 s" in renewal.lost
    assert "node1: cannot be reached" in renewal.lost


def test_a_long_lease_is_renewed_every_few_seconds_all_the_same() -> None:
    """Or a halt would be heard of only after a third of it."""
    renewal = Renewal(Host(None), "a lease", 3600.0)
    assert renewal._every <= 5.0


def test_what_is_lost_after_the_end_is_not_lost() -> None:
    """A renewal under way while the lease is disarmed is refused, and means nothing."""
    asked, go_on = threading.Event(), threading.Event()

    def renew() -> str | None:
        asked.set()
        go_on.wait(5)
        return "there is no lease"

    renewal = Renewal(renew, "a lease", 0.03)
    renewal.start()
    assert asked.wait(5)
    renewal.end()
    go_on.set()
    renewal.join(5)
    assert renewal.lost is None

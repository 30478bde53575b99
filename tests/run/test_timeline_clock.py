"""The clock of a timeline: it stands still while somebody is asked, and what waits on it waits longer."""

from __future__ import annotations

import threading
import time

import pytest

from chaosk.run.clock import Interrupted, now
from chaosk.run.timeline_clock import TimelineClock


def test_it_is_this_machines_clock_as_long_as_nobody_asks() -> None:
    """To the nanosecond: without a game day nothing changes."""
    pace, before = TimelineClock(), now()
    assert before <= pace.now() <= now()


def test_it_stands_still_and_goes_on_from_there() -> None:
    """What passed meanwhile is missing, however many made it stand still at once."""
    pace = TimelineClock()
    with pace.still():
        at = pace.now()
        with pace.still():
            time.sleep(0.05)
        assert pace.now() == at
        stood = pace.stands
        time.sleep(0.05)
    assert (stood, pace.stands) == (True, False)
    assert pace.now() >= at
    assert now() - pace.now() >= 100_000_000


def test_who_waits_for_a_moment_waits_longer() -> None:
    """By as long as it stood still."""
    pace, began = TimelineClock(), now()
    held = pace.still()
    held.__enter__()
    threading.Timer(0.4, held.__exit__, (None, None, None)).start()
    pace.wait_for(lambda: False, 0.2, threading.Event())
    assert (now() - began) / 1e9 >= 0.6


def test_a_condition_has_its_time_without_the_question() -> None:
    """Its timeout does not run out while the timeline stands still; it may come true meanwhile."""
    pace, asked = TimelineClock(), now()
    with pace.still():
        assert pace.wait_for(lambda: now() - asked > 300_000_000, 0.1, threading.Event())
    assert not pace.wait_for(lambda: False, 0.1, threading.Event())


def test_a_stop_is_heard_while_it_stands_still() -> None:
    """Nobody has to answer first."""
    pace, stop = TimelineClock(), threading.Event()
    stop.set()
    with pace.still(), pytest.raises(Interrupted):
        pace.wait_for(lambda: False, 1000.0, stop)

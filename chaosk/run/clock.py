"""The monotonic clock of this machine, and waiting that an interruption ends at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from chaosk.core.errors import ChaoskError

TICK = 0.1
"""Polling interval in seconds."""


class Interrupted(ChaoskError):  # noqa: N818 - the word of the field
    """The run was told to stop while something waited."""


def now() -> int:
    """Return the nanoseconds of the monotonic clock, the clock of every event."""
    return time.monotonic_ns()


def sleep_until(moment: int, stop: threading.Event) -> None:
    """Wait until ``moment`` (monotonic nanoseconds); raises Interrupted when ``stop`` is set first."""
    while (left := (moment - now()) / 1e9) > 0:
        if stop.wait(min(left, 1.0)):
            raise Interrupted("the run was told to stop")
    if stop.is_set():
        raise Interrupted("the run was told to stop")


def wait_for(holds: Callable[[], bool], within: float, stop: threading.Event) -> bool:
    """Poll until it holds (True) or ``within`` seconds are over (False); raises Interrupted if ``stop`` is set."""
    end = now() + int(within * 1e9)
    while not holds():
        if now() >= end:
            return False
        sleep_until(min(end, now() + int(TICK * 1e9)), stop)
    return True

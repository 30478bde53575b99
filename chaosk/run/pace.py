"""The clock of a timeline: that of this machine, but it stands still while somebody is asked what to do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chaosk.run.clock import TICK, Interrupted, now


class Pace:
    """Nanoseconds like those of the monotonic clock, behind it by as long as it stood still; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing = 0
        self._since = 0
        self._behind = 0

    def now(self) -> int:
        """The time of the timeline; that of the monotonic clock as long as it never stood still."""
        with self._lock:
            return (self._since if self._standing else now()) - self._behind

    @property
    def stands(self) -> bool:
        """Whether it stands still."""
        return self._standing > 0

    @contextmanager
    def still(self) -> Iterator[None]:
        """It stands still until this is over, and until everything is over that made it stand still meanwhile."""
        with self._lock:
            if not self._standing:
                self._since = now()
            self._standing += 1
        try:
            yield
        finally:
            with self._lock:
                self._standing -= 1
                if not self._standing:
                    self._behind += now() - self._since

    def sleep_until(self, moment: int, stop: threading.Event) -> None:
        """Wait until it is ``moment``; raises Interrupted when ``stop`` is set first."""
        while (left := (moment - self.now()) / 1e9) > 0:
            if stop.wait(TICK if self.stands else min(left, 1.0)):
                raise Interrupted("the run was told to stop")
        if stop.is_set():
            raise Interrupted("the run was told to stop")

    def wait_for(self, holds: Callable[[], bool], within: float, stop: threading.Event) -> bool:
        """Ask until it holds or ``within`` seconds are over; raises Interrupted when ``stop`` is set."""
        end = self.now() + int(within * 1e9)
        while not holds():
            if self.now() >= end:
                return False
            if stop.wait(TICK):
                raise Interrupted("the run was told to stop")
        return True

"""The clock of a timeline: this machine's, paused while a question to the operator is open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chaosk.run.clock import TICK, Interrupted, now


class TimelineClock:
    """A clock in nanoseconds, behind the monotonic clock by the time it was paused; usable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._standing = 0
        self._since = 0
        self._behind = 0

    def now(self) -> int:
        """Return the time of the timeline; equal to the monotonic clock if it was never paused."""
        with self._lock:
            return (self._since if self._standing else now()) - self._behind

    @property
    def stands(self) -> bool:
        """True while it is paused."""
        return self._standing > 0

    @contextmanager
    def still(self) -> Iterator[None]:
        """Pause the clock until the last of all overlapping contexts ends."""
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

    def wait_for(self, holds: Callable[[], bool], within: float, stop: threading.Event) -> bool:
        """Poll until it holds (True) or ``within`` seconds are over (False); raises Interrupted if ``stop`` is set."""
        end = self.now() + int(within * 1e9)
        while not holds():
            if self.now() >= end:
                return False
            if stop.wait(TICK):
                raise Interrupted("the run was told to stop")
        return True

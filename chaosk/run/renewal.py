"""Keeping something alive on a host for as long as this process lives: a thread that says so again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from chaosk.core.errors import ChaoskError
from chaosk.run.clock import now

log = structlog.get_logger()

PER_LEASE = 3
"""Times that a lease is renewed before it would run out: two may fail."""
OFTEN = 5.0
"""Seconds between two renewals at the most, so that a halt is heard of soon."""


def _nobody(why: str) -> None:
    """Tells nobody."""


class Renewal(threading.Thread):
    """Calls ``renew`` three times as often as needed, until it is ended or the host says that it is too late."""

    def __init__(
        self, renew: Callable[[], str | None], name: str, seconds: float, tell: Callable[[str], None] = _nobody
    ) -> None:
        """``renew`` says why the host refuses, None if it does not; it raises ChaoskError where there is no answer.

        ``tell`` is called, in this thread, with why it was lost.
        """
        super().__init__(name=f"renew {name}", daemon=True)
        self._renew = renew
        self._every = min(seconds / PER_LEASE, OFTEN)
        self._seconds = seconds
        self._tell = tell
        self._ended = threading.Event()
        self._last = now()
        self.lost: str | None = None
        """Why it was not renewed in time, in words; None while it is alive, as far as is known."""

    @property
    def left(self) -> float:
        """Seconds until what it keeps alive would end if it were not renewed any more."""
        return self._seconds - (now() - self._last) / 1e9

    def run(self) -> None:
        """Renew until ended."""
        while not self._ended.wait(self._every):
            asked = now()
            try:
                refused = self._renew()
            except ChaoskError as error:
                log.warning("renewal", what=self.name, problem=str(error))
                if self.lost is None and now() - self._last > self._seconds * 1e9:
                    self._lose(f"not renewed for {self._seconds:g} s: {error}")
                continue
            if refused is not None:
                self._lose(refused)
                return
            self._last = asked

    def end(self) -> None:
        """Stop renewing."""
        self._ended.set()

    def _lose(self, why: str) -> None:
        if not self._ended.is_set():
            self.lost = why
            log.warning("lost", what=self.name, why=why)
            self._tell(why)

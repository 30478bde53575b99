"""A thread that renews a lease or lock on a host while this process lives."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from chaosk.core.errors import ChaoskError
from chaosk.run.clock import now

log = structlog.get_logger()

PER_LEASE = 3
"""Renewals within the duration of a lease: two may fail."""
OFTEN = 5.0
"""Maximum seconds between two renewals, so that a halt is noticed soon."""


def _nobody(why: str) -> None:
    """Drop the reason."""


class Renewal(threading.Thread):
    """Calls ``renew`` at a third of the lease's duration, until it is ended or the host refuses."""

    def __init__(
        self, renew: Callable[[], str | None], name: str, seconds: float, tell: Callable[[str], None] = _nobody
    ) -> None:
        """``renew`` returns the host's reason for a refusal, else None; it raises ChaoskError if there is no answer.

        ``tell`` is called in this thread with the reason of a loss.
        """
        super().__init__(name=f"renew {name}", daemon=True)
        self._renew = renew
        self._every = min(seconds / PER_LEASE, OFTEN)
        self._seconds = seconds
        self._tell = tell
        self._ended = threading.Event()
        self._last = now()
        self.lost: str | None = None
        """Reason why it was not renewed in time; None while it is believed alive."""

    @property
    def left(self) -> float:
        """Seconds until the lease expires without renewal."""
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

"""Records without an outcome, with the times at which they were passed to the client."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

_FORGET_AFTER = 1 << 16  # finished records before they are dropped, which copies the rest


class Outstanding:
    """Sequence numbers in the order in which they were sent, with a mark for those that have an outcome.

    Records are sent in batches of one moment each, so a batch is stored as its first number and that moment. Each
    record takes one byte, and the part before the oldest record without an outcome is dropped.
    """

    def __init__(self) -> None:
        self._first = 0  # the number of the first byte
        self._done = bytearray()
        self._over = 0  # number of leading bytes that are set
        self._starts, self._times = array("q"), array("q")

    @property
    def next(self) -> int:
        """The next number to be sent."""
        return self._first + len(self._done)

    def sent(self, count: int, at: int) -> None:
        """Note that the next ``count`` records were passed to the client at ``at``."""
        self._starts.append(self.next)
        self._times.append(at)
        self._done += bytes(count)

    def take_back(self, first: int) -> None:
        """Take back the records from ``first`` on, all of the last batch, which were not passed and are sent again."""
        del self._done[first - self._first :]
        if self._starts[-1] >= first:
            self._starts.pop()
            self._times.pop()

    def reported(self, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Mark records as having an outcome; return the times at which they were passed to the client."""
        invoked = self._invoked(seqs)
        np.frombuffer(self._done, np.uint8)[seqs - self._first] = 1
        self._forget()
        return invoked

    def left(self) -> list[tuple[int, int]]:
        """Return every record without an outcome, with the time at which it was passed to the client."""
        seqs = self._first + np.flatnonzero(np.frombuffer(self._done, np.uint8) == 0)
        return list(zip(seqs.tolist(), self._invoked(seqs).tolist(), strict=True))

    def _invoked(self, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
        batches = np.searchsorted(np.frombuffer(self._starts, np.int64), seqs, side="right") - 1
        return np.frombuffer(self._times, np.int64)[batches]

    def _forget(self) -> None:
        oldest = self._done.find(0, self._over)
        self._over = len(self._done) if oldest < 0 else oldest
        if self._over < _FORGET_AFTER:
            return
        del self._done[: self._over]
        self._first += self._over
        self._over = 0
        batches = int(np.searchsorted(np.frombuffer(self._starts, np.int64), self._first, side="right")) - 1
        if batches > 0:
            del self._starts[:batches], self._times[:batches]

"""Records without an outcome: when each was handed to the client, and at the end which are left."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

_FORGET_AFTER = 1 << 16  # records that are over before what is known of them is dropped: it costs a copy of the rest


class Outstanding:
    """Sequence numbers in the order they were sent, and which of them have an outcome.

    Records are sent in batches of one moment each, so a batch is remembered by its first number and that moment;
    each record takes one byte, and what lies before the oldest one without an outcome is forgotten.
    """

    def __init__(self) -> None:
        self._first = 0  # the number that the first byte stands for
        self._done = bytearray()
        self._over = 0  # how many bytes at the beginning are known to be set
        self._starts, self._times = array("q"), array("q")

    @property
    def next(self) -> int:
        """The number that is to be sent next."""
        return self._first + len(self._done)

    def sent(self, count: int, at: int) -> None:
        """The next ``count`` records were handed over at ``at``."""
        self._starts.append(self.next)
        self._times.append(at)
        self._done += bytes(count)

    def take_back(self, first: int) -> None:
        """The records from ``first`` on, all of the last batch, were not handed over: they are still to be sent."""
        del self._done[first - self._first :]
        if self._starts[-1] >= first:
            self._starts.pop()
            self._times.pop()

    def reported(self, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
        """These have their outcome now; when each was handed over."""
        invoked = self._invoked(seqs)
        np.frombuffer(self._done, np.uint8)[seqs - self._first] = 1
        self._forget()
        return invoked

    def left(self) -> list[tuple[int, int]]:
        """Every record without an outcome, and when it was handed over."""
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

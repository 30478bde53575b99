"""The clock of a host against ours: the error bound must hold for every delay there can be."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from chaosk.hosts.transport.clock import clock
from chaosk.spec.command import Command, Result

SECOND = 1_000_000_000


class FarHost:
    """A transport to a host whose clock is off by a known amount, over a line with known delays; time is its own."""

    def __init__(self, offset: int, delays: list[tuple[int, int, int]]) -> None:
        """``delays``: nanoseconds there, on the host, and back, an exchange each."""
        self.offset = offset
        self.delays = iter(delays)
        self.now = time.monotonic_ns()
        self.epoch = time.time_ns() - time.monotonic_ns()

    def run(self, command: Command) -> Result:
        """One exchange."""
        there, work, back = next(self.delays)
        sent, began = self.now, self.now + there
        self.now += there + work + back
        stamps = [began + self.epoch + self.offset, began + work + self.epoch + self.offset]
        return Result(
            command=command, exit_status=0, stdout="", stderr="", sent=sent, received=self.now,
            host_started=stamps[0], host_ended=stamps[1],
        )  # fmt: skip

    def close(self) -> None:
        """Nothing to close."""


delay = st.tuples(st.integers(0, SECOND), st.integers(0, SECOND), st.integers(0, SECOND))


@given(offset=st.integers(-3600 * SECOND, 3600 * SECOND), delays=st.lists(delay, min_size=5, max_size=5))
def test_the_true_offset_lies_within_the_error(offset: int, delays: list[tuple[int, int, int]]) -> None:
    """However lopsided the way there and back, the bound holds (and 1 ms for reading our own two clocks)."""
    found = clock(FarHost(offset, delays), "node1")
    assert abs(found.offset - offset) <= found.error + 1_000_000
    assert found.error <= min(there + back for there, _, back in delays) // 2 + 1


def test_the_best_of_several_exchanges_counts() -> None:
    """One quick exchange is worth more than many slow ones."""
    slow, quick = (SECOND, 0, 0), (1000, 500, 1000)
    found = clock(FarHost(5 * SECOND, [slow, slow, quick, slow, slow]), "node1")
    assert found.error == 1001
    assert found.host == "node1"

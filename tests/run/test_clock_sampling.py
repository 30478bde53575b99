"""The transport that tells of clocks: which answers say something, and that they are handed on unchanged."""

from __future__ import annotations

import pytest

from chaosk.core.errors import EventLogError
from chaosk.hosts.transport.clock import Offset, epoch
from chaosk.run.clock_sampling import ClockSampling
from chaosk.spec.command import Command, Result

S = 1_000_000_000
COMMAND = Command(host="node1", argv=("true",))


class Answers:
    """A transport with one answer."""

    def __init__(self, took: int, there: int) -> None:
        now = epoch()
        self.answer = Result(
            command=COMMAND, exit_status=0, stdout="", stderr="", sent=0, received=took,
            host_started=now + 3600 * S, host_ended=now + 3600 * S + there,
        )  # fmt: skip

    def run(self, command: Command) -> Result:
        """It."""
        assert command is COMMAND
        return self.answer

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("took", "there", "tells"),
    [(2 * S, S, True), (3 * S + 1, S, False), (2 * S, 3602 * S, False), (2 * S, -3598 * S, False)],
)
def test_an_answer_tells_if_it_can(took: int, there: int, *, tells: bool) -> None:
    """Not one that was long under way, nor of a command during which the clock itself was moved, on or back."""
    heard: list[Offset] = []
    transport = Answers(took, there)
    clocked = ClockSampling(transport)
    assert clocked.run(COMMAND) is transport.answer
    assert heard == []
    clocked.tell = heard.append
    assert clocked.run(COMMAND) is transport.answer
    assert [one.host for one in heard] == (["node1"] if tells else [])
    if tells:
        assert abs(heard[0].offset - 3600 * S) <= heard[0].error + S // 10


def test_an_answer_counts_though_it_can_be_told_to_nobody() -> None:
    """With a full disk faults are healed all the same: a command does not fail because its clock was not noted."""
    told: list[Offset] = []

    def full(found: Offset) -> None:
        told.append(found)
        raise EventLogError("No space left on device")

    transport = Answers(2 * S, S)
    clocked = ClockSampling(transport)
    clocked.tell = full
    assert [clocked.run(COMMAND) for _ in range(3)] == [transport.answer] * 3
    assert len(told) == 1

"""Clocks and shells, from exchanges whose four stamps are made up here: the lab's hosts share this machine's clock."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaosk.run.preflight.host_clock import FAR, clock, shell
from chaosk.spec.command import Command, Result

SECOND = 1_000_000_000
EPOCH = 1_700_000_000 * SECOND
COMMAND = Command(host="node1", argv=("true",))


def exchange(offset: float, there: float = 0.002, work: float = 0.001, back: float = 0.002) -> Result:
    """One round trip to a host whose clock is ahead by ``offset``; all in seconds."""
    sent = 50 * SECOND
    started = sent + EPOCH + int((there + offset) * SECOND)
    return Result(
        command=COMMAND, exit_status=0, stdout="", stderr="", sent=sent,
        received=sent + int((there + work + back) * SECOND),
        host_started=started, host_ended=started + int(work * SECOND),
    )  # fmt: skip


def test_five_seconds_off_is_found_in_either_direction() -> None:
    """How far, which way, how sure, and what to do."""
    ahead, behind = (clock("node1", [exchange(by)], EPOCH) for by in (5.0, -5.0))
    assert (ahead.state, behind.state) == ("warning", "warning")
    assert ahead.seen == "5.000 s ahead of this machine, ± 0.002 s"
    assert behind.seen == "5.000 s behind this machine, ± 0.002 s"
    assert "NTP" in ahead.todo


def test_a_clock_that_is_right_is_told_with_its_error() -> None:
    """A number without its error bound would be worth nothing."""
    found = clock("node1", [exchange(0.01)], EPOCH)
    assert (found.state, found.seen) == ("ok", "+0.010 s against this machine, ± 0.002 s")


def test_what_slow_packets_can_explain_is_no_accusation() -> None:
    """0.3 s off, if the packets took a second: that may be the line."""
    assert clock("node1", [exchange(0.3, there=0.5, back=0.5)], EPOCH).state == "ok"
    assert clock("node1", [exchange(0.3, there=0.5, back=0.5), exchange(0.3)], EPOCH).state == "warning"


@given(offset=st.floats(-10, 10), there=st.floats(0, 2), work=st.floats(0, 2), back=st.floats(0, 2))
def test_a_clock_within_the_limit_is_never_accused(offset: float, there: float, work: float, back: float) -> None:
    """However lopsided the way there and back: a warning means that it is off, for sure."""
    found = clock("node1", [exchange(offset, there, work, back)], EPOCH)
    if found.state == "warning":
        assert abs(offset) > FAR - 1e-6
    elif abs(offset) > FAR:
        assert abs(offset) <= FAR + there + back + 1e-6


def test_a_slow_shell_is_the_quickest_of_several() -> None:
    """One slow answer of five is the network; five are the shell."""
    quick, slow = exchange(0), exchange(0, there=0.6)
    assert shell("node1", [slow, slow, quick]).state == "ok"
    found = shell("node1", [slow, slow])
    assert found.state == "warning"
    assert found.seen == "`true` takes 0.603 s on a kept connection"
    assert "~/.bashrc" in found.todo

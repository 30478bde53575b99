"""progress: counts from when somebody begins to wait, and not from what was before."""

from __future__ import annotations

import pytest
from fake_live import FakeLive, inventory

from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.expression import ExpressionError, parse_condition


def writer(ok: int) -> FakeLive:
    """A cluster with one producer, of which so many records were acknowledged."""
    return FakeLive(probes={"writer": ProbeState(probe="writer", kind="produce", running=True, ok=ok)})


@pytest.mark.parametrize(("later", "holds", "seen"), [(5099, False, "99 of 100 more"), (5100, True, "100 of 100 more")])
def test_it_counts_from_when_the_waiting_began(later: int, seen: str, *, holds: bool) -> None:
    """Five thousand that were acknowledged before say nothing of how the cluster does now."""
    ask = parse_condition("progress(writer, 100)").from_now(writer(5000))
    assert not ask(writer(5000), inventory()).holds
    answer = ask(writer(later), inventory())
    assert (answer.holds, answer.seen) == (holds, f"writer: {seen}")


def test_a_process_that_is_new_counts_from_nothing() -> None:
    """A probe that was killed and started again need not catch up with its former self."""
    ask = parse_condition("progress(writer, 100)").from_now(writer(5000))
    assert ask(writer(99), inventory()).seen == "writer: 99 of 100 more"
    assert ask(writer(100), inventory()).holds


def test_waits_that_begin_at_different_times_count_apart() -> None:
    """A condition is a value: who asks keeps what it counts from."""
    condition = parse_condition("progress(writer, 100)")
    early, late = condition.from_now(writer(0)), condition.from_now(writer(90))
    assert early(writer(100), inventory()).holds
    assert not late(writer(100), inventory()).holds


def test_none_at_all_is_no_progress() -> None:
    """It would hold before anything was done."""
    with pytest.raises(ExpressionError):
        parse_condition("progress(writer, 0)")

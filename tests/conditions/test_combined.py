"""not, all and any: what they make of yes, no and what nobody can tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_live import FakeLive, inventory, state

from chaosk.core.errors import ClusterError, StepError, UsageError
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.expression import parse_condition

YES, NO, UNKNOWN = "broker_up(0)", "broker_up(2)", "isr_full(nothing)"
LIVE = FakeLive(answering=(0, 1))
"""Broker 0 is up, broker 2 is not, and of a topic that is not there nothing is known."""


def verdict(text: str) -> bool | None:
    """Whether it holds; None if that cannot be known."""
    try:
        return parse_condition(text).ask(LIVE, inventory()).holds
    except ClusterError:
        return None


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (f"not({YES})", False), (f"not({NO})", True), (f"not({UNKNOWN})", None), (f"not(not({YES}))", True),
        (f"all({YES}, {YES})", True), (f"all({YES}, {NO})", False), (f"all({UNKNOWN}, {NO})", False),
        (f"all({NO}, {UNKNOWN})", False), (f"all({YES}, {UNKNOWN})", None),
        (f"any({NO}, {NO})", False), (f"any({NO}, {YES})", True), (f"any({UNKNOWN}, {YES})", True),
        (f"any({YES}, {UNKNOWN})", True), (f"any({NO}, {UNKNOWN})", None),
        (f"not(all({YES}, {UNKNOWN}))", None), (f"not(all({NO}, {UNKNOWN}))", True),
        (f"not(any({NO}, {UNKNOWN}))", None), (f"not(any({YES}, {UNKNOWN}))", False),
        (f"all({YES})", True), (f"any({NO})", False), (f"all({YES}, any({NO}, not({NO})))", True),
    ],
)  # fmt: skip
def test_what_is_not_known_is_neither_yes_nor_no(text: str, holds: bool | None) -> None:  # noqa: FBT001
    """It decides nothing, and what others decide without it stands: silence never becomes truth, nor hides it."""
    assert verdict(text) is holds


def test_a_silent_cluster_confirms_nothing() -> None:
    """After every broker was killed nobody tells whether the ISR is full, so it is not known to be not full either."""
    for text in ("isr_full(orders)", "not(isr_full(orders))", "not(all(leader_elected(orders), isr_full(orders)))"):
        with pytest.raises(ClusterError, match="no broker answers"):
            parse_condition(text).ask(FakeLive(silent=True), inventory())


def test_it_says_what_was_seen_of_each_part() -> None:
    """The answer, what it was made of, and what could not be known."""
    shrunk = FakeLive(states=(state(0, 0, (0, 1, 2), (0,)),))
    answer = parse_condition("any(not(isr_full(orders)), broker_up(9), zookeeper_up(1))")
    with pytest.raises(UsageError, match="the inventory has no such broker"):
        answer.ask(shrunk, inventory())
    parts = parse_condition(f"any(not(isr_full(orders)), isr_full(orders), {UNKNOWN})")
    assert parts.ask(shrunk, inventory()) == Answer(
        holds=True,
        seen="not(isr_full(orders)): yes, orders-0: ISR 0 of 0,1,2; isr_full(orders): no, orders-0: ISR 0 of 0,1,2; "
        "isr_full(nothing): not known, topic nothing: the cluster has no such topic",
    )


def test_why_it_is_not_known_names_each_part() -> None:
    """A run that waited in vain says what it saw last."""
    with pytest.raises(ClusterError, match=r"^broker_up\(0\): yes, .*; isr_full\(nothing\): not known, topic nothing"):
        parse_condition(f"all({YES}, {UNKNOWN})").ask(LIVE, inventory())


def writers(**ok: int) -> FakeLive:
    """A cluster with producers, of which so many records were acknowledged each."""
    return FakeLive(probes={name: ProbeState(probe=name, kind="produce", running=True, ok=n) for name, n in ok.items()})


def test_counts_begin_together() -> None:
    """A count begins when the waiting does, and not when the part before it first holds."""
    ask = parse_condition("all(broker_up(2), progress(a, 10))").from_now(writers(a=5000))
    assert not ask(replace(writers(a=5000), answering=(0, 1)), inventory()).holds
    assert ask(writers(a=5010), inventory()).holds


def test_each_count_begins_by_itself() -> None:
    """A probe that has said nothing yet does not keep another's count from beginning."""

    class Quiet(FakeLive):
        def probe(self, name: str) -> ProbeState:
            if name == "b":
                raise StepError("b: has said nothing yet")
            return super().probe(name)

    early = parse_condition("any(progress(a, 10), progress(b, 10))").from_now(writers())
    with pytest.raises(ClusterError, match=r"a: 0 of 10 more.*not known, b: has said nothing yet"):
        early(Quiet(probes=dict(writers(a=100).probes)), inventory())
    assert early(Quiet(probes=dict(writers(a=110).probes)), inventory()).holds
    assert not early(writers(a=105, b=7000), inventory()).holds
    assert early(writers(a=105, b=7010), inventory()).holds


def test_no_progress_is_counted_from_now_too() -> None:
    """What was acknowledged before says nothing of how it goes on."""
    ask = parse_condition("not(progress(a, 10))").from_now(writers(a=5000))
    assert ask(writers(a=5000), inventory()).holds
    assert ask(writers(a=5009), inventory()).holds
    assert ask(writers(a=5010), inventory()) == Answer(holds=False, seen="a: 10 of 10 more")

"""When entries are in place for sure."""

from __future__ import annotations

import math
from typing import Any

import pytest

from chaosk.spec.scenario import Entry
from chaosk.spec.timing import Stay, stays


def entry(name: str, step: str = "kill_broker", **more: Any) -> Entry:
    """An entry on broker 1."""
    fields = {"wait": {"duration": "1s"}}.get(step, {"target": "broker 1"})
    return Entry.model_validate({"name": name, step: fields, **more})


def test_a_time_and_a_duration() -> None:
    """From `at` on, for as long as `for` says; without it until the end; a step that leaves nothing is a moment."""
    found = stays(
        [entry("a", at="10s", **{"for": "30s"}), entry("b", at="20s"), entry("c", "start_broker", at="50s"), None]
    )
    assert found == {"a": Stay(10, 40), "b": Stay(20, math.inf), "c": Stay(50, 50)}


def test_what_waits_for_another_one_that_is_applied() -> None:
    """Counted from that one's start, through as many entries as it takes."""
    after = {"entry": "a", "is": "applied", "delay": "5s"}
    found = stays([entry("a", at="10s"), entry("b", after=after), entry("c", after={**after, "entry": "b"})])
    assert (found["b"].start, found["c"].start) == (15, 20)


@pytest.mark.parametrize(
    "trigger",
    [{}, {"after": "a"}, {"after": {"entry": "a", "is": "healed"}}, {"at": "20s", "when": "isr_full(orders)"}],
)
def test_what_cannot_be_known(trigger: dict[str, Any]) -> None:
    """Its turn, the end of another one, a condition: whatever time it takes."""
    assert set(stays([entry("a", at="10s", **{"for": "5s"}), entry("b", **trigger)])) == {"a"}


def test_who_meets_whom() -> None:
    """The earlier one is still there when the later one starts; the end itself is free."""
    first = Stay(10, 40)
    assert first.meets(Stay(10, 10))
    assert first.meets(Stay(39, 50))
    assert not first.meets(Stay(40, 50))
    assert not first.meets(Stay(5, 50))
    assert Stay(7, 7).meets(Stay(7, 9))

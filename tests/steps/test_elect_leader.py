"""The step that asks for leaders."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chaosk.spec.contracts.step import Elect, Fact
from chaosk.spec.expression import parse_condition, render
from chaosk.spec.inventory import Inventory

from .conftest import site, step


@pytest.mark.parametrize(
    ("written", "deed", "condition"),
    [
        ("{topic: orders}", Elect(topic="orders", election="preferred"), "preferred_leaders(orders)"),
        (
            "{topic: orders, partitions: [0, 2]}",
            Elect(topic="orders", partitions=(0, 2), election="preferred"),
            "preferred_leaders(orders, 0, 2)",
        ),
        ("{topic: o, election: unclean}", Elect(topic="o", election="unclean"), "leader_elected(o)"),
        (
            "{topic: o, partitions: [1], election: unclean}",
            Elect(topic="o", partitions=(1,), election="unclean"),
            "leader_elected(o, 1)",
        ),
    ],
)
def test_one_request_and_what_must_be_seen(inventory: Inventory, written: str, deed: Elect, condition: str) -> None:
    """The election is asked of the controller, and believed only when the leaders are seen."""
    elect, here = step(f"elect_leader: {written}"), site(inventory)
    assert list(elect.inject(here)) == [deed]
    (fact,) = elect.verify(here)
    assert isinstance(fact, Fact)
    assert fact.query == condition
    assert render(parse_condition(condition)) == condition
    assert not elect.lasting
    assert elect.targets() == ()
    assert list(elect.undo(here)) == []


@pytest.mark.parametrize("wrong", ["{}", "{topic: o, partitions: []}", "{topic: o, partitions: [-1]}", "{topic: 1}"])
def test_nonsense_is_refused(wrong: str) -> None:
    """No topic, no partition, a negative one."""
    with pytest.raises(ValidationError):
        step(f"elect_leader: {wrong}")

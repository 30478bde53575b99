"""The steps that move partitions, and stop doing so."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Reassign, Site, Step
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, HOSTS, site, step, told


def reassign(fields: str = "") -> Step:
    """Two of three brokers, in an order of their own."""
    return step(f"reassign_partitions: {{topic: orders, replicas: [last, first]{fields}}}")


def here(inventory: Inventory) -> Site:
    """Where the targets are brokers 2 and 0."""
    return site(inventory, last=BROKERS[2:], first=BROKERS[:1])


def test_one_request_with_the_replicas_in_order(inventory: Inventory) -> None:
    """All partitions unless some are named; believed only when the replicas are there and in sync."""
    every, some = reassign(), reassign(", partitions: [1, 3]")
    assert list(every.inject(here(inventory))) == [Reassign(topic="orders", replicas=(2, 0))]
    assert list(some.inject(here(inventory))) == [Reassign(topic="orders", partitions=(1, 3), replicas=(2, 0))]
    assert told(every.verify(here(inventory))) == ["assigned(orders, all, 2, 0)"]
    assert told(some.verify(here(inventory))) == ["assigned(orders, 1, 2, 0)", "assigned(orders, 3, 2, 0)"]


def test_it_can_be_left_half_way(inventory: Inventory) -> None:
    """Then it takes once the controller has it under way."""
    step = reassign(", partitions: [1], until: accepted")
    assert told(step.verify(here(inventory))) == ["reassigning(orders, 1)"]


@pytest.mark.parametrize("fields", ["", ", partitions: [0]", ", partitions: [0, 1]"])
def test_a_cancellation_wants_something_to_cancel(inventory: Inventory, fields: str) -> None:
    """Without it nothing was tested; afterwards nothing may be under way, of any partition that was named."""
    cancel, where = step(f"cancel_reassignment: {{topic: orders{fields}}}"), site(inventory)
    (before,), (deed,), (after,) = cancel.before(where), cancel.inject(where), cancel.verify(where)
    assert isinstance(deed, Reassign)
    assert deed.replicas is None
    for fact in (before, after):
        assert isinstance(fact.query, str)
        parse_condition(fact.query)
    asked = {"": "reassigning(orders)", ", partitions: [0]": "reassigning(orders, 0)"}.get(
        fields, "any(reassigning(orders, 0), reassigning(orders, 1))"
    )
    assert after.query == f"not({asked})"


def test_it_takes_nothing_and_leaves_nothing_to_undo(inventory: Inventory) -> None:
    """Everybody goes on serving; two of them on one topic contradict each other."""
    cancel, move = step("cancel_reassignment: {topic: orders}"), reassign()
    for one in (cancel, move):
        assert not one.lasting
        assert list(one.harm(here(inventory))) == []
        assert list(one.undo(here(inventory))) == []
    assert list(cancel.holds(here(inventory))) == list(move.holds(here(inventory)))


def test_a_replica_is_on_a_broker(inventory: Inventory) -> None:
    """A host is none, and is not taken for one."""
    step = reassign()
    with pytest.raises(StepError, match="a replica is on a broker, and host node1 is none; name brokers"):
        list(step.inject(site(inventory, last=HOSTS[:1], first=BROKERS[:1])))


@pytest.mark.parametrize(
    "wrong",
    [
        "reassign_partitions: {topic: o}", "reassign_partitions: {topic: o, replicas: []}",
        "reassign_partitions: {topic: o, replicas: [broker 1], partitions: []}",
        "reassign_partitions: {topic: o, replicas: [broker 1], until: later}", "cancel_reassignment: {}",
    ],
)  # fmt: skip
def test_nonsense_is_refused(wrong: str) -> None:
    """No replicas, no partition, no topic."""
    with pytest.raises(ValidationError):
        step(wrong)


def test_facts_say_which_partitions(inventory: Inventory) -> None:
    """For messages and the report."""
    facts = list(reassign(", partitions: [1, 3], until: accepted").verify(here(inventory)))
    assert [fact.says for fact in facts] == ["orders (1, 3) is being reassigned"]

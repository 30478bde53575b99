"""Roles: what is aimed at, whatever it is called."""

from __future__ import annotations

import pytest

from chaosk.campaign.history.roles import CLUSTER, EXAMPLES, hit, of_a_step, role
from chaosk.core.errors import UsageError
from chaosk.spec.expression import targets


@pytest.mark.parametrize(
    ("expression", "aimed_at"),
    [
        ("leader(orders, 0)", "leader"),
        ("followers(orders, 0)", "follower"),
        ("isr(orders, 0)", "replica"),
        ("coordinator(readers)", "coordinator"),
        ("transaction_coordinator(billing)", "transaction coordinator"),
        ("host(transaction_coordinator(billing))", "host of transaction coordinator"),
        ("controller", "controller"),
        ("controller leader", "controller"),
        ("controller followers", "controller follower"),
        ("controller 3", "controller by id"),
        ("zookeeper leader", "zookeeper leader"),
        ("zookeeper 2", "zookeeper by id"),
        ("zookeepers_on(leader(orders, 0))", "zookeeper beside leader"),
        ("broker 1", "broker by id"),
        ("brokers", "all brokers"),
        ("random(1)", "random broker"),
        ("random(2, followers(orders, 0))", "random follower"),
        ("random(1, zookeepers)", "random zookeeper"),
        ("minority", "minority of brokers"),
        ("rack(a)", "rack"),
        ("host node1", "host by name"),
        ("host(leader(orders, 0))", "host of leader"),
        ("host(random(1, brokers))", "host of random broker"),
        ("listener(CLIENT, leader(orders, 0))", "listener of leader"),
        ("probe reader", "probe"),
        ("everyone else", "everyone else"),
    ],
)
def test_the_role_of_an_expression(expression: str, aimed_at: str) -> None:
    """Names of topics, groups and numbers are left out: they are what makes two experiments look different."""
    assert role(expression) == aimed_at


def test_every_kind_of_target_has_a_role() -> None:
    """Of its own example."""
    assert all(role(kind.example) for kind in targets().values())


def test_the_examples_are_of_their_roles() -> None:
    """What is told as never tried can be written."""
    assert {name: role(example) for name, example in EXAMPLES.items()} == {name: name for name in EXAMPLES}


def test_the_roles_of_a_step() -> None:
    """All that it aims at but the rest of the world; a step without targets asks the cluster."""
    assert of_a_step(("leader(orders, 0)", "everyone else")) == {"leader"}
    assert of_a_step(()) == {CLUSTER}


def test_what_is_hit_by_way_of_a_host() -> None:
    """A leader's host that is cut off is a leader that is cut off."""
    assert [hit(each) for each in ("host of leader", "listener of leader", "leader")] == ["leader"] * 3


def test_what_is_no_target_is_a_mistake() -> None:
    """A plan from elsewhere may say anything."""
    with pytest.raises(UsageError, match="there is no target"):
        role("leadr(orders, 0)")

"""Rights as brokers tell them: nothing is believed before all of them agree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.rights import acls_of, rights_of
from chaosk.cluster.views import ClusterView
from chaosk.cluster.wire import NoAnswer
from chaosk.core.errors import ClusterError
from chaosk.spec.entity import Entity, Resource

DENY = SimpleNamespace(principal="User:ann", host="*", operation=4, permission_type=2)


class Cluster:
    """Three brokers, each with an answer of its own."""

    def __init__(self, *answers: Any) -> None:
        self.answers = dict(enumerate(answers))
        self.asked: list[Any] = []

    def ask(self, broker: int, request: Any, within: float) -> Any:
        """Of those that have one, however busy they are."""
        assert within >= 5.0
        self.asked.append(request)
        if self.answers[broker] is None:
            raise NoAnswer(f"broker {broker}: no answer within {within:g} s")
        return self.answers[broker]

    def views(self, topics: object = ()) -> tuple[ClusterView, ...]:
        """All are alive."""
        return tuple(ClusterView(n, 2, (0, 1, 2), racks=False, partitions=(), topic_ids={}) for n in range(3))

    def as_brokers(self) -> Brokers:
        """Itself."""
        return cast("Brokers", self)


def entity(kind: Any, resource: Resource = "topic") -> Entity:
    """Rights to what is called orders."""
    return Entity(kind=kind, resource=resource, name="orders")


def told(*acls: Any, name: str = "orders", pattern: int = 3, error: int = 0) -> Any:
    """ACLs of one pattern."""
    resource = SimpleNamespace(resource_name=name, pattern_type=pattern, acls=acls)
    return SimpleNamespace(error_code=error, error_message=None, resources=[resource] if acls else [])


def test_acls_are_named_by_what_they_say() -> None:
    """Those that are about more, or about less, than the resource from everywhere are told apart from ours."""
    near = SimpleNamespace(**{**vars(DENY), "host": "192.0.2.1"})
    assert acls_of(Cluster(*[told(DENY)] * 3).as_brokers(), entity("acls")) == {"deny write User:ann": "there"}
    assert acls_of(Cluster(*[told(near)] * 3).as_brokers(), entity("acls")) == {
        "deny write User:ann from 192.0.2.1": "there"
    }
    for name, pattern in (("*", 3), ("ord", 4)):
        (only,) = acls_of(Cluster(*[told(DENY, name=name, pattern=pattern)] * 3).as_brokers(), entity("acls"))
        assert only == f"deny write User:ann on {name} by pattern {pattern}"


@pytest.mark.parametrize(("resource", "number"), [("topic", 2), ("group", 3), ("transactional_id", 5)])
def test_all_acls_about_a_resource_are_asked_for(resource: Resource, number: int) -> None:
    """By prefix and for all of a kind, too: each of them closes the resource to whom none allows it."""
    cluster = Cluster(*[told()] * 3)
    assert acls_of(cluster.as_brokers(), entity("acls", resource)) == {}
    assert len(cluster.asked) == 3
    request = cluster.asked[0]
    assert (request.resource_type_filter, request.resource_name_filter, request.pattern_type_filter) == (
        number,
        "orders",
        2,
    )


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ((told(DENY), told(), told(DENY)), "broker 1 and broker 0 have different ones"),
        ((told(DENY), None, None), "broker 1: no answer within 5 s"),
        ((told(error=54),) * 3, "the brokers have no authorizer"),
        ((told(error=31),) * 3, "CLUSTER_AUTHORIZATION_FAILED.*needs Describe on Cluster"),
    ],
)
def test_what_is_not_known_of_all_is_not_told(answers: tuple[Any, ...], why: str) -> None:
    """One broker that has not heard of it yet would let a client in."""
    with pytest.raises(ClusterError, match=why):
        acls_of(Cluster(*answers).as_brokers(), entity("acls"))


def test_rights_to_a_topic_are_what_every_broker_would_let_the_probes_do() -> None:
    """Who must not describe it has none; an error of another kind is no refusal."""

    def may(*operations: int, error: int = 0) -> Any:
        return SimpleNamespace(topics=[SimpleNamespace(error_code=error, authorized_operations=set(operations))])

    def asked(*answers: Any) -> dict[str, str]:
        return rights_of(Cluster(*answers).as_brokers(), Cluster().as_brokers(), entity("rights"))

    assert asked(*[may(3, 8)] * 3) == {"read": "there", "describe": "there"}
    assert asked(*[may(error=29)] * 3) == {}
    with pytest.raises(ClusterError, match="different ones"):
        asked(may(3), may(3, 4), may(3))
    with pytest.raises(ClusterError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        asked(*[may(error=3)] * 3)


def test_rights_to_a_transactional_id_are_whether_its_coordinator_is_told() -> None:
    """A coordinator that is away just now is no refusal."""
    for error, found in ((0, {"describe": "there"}), (15, {"describe": "there"}), (53, {})):
        cluster = Cluster(*[SimpleNamespace(error_code=error)] * 3)
        assert rights_of(cluster.as_brokers(), cluster.as_brokers(), entity("rights", "transactional_id")) == found

"""What a cluster says about itself, as findings."""

from __future__ import annotations

import pytest

from chaosk.discovery.cluster_description import BrokerDescription, ClusterDescription
from chaosk.discovery.cluster_findings import cluster_findings
from chaosk.discovery.merge import InventoryDraft, merge

pytestmark = pytest.mark.pure
SETTINGS = {
    "broker.id": "1",
    "advertised.listeners": "INTERNAL://b1:9091,CLIENT://b1:9092,OTHER://b1:9093",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,CLIENT:SSL,OTHER:SSL",
    "inter.broker.listener.name": "INTERNAL",
    "log.dirs": "/data",
}


def draft(*brokers: BrokerDescription, missing: tuple[int, ...] = ()) -> InventoryDraft:
    """The inventory of a cluster with these brokers."""
    cluster = ClusterDescription("b1:9092", "id", brokers, missing=missing)
    return merge([*cluster_findings(cluster)], {"b1": "b1"}, {}, all_brokers=True)


def clients(found: InventoryDraft) -> set[str]:
    """The listeners that clients use."""
    listeners = {place[3] for place in found.facts if place[2:3] == ("listeners",)}
    return {name for name in listeners if ("brokers", "1", "listeners", name, "clients") not in found.facts}


@pytest.mark.parametrize(("port", "name"), [(9092, "CLIENT"), (9093, "OTHER"), (9091, "INTERNAL")])
def test_clients_use_the_listener_at_which_the_cluster_was_asked(port: int, name: str) -> None:
    """Its security is that of the settings; another listener may need others, even one of the same protocol."""
    assert clients(draft(BrokerDescription(1, "b1", port, "a", SETTINGS))) == {name}


def test_a_broker_that_does_not_describe_itself_is_asked_about() -> None:
    """Without the right to describe it, the name of its listener is unknown; its rack and address are known."""
    refused = "its configuration cannot be read: CLUSTER_AUTHORIZATION_FAILED"
    found = draft(BrokerDescription(1, "b1", 9092, "a", why_not=refused))
    asked = found.questions["brokers", "1", "listeners"].asks
    assert "Metadata has b1:9092" in asked
    assert refused in asked
    assert found.facts["brokers", "1", "rack"].value == "a"
    assert found.facts["brokers", "1", "host"].value == "b1"


def test_a_broker_that_is_down_is_asked_about() -> None:
    """An inventory without it would be wrong as soon as it is back."""
    found = draft(BrokerDescription(1, "b1", 9092, None, SETTINGS), missing=(3,))
    assert "start it, and ask again" in found.questions["brokers", "3"].asks

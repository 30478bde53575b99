"""Where servers answer chaosk: the listeners of an inventory that clients use."""

from __future__ import annotations

import pytest
from fake_live import inventory

from chaosk.cluster.endpoints import broker_places, zookeeper_places
from chaosk.core.errors import PreflightError
from chaosk.spec.inventory import Listener


def test_brokers_answer_at_their_client_listener() -> None:
    """Of a broker's listeners the first that clients use is taken, never one between brokers."""
    place = inventory()
    broker = place.brokers[0].model_copy(
        update={
            "listeners": {
                "REPLICATION": Listener(address="10.0.0.1", port=9093, clients=False),
                "CLIENT": Listener(address="198.18.0.11", port=9092),
                "OUTSIDE": Listener(address="192.0.2.1", port=9094),
            }
        }
    )
    found = broker_places(place.model_copy(update={"brokers": {0: broker}}), {})
    assert [str(one) for one in found.values()] == ["broker 0, listener CLIENT (198.18.0.11:9092)"]


def test_refuses_a_broker_without_one() -> None:
    """A broker that no client can reach is named before anything is asked of it."""
    place = inventory()
    listeners = {"REPLICATION": Listener(address="10.0.0.1", port=9093, clients=False)}
    broker = place.brokers[1].model_copy(update={"listeners": listeners})
    with pytest.raises(PreflightError, match="broker 1: the inventory names no listener"):
        broker_places(place.model_copy(update={"brokers": {1: broker}}), {})


def test_says_how_connections_are_opened() -> None:
    """Every place carries what the client settings say; what chaosk cannot follow is refused, not tried."""
    found = broker_places(inventory(), {"security.protocol": "SSL"})
    assert [place.security.tls is not None for place in found.values()] == [True] * 3
    with pytest.raises(PreflightError, match=r"client.sasl.mechanism: chaosk cannot log in by GSSAPI"):
        broker_places(inventory(), {"security.protocol": "SASL_SSL"})


def test_zookeepers_answer_on_their_host() -> None:
    """A node answers at its client port on its host's address."""
    assert [str(one) for one in zookeeper_places(inventory(3, 2)).values()] == [
        "ZooKeeper 1 (198.18.0.11:2181)",
        "ZooKeeper 2 (198.18.0.12:2181)",
    ]

"""Where the servers of an inventory answer chaosk itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosk.cluster.wire import Place
from chaosk.errors import PreflightError
from chaosk.inventory import Inventory


def broker_places(inventory: Inventory, settings: Mapping[str, Any]) -> dict[int, Place]:
    """By broker id the first listener that clients use.

    Raises PreflightError for a broker that has none, and for a cluster that asks for TLS or SASL (``settings`` are
    librdkafka's): requests pinned to one broker go in the clear.
    """
    protocol = str(settings.get("security.protocol", "plaintext")).lower()
    if protocol != "plaintext":
        raise PreflightError(
            f"client.security.protocol: {protocol}: chaosk's watcher speaks to brokers in plaintext only; "
            "give the inventory a PLAINTEXT listener for clients"
        )
    places = {}
    for number, broker in sorted(inventory.brokers.items()):
        open_to_clients = [listener for listener in broker.listeners.values() if listener.clients]
        if not open_to_clients:
            raise PreflightError(f"broker {number}: the inventory names no listener of it that clients use")
        places[number] = Place(f"broker {number}", open_to_clients[0].address, open_to_clients[0].port)
    return places


def zookeeper_places(inventory: Inventory) -> dict[int, Place]:
    """By ZooKeeper id its client port, on the address of its host."""
    return {
        number: Place(f"ZooKeeper {number}", inventory.hosts[node.host].address, node.client_port)
        for number, node in sorted(inventory.zookeepers.items())
    }

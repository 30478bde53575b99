"""Where the servers of an inventory answer chaosk itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosk.cluster.security import security
from chaosk.cluster.wire import Place
from chaosk.core.errors import PreflightError
from chaosk.spec.inventory import Inventory


def broker_places(inventory: Inventory, settings: Mapping[str, Any]) -> dict[int, Place]:
    """By broker id the first listener that clients use.

    Raises PreflightError for a broker that has none, and where chaosk cannot connect as ``settings`` (librdkafka's,
    secrets resolved) say.
    """
    places = {}
    for number in sorted(inventory.brokers):
        listeners = client_places(inventory, number, settings)
        if not listeners:
            raise PreflightError(f"broker {number}: the inventory names no listener of it that clients use")
        places[number] = next(iter(listeners.values()))
    return places


def client_places(inventory: Inventory, broker: int, settings: Mapping[str, Any]) -> dict[str, Place]:
    """By listener name where clients come in at a broker; raises PreflightError as :func:`broker_places` does."""
    opened = security(settings)
    return {
        name: Place(f"broker {broker}, listener {name}", at.address, at.port, opened)
        for name, at in inventory.brokers[broker].listeners.items()
        if at.clients
    }


def zookeeper_places(inventory: Inventory) -> dict[int, Place]:
    """By ZooKeeper id its client port, on the address of its host."""
    return {
        number: Place(f"ZooKeeper {number}", inventory.hosts[node.host].address, node.client_port)
        for number, node in sorted(inventory.zookeepers.items())
    }

"""Addresses of an inventory's servers for chaosk's own connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosk.cluster.security import security
from chaosk.cluster.wire import Endpoint
from chaosk.core.errors import PreflightError
from chaosk.spec.inventory import Inventory


def broker_places(inventory: Inventory, settings: Mapping[str, Any]) -> dict[int, Endpoint]:
    """Map broker ids to their first client listener.

    Raises PreflightError for a broker without one, and if chaosk cannot connect with ``settings`` (librdkafka's,
    secrets resolved).
    """
    places = {}
    for number in sorted(inventory.brokers):
        listeners = client_places(inventory, number, settings)
        if not listeners:
            raise PreflightError(f"broker {number}: the inventory names no listener of it that clients use")
        places[number] = next(iter(listeners.values()))
    return places


def client_places(inventory: Inventory, broker: int, settings: Mapping[str, Any]) -> dict[str, Endpoint]:
    """Map listener names to a broker's client listeners; raises PreflightError as :func:`broker_places` does."""
    opened = security(settings)
    return {
        name: Endpoint(f"broker {broker}, listener {name}", at.address, at.port, opened)
        for name, at in inventory.brokers[broker].listeners.items()
        if at.clients
    }


def zookeeper_places(inventory: Inventory) -> dict[int, Endpoint]:
    """Map ZooKeeper ids to their client ports, on the addresses of their hosts."""
    return {
        number: Endpoint(f"ZooKeeper {number}", inventory.hosts[node.host].address, node.client_port)
        for number, node in sorted(inventory.zookeepers.items())
    }

"""The librdkafka settings that every client of a cluster needs, secrets resolved."""

from __future__ import annotations

from chaosk.inventory import Inventory, SecretRef
from chaosk.secrets import resolve


def client_settings(inventory: Inventory) -> dict[str, str | int | bool]:
    """The inventory's ``client`` with ``bootstrap.servers``; raises PreflightError for a secret that is not there.

    The values hold secrets: hand them to a client, and to nothing that writes.
    """
    found = {
        name: resolve(value).reveal() if isinstance(value, SecretRef) else value
        for name, value in inventory.client.items()
    }
    return {"bootstrap.servers": inventory.bootstrap_servers(), **found}

"""The librdkafka settings that every client of a cluster needs, secrets resolved."""

from __future__ import annotations

from collections.abc import Mapping

from chaosk.spec.inventory import Inventory, SecretRef
from chaosk.spec.secrets import resolve


def client_settings(inventory: Inventory) -> dict[str, str | int | bool]:
    """The inventory's ``client`` with ``bootstrap.servers``; raises PreflightError for a secret that is not there.

    The values hold secrets: hand them to a client, and to nothing that writes.
    """
    return _resolved(inventory, inventory.client)


def probe_settings(inventory: Inventory) -> dict[str, str | int | bool]:
    """The same of probes: with ``probe_client`` over it."""
    return _resolved(inventory, {**inventory.client, **inventory.probe_client})


def _resolved(
    inventory: Inventory, settings: Mapping[str, str | int | bool | SecretRef]
) -> dict[str, str | int | bool]:
    found = {
        name: resolve(value).reveal() if isinstance(value, SecretRef) else value for name, value in settings.items()
    }
    return {"bootstrap.servers": inventory.bootstrap_servers(), **found}

"""The librdkafka settings that every client of a cluster needs, secrets resolved."""

from __future__ import annotations

from collections.abc import Mapping

from chaosk.spec.inventory import Inventory, SecretRef
from chaosk.spec.secrets import resolve


def client_settings(inventory: Inventory) -> dict[str, str | int | bool]:
    """Return the inventory's ``client`` with ``bootstrap.servers``; raises PreflightError for a missing secret.

    The values contain secrets: pass them to a client, and to no code that writes.
    """
    return _resolved(inventory, inventory.client)


def probe_settings(inventory: Inventory) -> dict[str, str | int | bool]:
    """Return the settings of probes: ``client`` overridden by ``probe_client``."""
    return _resolved(inventory, {**inventory.client, **inventory.probe_client})


def _resolved(
    inventory: Inventory, settings: Mapping[str, str | int | bool | SecretRef]
) -> dict[str, str | int | bool]:
    found = {
        name: resolve(value).reveal() if isinstance(value, SecretRef) else value for name, value in settings.items()
    }
    return {"bootstrap.servers": inventory.bootstrap_servers(), **found}

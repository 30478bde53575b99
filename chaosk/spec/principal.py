"""Principals of chaosk and its probes, as brokers name them, to grant and deny rights. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from chaosk.spec.inventory import Inventory, SecretRef

EVERYBODY = "User:*"


def own(inventory: Inventory) -> str | None:
    """Return chaosk's own principal; None if it logs in without a user name, because only brokers know it then."""
    return _user(inventory.client)


def of_probes(inventory: Inventory) -> str | None:
    """Return the principal of the probes, if it is known and differs from chaosk's own."""
    found = _user({**inventory.client, **inventory.probe_client})
    return None if found == own(inventory) else found


def _user(settings: Mapping[str, str | int | bool | SecretRef]) -> str | None:
    name = settings.get("sasl.username")
    by_sasl = str(settings.get("security.protocol", "")).lower().startswith("sasl")
    mechanism = settings.get("sasl.mechanism", settings.get("sasl.mechanisms", ""))
    by_name = by_sasl and str(mechanism).upper() != "OAUTHBEARER"  # whose tokens have the name
    return f"User:{name}" if by_name and isinstance(name, str) else None

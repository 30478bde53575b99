"""Who logs in, as brokers call it: what rights are given to and taken from. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from chaosk.spec.inventory import Inventory, SecretRef

EVERYBODY = "User:*"


def own(inventory: Inventory) -> str | None:
    """As whom chaosk itself comes in; None where only brokers know, because it does not log in by SASL."""
    return _user(inventory.client)


def of_probes(inventory: Inventory) -> str | None:
    """As whom probes come in, if that is somebody else than chaosk itself, and known."""
    found = _user({**inventory.client, **inventory.probe_client})
    return None if found == own(inventory) else found


def _user(settings: Mapping[str, str | int | bool | SecretRef]) -> str | None:
    name = settings.get("sasl.username")
    by_sasl = str(settings.get("security.protocol", "")).lower().startswith("sasl")
    return f"User:{name}" if by_sasl and isinstance(name, str) else None

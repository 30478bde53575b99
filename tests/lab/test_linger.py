"""What clients of a lab are told besides where the brokers are."""

from __future__ import annotations

from sample_inventory import INVENTORY, secured

from chaosk.lab import linger


def test_it_is_added_to_what_clients_need() -> None:
    """How they connect stays as it is, with a password and without; the cluster is the same."""
    for found in (INVENTORY, secured(INVENTORY)):
        more = linger.inventory(found)
        assert more.client == {**found.client, "linger.ms": linger.MS}
        assert more.model_copy(update={"client": found.client}) == found

"""revoke_dns: its life, and where there is nothing to take away."""

from __future__ import annotations

import pytest
from sample_inventory import on_hosts

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Names
from chaosk.spec.inventory import Inventory

from .conftest import site, step, told


@pytest.mark.parametrize(("how", "action"), [("refused", "refuse"), ("silent", "silence")])
def test_names_go_and_come_back(inventory: Inventory, how: str, action: str) -> None:
    """They are known, are taken away, are unknown, and are known again; no server is harmed."""
    revoke, here = step(f"revoke_dns: {{how: {how}}}"), site(inventory)
    assert told(revoke.before(here)) == ["names_known"]
    assert list(revoke.inject(here)) == [Names.model_validate({"action": action})]
    assert told(revoke.verify(here)) == ["names_unknown"]
    assert list(revoke.undo(here)) == [Names(action="restore")]
    assert told(revoke.healed(here)) == ["names_known"]
    assert list(revoke.harm(here)) == []
    assert revoke.names


def test_where_clients_go_by_address_it_is_refused(inventory: Inventory) -> None:
    """A run in which nothing happens is none."""
    revoke = step("revoke_dns: {}")
    with pytest.raises(StepError, match="clients know every broker by its address"):
        list(revoke.suits(site(inventory)))
    assert list(revoke.suits(site(on_hosts("a.example.com", "198.18.0.12", "198.18.0.13")))) == []

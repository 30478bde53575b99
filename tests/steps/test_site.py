"""The place where a step acts: the ids of what it leaves on hosts."""

from __future__ import annotations

from dataclasses import replace

from chaosk.spec.inventory import Inventory

from .conftest import site


def test_a_mark_is_of_one_entry_of_one_run(inventory: Inventory) -> None:
    """What another run, another entry, or the same one elsewhere left is never taken for this one's."""
    here = site(inventory)
    every = [here.mark(), here.mark("/data"), here.mark("/data", "orders-0")]
    every += [replace(here, entry="other").mark(), replace(here, run_id="run-2").mark()]
    assert len(set(every)) == len(every)
    assert all(len(one) == 10 and set(one) <= set("0123456789abcdef") for one in every)
    assert here.mark("/data") == site(inventory).mark("/data")

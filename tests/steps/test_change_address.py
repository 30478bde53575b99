"""change_address: its life, and where it makes no sense."""

from __future__ import annotations

import pytest
from sample_inventory import on_hosts

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Names, Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, site, step, told

NAMED = on_hosts("a.example.com", "b.example.com", "c.example.com")
CHANGE = step("change_address: {target: it, address: 198.18.0.99}")


def test_its_life() -> None:
    """The address is had, the name leads there, the rest is refused, all are seen; and back in the other order."""
    here = site(NAMED, it=BROKERS[1:2])
    assert told(CHANGE.suits(here)) == ["node2: fits"]
    assert told(CHANGE.before(here)) == ["names_known", "node2: gone", "node2: gone"]
    first, moved, last = CHANGE.inject(here)
    assert moved == Names(action="move", names=("b.example.com",), to="198.18.0.99")
    assert told([first, last]) == ["node2: add", "node2: install"]
    assert told(CHANGE.verify(here)) == ["node2: there", "node2: standing", "broker_at(1, 198.18.0.99)"]
    first, back, last = CHANGE.undo(here)
    assert back == Names(action="restore")
    assert told([first, last]) == ["node2: remove", "node2: remove"]
    assert told(CHANGE.healed(here)) == ["node2: gone", "node2: gone", "names_known"]
    assert CHANGE.names
    assert [harm.away for harm in CHANGE.harm(here)] == [BROKERS[1:2]]


def test_at_its_client_ports_only_the_new_address_answers_chaosks_machine() -> None:
    """What is for the new one goes through before the rest is stopped; nobody else's packets are looked at."""
    *_, install = CHANGE.inject(site(NAMED, it=BROKERS[:1]))
    assert isinstance(install, Run)
    assert install.command.stdin == (
        "4 I -s @_self -d 198.18.0.99 -p tcp --dport 9092 -j RETURN\n"
        "4 O -d @_self -s 198.18.0.99 -p tcp --sport 9092 -j RETURN\n"
        "any I -s @_self -p tcp --dport 9092 -j REJECT --reject-with tcp-reset\n"
        "any O -d @_self -p tcp --sport 9092 -j REJECT --reject-with tcp-reset\n"
    )


def test_where_clients_go_by_address_it_is_refused(inventory: Inventory) -> None:
    """There is no name that could lead elsewhere."""
    with pytest.raises(StepError, match=r"clients know broker 0 on node1 by its address; only a name can lead"):
        list(CHANGE.suits(site(inventory, it=BROKERS[:1])))


def test_one_name_for_two_brokers_is_refused() -> None:
    """It would lead away from the other one as well."""
    shared = on_hosts("a.example.com", "a.example.com", "c.example.com")
    with pytest.raises(StepError, match=r"broker 1 has the name of broker 0 on node1"):
        list(CHANGE.suits(site(shared, it=BROKERS[:1])))


def test_two_brokers_cannot_have_one_address() -> None:
    """A target of several is refused when it fires, in words that say what to write."""
    with pytest.raises(StepError, match=r"names 2 brokers, and only one can have 198\.18\.0\.99; name one"):
        list(CHANGE.inject(site(NAMED, it=BROKERS[:2])))


@pytest.mark.parametrize(("written", "meant"), [("198.18.0.99", "198.18.0.99"), ("FD67:0::0009", "fd67::9")])
def test_an_address_is_spelt_as_the_kernel_does(written: str, meant: str) -> None:
    """However it was written; anything else is refused with an example."""
    change = step(f"change_address: {{target: it, address: '{written}'}}")
    assert change.model_dump()["address"] == meant
    with pytest.raises(ValueError, match=r"is no IP address; write one, like 192\.0\.2\.99"):
        step("change_address: {target: it, address: b.example.com}")

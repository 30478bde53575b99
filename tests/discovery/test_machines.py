"""Machines behind addresses: one host each, under a name that an inventory takes."""

from __future__ import annotations

import pytest

from chaosk.discovery.host_description import HostDescription
from chaosk.discovery.machines import DiscoveredMachine, machine_at, name_all

pytestmark = pytest.mark.pure


def machine(*names: str, own: str = "", addresses: tuple[str, ...] = ()) -> DiscoveredMachine:
    """A machine with these names; ``own``: what it calls itself."""
    said = HostDescription(uid=0, name=own, addresses=[*addresses]) if own else None
    return DiscoveredMachine(names=[*names], said=said)


def test_a_machine_is_known_by_all_its_addresses() -> None:
    """Those that it has itself, and those that its names resolve to."""
    one = machine("kafka1.example.net", own="kafka1", addresses=("10.0.0.1", "192.0.2.1"))
    two = DiscoveredMachine(names=["kafka2"], network={"192.0.2.2"})
    assert machine_at([one, two], ["192.0.2.1"]) is one
    assert machine_at([one, two], ["192.0.2.2", "other"]) is two
    assert machine_at([one, two], ["192.0.2.3"]) is None


@pytest.mark.parametrize(
    ("machines", "names"),
    [
        ([machine("192.0.2.1", own="Kafka1.example.net")], ["kafka1"]),
        ([machine("kafka1.a.example"), machine("kafka1.b.example")], ["kafka1", "kafka1.b.example"]),
        ([machine("192.0.2.1", own="localhost")], ["192.0.2.1"]),
        ([machine("2001:db8::1")], ["2001-db8-1"]),
        ([machine("x", own="clone"), machine("y", own="clone")], ["clone", "y"]),
    ],
)
def test_names(machines: list[DiscoveredMachine], names: list[str]) -> None:
    """Its own host name, else the first part of its address, else all of it; each once."""
    name_all(machines)
    assert [one.name for one in machines] == names


def test_a_given_name_stays() -> None:
    """As in the inventory that is there."""
    one = DiscoveredMachine(names=["192.0.2.1"], name="left", fixed=True, said=HostDescription(uid=0, name="node1"))
    two = machine("left.example.net")
    name_all([one, two])
    assert (one.name, two.name) == ("left", "left.example.net")

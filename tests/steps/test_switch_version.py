"""switch_version: what it yields, and what is refused."""

from __future__ import annotations

import pytest

from chaosk.core.errors import StepError
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, Run
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, HOSTS, ZOOKEEPERS, site, step, told

SWITCH = "switch_version: {target: it, version: 3.9.1}"


def test_its_life(inventory: Inventory) -> None:
    """Nothing is changed before the process is gone, neither there nor back."""
    switch, here = step(SWITCH), site(inventory, it=BROKERS[1:2])
    assert told(switch.before(here)) == ["node2: awake", "node2: fits"]
    assert told(switch.inject(here)) == [
        "node2: stop", "node2: gone", "node2: point", "node2: start", "node2: awake", "broker_up(1)",
    ]  # fmt: skip
    assert told(switch.verify(here)) == ["node2: switched", "broker_up(1)"]
    assert told(switch.undo(here)) == ["node2: stop-from", "node2: back", "node2: start"]
    assert told(switch.healed(here)) == ["node2: returned", "node2: awake", "broker_up(1)"]


def test_the_way_back_at_a_moment_of_ones_choice(inventory: Inventory) -> None:
    """As the undo does it, but only of what was switched; broken off, it starts what is down."""
    restore, here = step("restore_version: {target: it}"), site(inventory, it=BROKERS[1:2])
    assert told(restore.before(here)) == ["node2: awake", "node2: away"]
    assert told(restore.inject(here)) == [
        "node2: stop", "node2: gone", "node2: back", "node2: start", "node2: awake", "broker_up(1)",
    ]  # fmt: skip
    assert told(restore.verify(here)) == ["node2: returned", "broker_up(1)"]
    assert told(restore.undo(here)) == ["node2: start"]
    assert restore.ends == ("switch_version",)
    assert set(restore.holds(here)) == set(step(SWITCH).holds(here))


def test_several_go_one_after_the_other(inventory: Inventory) -> None:
    """The next one is stopped only when the last one serves."""
    deeds = told(step(SWITCH).inject(site(inventory, it=BROKERS)))
    assert deeds.index("node2: stop") > deeds.index("broker_up(0)")
    assert deeds.index("node3: stop") > deeds.index("broker_up(1)")


def test_the_words_are_those_of_the_inventory(inventory: Inventory) -> None:
    """The link, the version and the folder; which server it is, and the file of its stop; how far it may be."""
    here = site(inventory, it=BROKERS[:1])
    (point,) = (
        deed.command for deed in step(SWITCH).inject(here) if isinstance(deed, Run) and deed.command.argv[4] == "point"
    )
    server = ("script", "/run/kafka.pid", "/etc/kafka/server.properties")
    assert point.argv[5:] == ("/opt/kafka", *server, "3.9.1", "/opt/kafka-3.9.1")
    (leave, *_) = step(SWITCH).undo(here)
    assert isinstance(leave, Run)
    assert leave.command.argv[5:] == (*server, "/opt/kafka-3.9.1", "/opt/kafka-stop", "/opt/kafka-stop")
    assert _span(SWITCH, inventory) == "release"
    assert _span(SWITCH.replace("}", ", across_releases: true}"), inventory) == "any"


def _span(text: str, inventory: Inventory) -> str:
    (fact,) = step(text).suits(site(inventory, it=BROKERS[:1]))
    assert isinstance(fact, Fact)
    assert isinstance(fact.query, Command)
    return fact.query.argv[-1]


def test_what_the_inventory_does_not_have_is_refused(inventory: Inventory) -> None:
    """With what it has, and what to write."""
    with pytest.raises(StepError, match=r"Kafka 4.0.0 is not among .* broker 0 on node1 .*which has 3.9.1, 3.9.2; in"):
        list(step("switch_version: {target: it, version: 4.0.0}").before(site(inventory, it=BROKERS[:1])))
    bare = inventory.model_copy(update={"brokers": {0: inventory.brokers[0].model_copy(update={"installation": None})}})
    with pytest.raises(StepError, match=r"has no `installation` for broker 0 on node1; write `installation: \{"):
        list(step(SWITCH).before(site(bare, it=BROKERS[:1])))


@pytest.mark.parametrize("node", [HOSTS[0], ZOOKEEPERS[0]])
def test_only_brokers_and_controllers(inventory: Inventory, node: Node) -> None:
    """ZooKeeper nodes have versions of their own."""
    with pytest.raises(StepError, match="name brokers or controllers"):
        list(step(SWITCH).inject(site(inventory, it=[node])))


def test_as_long_as_it_lasts_nothing_else_has_the_process_or_the_link(inventory: Inventory) -> None:
    """Its undo stops and starts it; and who shares the link would be put back with it."""
    here = site(inventory, it=BROKERS[:1])
    held = set(step(SWITCH).holds(here))
    assert held & set(step("pause_broker: {target: it}").holds(here))
    assert "the link /opt/kafka of node1" in held


@pytest.mark.parametrize("version", ["latest", "../3.9.1", "3.9.1 x", "-3", "3*"])
def test_a_version_is_a_version(version: str) -> None:
    """It becomes a part of a file's name."""
    with pytest.raises(ValueError, match="version"):
        step(f"switch_version: {{target: it, version: '{version}'}}")

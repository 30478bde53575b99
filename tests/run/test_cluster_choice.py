"""Which cluster a run takes place on."""

from __future__ import annotations

from pathlib import Path

import pytest
import shipped

from chaosk.document import DocumentError, load_scenario
from chaosk.lab.seating import seats
from chaosk.run.cluster_choice import layout_for, settle_on
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import ClusterShape, Scenario

PLAIN = load_scenario(next(path for path in shipped.SCENARIOS if path.stem == "kill-the-leader"))
INVENTORY = """\
name: mine
hosts:
  a: {address: 192.0.2.1}
brokers:
  0:
    host: a
    service: {systemd: kafka.service}
    listeners: {CLIENT: {address: 192.0.2.1, port: 9092}}
"""


def wants(**cluster: object) -> Scenario:
    """A scenario that says this of its cluster."""
    return PLAIN.model_copy(update={"cluster": ClusterShape.model_validate(cluster)})


def test_the_default_shape_is_the_default_lab() -> None:
    """Three and three is the lab called `lab`, which other scenarios share."""
    assert layout_for(wants()) == LabLayout()


def test_another_shape_is_a_lab_of_its_own() -> None:
    """One broker and three ZooKeeper nodes run beside the default lab, under a name that says what it is."""
    layout = layout_for(wants(brokers=1))
    assert (layout.name, layout.brokers, layout.zookeepers) == ("lab-1-3", 1, 3)


def test_the_smallest_lab_that_will_do_is_put_up() -> None:
    """Bounds are met from below; a lab always has at least one ZooKeeper node, whatever the scenario needs."""
    layout = layout_for(wants(brokers={"min": 2, "max": 9}, zookeepers={"min": 0}))
    assert (layout.brokers, layout.zookeepers) == (2, 1)


def test_a_scenario_for_kraft_gets_a_lab_without_zookeeper() -> None:
    """Its version knows no ZooKeeper, and controllers have processes of their own where the scenario wants them."""
    layout = layout_for(wants(mode="kraft", controllers={"min": 3}))
    assert (layout.name, layout.brokers, layout.controllers) == ("k-3-3", 3, 3)
    assert layout.kafka.startswith("4.")


@pytest.mark.parametrize(
    ("wanted", "name"),
    [(wants(hosts="vms"), "vm-3-3"), (wants(hosts="vms", mode="kraft", brokers=1), "vmk-1-0")],
)
def test_a_scenario_for_machines_with_kernels_of_their_own_gets_them(wanted: Scenario, name: str) -> None:
    """They run beside a lab of namespaces, under another name."""
    layout = layout_for(wanted)
    assert (layout.name, layout.hosts) == (name, "vms")


def test_a_scenario_whose_brokers_have_settings_of_their_own_gets_a_lab_of_such_brokers() -> None:
    """Values as Kafka writes them; other settings, or another shape, are another lab."""
    layout = layout_for(wants(config={"auto.leader.rebalance.enable": True, "num.io.threads": 2}))
    assert layout.broker_config == {"auto.leader.rebalance.enable": "true", "num.io.threads": "2"}
    assert (layout.brokers, layout.zookeepers) == (3, 3)
    others = [wants(), wants(config={"num.io.threads": 2}), wants(brokers=2, config={"num.io.threads": 2})]
    assert len({layout.name, *(layout_for(each).name for each in others)}) == 4
    assert layout_for(wants(config={"num.io.threads": 2, "auto.leader.rebalance.enable": True})) == layout


def test_a_scenario_about_racks_gets_a_lab_with_them() -> None:
    """Its brokers are in them in turn; other racks are another lab, and so are settings besides."""
    layout = layout_for(wants(brokers=4, racks=["a", "b"]))
    assert (layout.racks, layout.brokers, layout.broker_config) == (("a", "b"), 4, {})
    assert [seat.rack for seat in seats(layout) if seat.rack] == ["a", "b", "a", "b"]
    others = [wants(racks=["b", "a"]), wants(racks=["a", "b"]), wants(racks=["a", "b"], config={"num.io.threads": 2})]
    assert len({layout.name, *(layout_for(each).name for each in others)}) == 4


def test_a_scenario_whose_brokers_have_several_disks_gets_a_lab_of_such_brokers() -> None:
    """It is another lab than one with settings, or with one disk each."""
    layout = layout_for(wants(data_dirs=2))
    assert (layout.data_dirs, layout.brokers, layout.zookeepers, layout.broker_config) == (2, 3, 3, {})
    others = [wants(), wants(data_dirs=3), wants(data_dirs=2, config={"num.io.threads": 2})]
    assert len({layout.name, *(layout_for(each).name for each in others)}) == 4


def test_an_inventory_of_one_s_own_is_used_as_it_is(tmp_path: Path) -> None:
    """No lab is put up, nothing is entered."""
    path = tmp_path / "inventory.yaml"
    path.write_text(INVENTORY, "utf-8")
    found = settle_on(path, wants(), pytest.fail)
    assert isinstance(found, Inventory)
    assert found.bootstrap_servers() == "192.0.2.1:9092"


def test_an_inventory_that_is_wrong_is_refused(tmp_path: Path) -> None:
    """The mistake is named with its place, before anything is touched."""
    path = tmp_path / "inventory.yaml"
    path.write_text(INVENTORY.replace("host: a", "host: b"), "utf-8")
    with pytest.raises(DocumentError, match=r"inventory.yaml:\d+"):
        settle_on(path, wants(), pytest.fail)


def test_a_scenario_that_switches_versions_gets_a_lab_that_has_them() -> None:
    """The first is in use, whatever a lab has by itself; a lab of other versions is another one."""
    one, two = (layout_for(wants(versions=["3.9.1", other])) for other in ("3.9.2", "3.9.0"))
    assert (one.kafka, one.also) == ("3.9.1", ("3.9.2",))
    assert one.name != two.name


def test_a_scenario_that_takes_names_away_gets_a_lab_that_has_some() -> None:
    """Without them its step would be refused there; one that leaves names alone is not put on that lab."""
    layout = layout_for(load_scenario(next(path for path in shipped.SCENARIOS if path.stem == "no-names")))
    assert layout.names
    assert not layout_for(wants()).names
    assert layout.name != LabLayout().name


def test_a_lab_can_be_called_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of the same shape, beside the one that is called by it; an inventory's lab keeps its name."""
    asked: list[LabLayout] = []

    def up(layout: LabLayout, say: object) -> Path:
        asked.append(layout)
        (tmp_path / "inventory.yaml").write_text(INVENTORY, "utf-8")
        return tmp_path / "inventory.yaml"

    monkeypatch.setattr("chaosk.lab.up", up)
    settle_on(None, wants(brokers=1), pytest.fail, "lab-1-3-2")
    (tmp_path / "lab.yaml").write_text("lab: {name: mine}\n", "utf-8")
    settle_on(tmp_path / "lab.yaml", wants(), pytest.fail, "other")
    assert [(one.name, one.brokers, one.zookeepers) for one in asked] == [("lab-1-3-2", 1, 3), ("mine", 3, 3)]


def test_a_scenario_that_wants_tls_gets_a_lab_whose_clients_log_in() -> None:
    """One of its own, so that the default lab stays as it is."""
    layout = layout_for(wants(secure=True))
    assert layout.secure
    assert layout.name not in {LabLayout().name, layout_for(wants(secure=True, brokers=4)).name}

"""A broker with several data directories that gave one of them up, on a real cluster: the undo gives it back whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from on_lab import until

from chaosk.cluster.topics import prepare
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

from .lab import Ground, ground, standing

pytestmark = [pytest.mark.lab, pytest.mark.timeout(240), pytest.mark.long]

LAB = "two-dirs"


@pytest.fixture(scope="module")
def lab_inventory() -> Iterator[Inventory]:
    """A lab of two brokers with two data directories each, for this module."""
    with standing(LabLayout(name=LAB, brokers=2, zookeepers=1, data_dirs=2)) as inventory:
        yield inventory


@pytest.fixture
def lab(lab_inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """That lab's cluster; after each test nothing of a fault is left."""
    with ground(lab_inventory, tmp_path) as here:
        yield here
        assert here.faults.heal_all() == ()


def test_a_directory_that_was_given_up_is_taken_back(lab: Ground) -> None:
    """The broker goes on with the other one, out of sync for what it lost; after the undo every replica is in sync."""
    prepare(lab.brokers, {"spread": Topic(partitions=4, replication_factor=2)})
    lab.await_condition("isr_full(spread)")
    second = lab.inventory.brokers[0].data[1]
    life = lab.inject(f"change_owner: {{target: broker 0, directory: {second}}}")
    prepare(lab.brokers, {"more": Topic(partitions=1, replication_factor=2)})
    until(lambda: any(0 not in one.isr for one in lab.live.partitions("spread")), 90)
    assert lab.live.broker_answers(0)
    assert "Stopping serving logs in dir" in lab.said("node1", "cat", "/var/log/kafka/server.log")
    lab.end(life)
    assert life.took, life.why
    lab.await_condition("isr_full(spread)")
    assert lab.said("node1", "find", second, "!", "-user", "kafka") == ""

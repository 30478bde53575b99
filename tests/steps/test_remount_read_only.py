"""remount_read_only: what it yields, and what is refused before anything is done."""

from __future__ import annotations

import pytest

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, site, step, told


def test_its_life(inventory: Inventory) -> None:
    """It can be done, it is mounted and stands; it is lifted and what ended is started, the broker serves."""
    remount, here = step("remount_read_only: {target: it}"), site(inventory, it=BROKERS[1:2])
    assert told(remount.before(here)) == ["node2: awake", "node2: is", "node2: fits"]
    assert told(remount.inject(here)) == ["node2: put"]
    assert told(remount.verify(here)) == ["node2: stands"]
    assert told(remount.undo(here)) == ["node2: lift", "node2: stop", "node2: start"]
    assert told(remount.healed(here)) == ["node2: gone", "node2: awake", "broker_up(1)"]


def test_which_directory_and_whose(inventory: Inventory) -> None:
    """The first one or the one that is named; how to find the broker, whose mount namespace it is; an id of its own."""
    here = site(inventory, it=BROKERS[:1])
    found = []
    for text in ("remount_read_only: {target: it}", "remount_read_only: {target: it, directory: /mnt/more}"):
        (deed,) = step(text).inject(here)
        assert isinstance(deed, Run)
        found.append(deed.command.argv[5:])
    whose = ("script", "/run/kafka.pid", "/etc/kafka/server.properties")
    ids = [here.mark(at) for at in ("/var/lib/kafka", "/mnt/more")]
    assert found == [(ids[0], "/var/lib/kafka", *whose), (ids[1], "/mnt/more", *whose)]


def test_nobody_else_loses_a_directory_by_it(inventory: Inventory) -> None:
    """A ZooKeeper node whose data lie in the broker's would end as well, uncounted; a name may begin so."""
    remount = step("remount_read_only: {target: it}")
    inside, beside = (_with_zookeeper_at(inventory, at) for at in ("/var/lib/kafka/zk", "/var/lib/kafka-zk"))
    with pytest.raises(StepError, match="has /var/lib/kafka/zk of zookeeper 1 on node1 in it"):
        list(remount.inject(site(inside, it=BROKERS[:1])))
    assert told(remount.inject(site(beside, it=BROKERS[:1]))) == ["node1: put"]


def _with_zookeeper_at(inventory: Inventory, data: str) -> Inventory:
    nodes = {1: inventory.zookeepers[1].model_copy(update={"data": (data,)})}
    return inventory.model_copy(update={"zookeepers": nodes})

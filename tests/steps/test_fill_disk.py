"""fill_disk: what it yields, and what is refused before anything is done."""

from __future__ import annotations

import pytest
from fake_live import kraft_inventory

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Run
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, HOSTS, site, step, told


def test_its_life(inventory: Inventory) -> None:
    """It fits, it is placed and there; it is removed, what ended is started, and all of the host serves again.

    ZooKeeper, or a controller, may have its data on the same file system: a controller ends where it cannot write.
    """
    fill, here = step("fill_disk: {target: it, free: 20MiB}"), site(inventory, it=BROKERS[1:2])
    assert told(fill.before(here)) == ["node2: awake", "node2: awake", "node2: is", "node2: fits"]
    assert told(fill.inject(here)) == ["node2: fill"]
    assert told(fill.verify(here)) == ["node2: filled"]
    assert told(fill.undo(here)) == ["node2: empty", "node2: start", "node2: stop", "node2: start"]
    assert told(fill.healed(here)) == ["node2: gone", "node2: awake", "zookeeper_up(2)", "node2: awake", "broker_up(1)"]


def test_a_controller_on_the_same_host_is_started_before_the_broker() -> None:
    """Found on the lab: filling a broker's disk ended the controller beside it, and only the broker was started."""
    fill, here = step("fill_disk: {target: it, size: 1MiB}"), site(kraft_inventory(), it=BROKERS[:1])
    started = [deed.command.argv for deed in fill.undo(here) if isinstance(deed, Run)][1:]
    assert ["/controller.properties" in argv for argv in started] == [True, False]
    assert "controller_up(101)" in told(fill.healed(here))
    (harm,) = fill.harm(here)
    assert [node.id for node in harm.away] == ["0", "101"]


@pytest.mark.parametrize(("much", "words"), [("size: 1MiB", ("size", "1048576")), ("free: 0B", ("free", "0"))])
def test_how_much_and_where(inventory: Inventory, much: str, words: tuple[str, ...]) -> None:
    """The first directory, or the one that is named; every command names the same file, of this entry alone."""
    here = site(inventory, it=BROKERS[:1])
    file = f"/var/lib/kafka/chaosk-fill-{here.mark()}"
    (deed,) = step(f"fill_disk: {{target: it, {much}}}").inject(here)
    assert isinstance(deed, Run)
    assert deed.command.argv[5:] == (file, *words)
    other = step(f"fill_disk: {{target: it, {much}, directory: /mnt/more}}").undo(here)
    assert isinstance(deed := next(iter(other)), Run)
    assert deed.command.argv[5] == file.replace("/var/lib/kafka", "/mnt/more")


@pytest.mark.parametrize("much", ["size: 1MiB, free: 1MiB", "directory: /x", "size: 0B"])
def test_one_of_size_and_free(much: str) -> None:
    """Both, none or nothing at all is a mistake in the file."""
    with pytest.raises(ValueError, match=r"exactly one of size and free|greater than or equal to 1"):
        step(f"fill_disk: {{target: it, {much}}}")


def test_a_directory_that_the_inventory_has_not(inventory: Inventory) -> None:
    """Told with those that it has; and one without any is told what to write."""
    fill = step("fill_disk: {target: it, size: 1MiB, directory: /srv}")
    with pytest.raises(StepError, match=r"/srv is no data directory of broker 0 on node1 .* has /var/lib/kafka, /mnt"):
        list(fill.inject(site(inventory, it=BROKERS[:1])))
    bare = inventory.model_copy(update={"brokers": {0: inventory.brokers[0].model_copy(update={"data": ()})}})
    with pytest.raises(StepError, match=r"no data directory of broker 0 on node1 .* write `data` for it"):
        list(fill.inject(site(bare, it=BROKERS[:1])))


@pytest.mark.parametrize("nodes", [HOSTS[:1], (Node(kind="zookeeper", id="1", host="node1"),)])
def test_only_brokers_have_logs(inventory: Inventory, nodes: tuple[Node, ...]) -> None:
    """A host or a ZooKeeper node is refused with what to name instead."""
    with pytest.raises(StepError, match="name brokers"):
        list(step("fill_disk: {target: it, size: 1MiB}").inject(site(inventory, it=nodes)))


def test_it_holds_the_directory_and_the_process(inventory: Inventory) -> None:
    """Its undo starts what runs there: nobody else may keep it down meanwhile. All of the host counts as away."""
    fill, here = step("fill_disk: {target: it, size: 1MiB}"), site(inventory, it=BROKERS[:1])
    held = list(fill.holds(here))
    assert held == [
        "the data directory /var/lib/kafka of broker 0 on node1",
        "the process of broker 0 on node1",
        "the process of zookeeper 1 on node1",
    ]
    assert set(held) & set(step("pause_broker: {target: it}").holds(here))
    (harm,) = fill.harm(here)
    assert harm.away == (*BROKERS[:1], Node(kind="zookeeper", id="1", host="node1"))

"""wipe_disk: what it yields, and what is refused before anything is done."""

from __future__ import annotations

import pytest
from fake_live import kraft_inventory

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, site, step, told


def test_its_life(inventory: Inventory) -> None:
    """Ended for sure, set aside, started; the undo puts nothing back by itself; in sync again, the copy goes."""
    wipe, here = step("wipe_disk: {target: it}"), site(inventory, it=BROKERS[1:2])
    assert told(wipe.before(here)) == ["node2: awake", "node2: is", "node2: fits"]
    assert told(wipe.inject(here)) == [
        "node2: hold", "node2: kill", "node2: stop", "node2: gone", "node2: wipe", "node2: start",
    ]  # fmt: skip
    assert told(wipe.verify(here)) == ["node2: stands", "node2: awake", "broker_up(1)"]
    assert told(wipe.undo(here)) == ["node2: settle", "node2: start"]
    assert told(wipe.healed(here)) == ["node2: settled", "node2: awake", "broker_up(1)", "replicas_in_sync(1)"]
    assert told(wipe.tidy(here)) == ["node2: discard"]
    assert told(step("wipe_disk: {target: it, keep: true}").tidy(here)) == ["node2: keep"]


def test_stopped_the_clean_way(inventory: Inventory) -> None:
    """Its leaderships are handed over first."""
    deeds = step("wipe_disk: {target: it, how: stop}").inject(site(inventory, it=BROKERS[1:2]))
    assert told(deeds) == ["node2: stop", "node2: gone", "node2: wipe", "node2: start"]


def test_which_directory_and_whose(inventory: Inventory) -> None:
    """By path or by place, how to find the broker, and an id of the entry's own."""
    here = site(inventory, it=BROKERS[:1])
    for directory in ("2", "/mnt/more"):
        (deed,) = step(f"wipe_disk: {{target: it, directory: {directory}}}").tidy(here)
        assert isinstance(deed, Run)
        which = here.mark("/mnt/more")
        assert deed.command.argv[5:7] == (which, "/mnt/more")
        assert deed.command.argv[7:] == ("script", "/run/kafka.pid", "/etc/kafka/server.properties")


def test_a_place_that_the_inventory_does_not_have(inventory: Inventory) -> None:
    """Refused with what there is."""
    with pytest.raises(StepError, match="3 is no data directory of broker 0 on node1"):
        list(step("wipe_disk: {target: it, directory: 3}").inject(site(inventory, it=BROKERS[:1])))


def test_its_records_count_as_gone(inventory: Inventory) -> None:
    """So that the last replica in sync of somebody else's topic is not wiped out."""
    (harm,) = step("wipe_disk: {target: it}").harm(site(inventory, it=BROKERS[:2]))
    assert harm.away == harm.wiped == BROKERS[:2]


def test_a_controller_never_forgets_its_vote() -> None:
    """A broker that is one as well is refused, one beside controllers of their own is not."""
    for number, refused in ((0, True), (1, False)):
        here = site(kraft_inventory(combined=1, controllers=2), it=BROKERS[number : number + 1])
        deeds = step("wipe_disk: {target: it}").tidy(here)
        if refused:
            with pytest.raises(StepError, match="is a controller as well"):
                list(deeds)
        else:
            assert told(deeds) == ["node2: discard"]


def test_nobody_else_loses_a_directory_by_it(inventory: Inventory) -> None:
    """What another server, or the broker itself, keeps inside would go with it."""
    keeper = inventory.zookeepers[1].model_copy(update={"data": ("/var/lib/kafka/zk",)})
    nested = inventory.brokers[0].model_copy(update={"data": ("/var/lib/kafka", "/var/lib/kafka/more")})
    for changed in ({"zookeepers": {1: keeper}}, {"brokers": {0: nested}}):
        with pytest.raises(StepError, match="which would be hit as well"):
            list(step("wipe_disk: {target: it}").inject(site(inventory.model_copy(update=changed), it=BROKERS[:1])))

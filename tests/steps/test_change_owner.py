"""change_owner: what it yields, and what is refused."""

from __future__ import annotations

import pytest

from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, site, step, told


def test_its_life(inventory: Inventory) -> None:
    """It can be changed, it is changed, it is given back, the broker, which has two directories, restarted."""
    change, here = step("change_owner: {target: it}"), site(inventory, it=BROKERS[1:2])
    assert told(change.before(here)) == ["node2: awake", "node2: is", "node2: fits"]
    assert told(change.inject(here)) == ["node2: change"]
    assert told(change.verify(here)) == ["node2: changed"]
    assert told(change.undo(here)) == ["node2: restore", "node2: stop", "node2: start"]
    assert told(change.healed(here)) == ["node2: restored", "node2: awake", "broker_up(1)"]


def test_whose_and_where(inventory: Inventory) -> None:
    """The account and the directory are what the scenario says; the note on the host is this entry's alone."""
    change = step("change_owner: {target: it, directory: /mnt/more, owner: root}")
    here = site(inventory, it=BROKERS[:1])
    (deed,) = change.inject(here)
    assert isinstance(deed, Run)
    assert deed.command.argv[4:] == ("change", "/mnt/more", here.mark("/mnt/more"), "root")


def test_two_brokers_of_one_host_have_notes_of_their_own(inventory: Inventory) -> None:
    """Whose the first one's was says nothing of the second one's: with one note it would neither change nor return."""
    folders = ("/var/lib/kafka", "/mnt/more")
    asked = [step(f"change_owner: {{target: it, directory: {folder}}}") for folder in folders]
    deeds = [deed for change in asked for deed in change.inject(site(inventory, it=BROKERS[:1]))]
    assert len({deed.command.argv[6] for deed in deeds if isinstance(deed, Run)}) == 2


def test_it_contradicts_a_full_disk_of_the_same_broker(inventory: Inventory) -> None:
    """Either may end it, and neither undo could be told from the other's."""
    here = site(inventory, it=BROKERS[:1])
    other = step("fill_disk: {target: it, size: 1MiB, directory: /mnt/more}")
    assert set(step("change_owner: {target: it}").holds(here)) & set(other.holds(here))


@pytest.mark.parametrize("account", ["ops", "0", "kafka"])
def test_only_accounts_that_win_nothing_by_it(account: str) -> None:
    """Whoever logs in must not get to read a broker's records by an experiment."""
    with pytest.raises(ValueError, match="'nobody' or 'root'"):
        step(f"change_owner: {{target: it, owner: '{account}'}}")

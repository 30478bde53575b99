"""A virtual machine that loses its power, reboots, and crashes: by chaosk's own engine, and with chaosk dead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from on_lab import inside, until
from on_vms import kill_chaosk
from steps.lab import Ground, ground
from steps.on_lab_vms.conftest import LAB, LAYOUT

from chaosk import lab as labs
from chaosk.hosts import fingerprint, heal
from chaosk.hosts.localhost import HERE, kept, places
from chaosk.hosts.transport.local import RoutingTransport
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab import health, power, state
from chaosk.spec.inventory import Inventory

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900), pytest.mark.long]

SHORT, LONG = 20, 60
"""Seconds of a lease that is to run out, and of one that is not to."""
BOOT = "/proc/sys/kernel/random/boot_id"


@pytest.fixture
def lab(inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """The cluster; after each test its host is as it was, though it was booted."""
    with ground(inventory, tmp_path) as here:
        before = {"node1": looks(here)}
        yield here
        assert here.faults.heal_all() == ()
        after = {"node1": looks(here)}
    assert fingerprint.differences(before, after) == ()
    assert fingerprint.changes(before["node1"], after["node1"])[0].startswith("- boot ")


def looks(lab: Ground) -> str:
    """What a run compares before and after."""
    return lab.ssh.run(fingerprint.ask(lab.inventory, "node1")).stdout


def write_two(lab: Ground) -> None:
    """A file that is on the disk, and one that is in the page cache only and stays there, however long that takes."""
    lazily = "cd /proc/sys/vm; echo 0 >dirty_writeback_centisecs; echo 360000 >dirty_expire_centisecs"
    lab.said("node1", "sh", "-c", f"{lazily}; rm -f /srv/lazy; echo yes >/srv/kept; sync; seq 50000 >/srv/lazy")


def read_two(lab: Ground) -> tuple[str, int]:
    """What is left of them."""
    lazy = lab.said("node1", "sh", "-c", "cat /srv/lazy 2>/dev/null | wc -c")
    return lab.said("node1", "cat", "/srv/kept"), int(lazy)


def test_what_was_not_on_the_disk_is_gone(lab: Ground) -> None:
    """The power goes and comes back, the servers with it; a page cache does not outlive that."""
    write_two(lab)
    life = lab.inject("power_off: {target: broker 0}")
    assert power.state(LAB, "node1") == "off"
    lab.end(life)
    assert life.took, life.why
    assert power.state(LAB, "node1") == "on"
    assert lab.live.broker_answers(0)
    assert read_two(lab) == ("yes\n", 0)


@pytest.mark.long
def test_a_clean_reboot_writes_everything(lab: Ground) -> None:
    """Another boot, by the host itself: its power is on throughout, and nothing is lost."""
    write_two(lab)
    was = lab.said("node1", "cat", BOOT)
    life = lab.inject("reboot: {target: host node1}")
    assert life.took, life.why
    assert lab.said("node1", "cat", BOOT) != was
    assert lab.live.broker_answers(0)
    assert read_two(lab) == ("yes\n", len("".join(f"{n}\n" for n in range(1, 50_001))))


@pytest.mark.long
def test_a_crashed_kernel_hangs_and_is_switched_off_and_on(lab: Ground) -> None:
    """User Mode Linux loops for ever after a panic, its power on; the undo takes the switch, once.

    What was not synced may be there all the same: a kernel that loops was seen to write it.
    """
    write_two(lab)
    was = lab.said("node1", "cat", BOOT)
    life = lab.inject("crash_kernel: {target: host node1}")
    assert power.state(LAB, "node1") == "on"
    lab.end(life)
    assert life.took, life.why
    assert lab.said("node1", "cat", BOOT) != was
    assert lab.live.broker_answers(0)
    assert read_two(lab)[0] == "yes\n"


def answers(inventory: Inventory) -> bool:
    """Whether the machine's SSH server does."""
    address = inventory.hosts["node1"].address
    return health.in_lab(state.of(LAB).namespace, [lambda: health.ssh_answers(address)])[0]


def healed(inventory: Inventory) -> dict[str, heal.Healed]:
    """By place what `chaosk heal` makes of it."""
    with inside(str(inventory.network_namespace)):
        transport = RoutingTransport(Ssh(inventory.hosts), kept(inventory.name))
        try:
            return {one.host: one for one in heal.heal(transport, places(inventory))}
        finally:
            transport.close()


def test_chaosk_is_killed_while_the_power_is_off(place: Path, inventory: Inventory, tmp_path: Path) -> None:
    """What it has left on this machine switches the host on once the lease is over; nobody else does anything."""
    kill_chaosk(place, tmp_path, {"power_off": {"target": "broker 0"}}, SHORT)
    assert power.state(LAB, "node1") == "off"
    until(lambda: power.state(LAB, "node1") == "on", SHORT + 10)
    until(lambda: answers(inventory), 180)
    until((kept(LAB) / "leases/killed-20.fault/healed").exists, 30)
    found = healed(inventory)
    assert found[HERE].what.endswith("already undone by the host")
    assert found["node1"].what.endswith("undone now; the host was booted since")
    assert {one.state for one in healed(inventory).values()} == {"whole"}
    until(lambda: labs.status(LAB).healthy, 120)


@pytest.mark.long
def test_a_lease_on_a_host_that_lost_its_power_is_found(place: Path, inventory: Inventory, tmp_path: Path) -> None:
    """Its timer is gone with the boot, the file of a fill_disk is not: `chaosk heal` removes it by what lies there.

    A broker that comes up with its host before the session that it had with ZooKeeper is over ends at once, and nobody
    starts it again but `lab up`.
    """
    kill_chaosk(place, tmp_path, {"fill_disk": {"target": "broker 0", "size": "8MiB"}}, LONG)
    power.off(LAB, "node1")
    power.on(LAB, "node1")
    until(lambda: answers(inventory), 180)
    labs.up(LAYOUT, print)
    with ground(inventory, tmp_path / "after") as here:
        assert "chaosk-fill-" in looks(here)
        assert healed(inventory)["node1"].what.endswith("undone now; the host was booted since")
        assert "chaosk-fill-" not in looks(here)

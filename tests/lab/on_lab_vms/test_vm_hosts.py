"""One virtual machine with a broker and a ZooKeeper node: what is its own, its power switch, what is said of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from bare_hosts import cut
from on_lab import inside, until

from chaosk import lab
from chaosk.core.errors import LabError
from chaosk.document import load_inventory
from chaosk.hosts import lease
from chaosk.hosts.commands import service
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab import health, jars, launchers, runner, state
from chaosk.lab.vm_hosts import VmHosts
from chaosk.spec.contracts.step import Run
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1_500), pytest.mark.long]

LAYOUT = LabLayout(name=f"v{os.getpid() % 1_000_000}", brokers=1, zookeepers=1, hosts="vms")
ADDRESS = "198.18.0.11"
LEASE = 40.0
"""Seconds: what is done under it takes a while where everything is emulated."""


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """A state directory of the test's own, with the machine's jars and images in it."""
    if lacking := [program for program in ("linux.uml", "debootstrap", "mkfs.ext4") if runner.locate(program) is None]:
        packages = ", ".join(runner.PACKAGES[program] for program in lacking)
        pytest.skip(f"virtual machines need {packages}; ./dev test installs them on amd64")
    cached = jars.ensure(LAYOUT.kafka, jars.dependencies(LAYOUT.kafka), print)
    at = Path(tempfile.mkdtemp(prefix="chaosk-vms-"))
    (at / "kafka").symlink_to(cached.parent)
    (at / "images").symlink_to(runner.directory(state.state_root() / "images"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAOSK_STATE", str(at))
        yield at
        lab.down(LAYOUT.name, print, force=True)
    shutil.rmtree(at)


@pytest.fixture(scope="module")
def inventory(root: Path) -> Inventory:
    """The lab is up; what chaosk reads of it."""
    loaded = load_inventory(lab.up(LAYOUT, print))
    assert isinstance(loaded, Inventory)
    assert root in state.of(LAYOUT.name).directory.parents
    return loaded


@pytest.fixture
def vms(inventory: Inventory) -> VmHosts:
    """The hosts of the lab, which is up."""
    assert inventory.name == LAYOUT.name
    return VmHosts(state.of(LAYOUT.name))


def ssh_answers() -> bool:
    """Whether the machine's SSH server does."""
    return health.in_lab(state.of(LAYOUT.name).namespace, [lambda: health.ssh_answers(ADDRESS)])[0]


def test_a_machine_is_its_own(vms: VmHosts) -> None:
    """Its kernel, its disk, systemd with the services, iptables of the other flavour; and there is no way out."""
    assert vms.on_host("node1", ["uname", "-r"]).strip() != os.uname().release
    assert "ext4" in vms.on_host("node1", ["grep", " / ", "/proc/mounts"])
    assert vms.on_host("node1", ["systemctl", "is-active", "kafka", "zookeeper"]) == "active\nactive\n"
    assert vms.on_host("node1", ["systemctl", "is-enabled", "kafka"]) == "enabled\n"
    assert "legacy" in vms.on_host("node1", ["iptables", "--version"])
    assert vms.on_host("node1", ["ip", "route", "show"]).split() == [
        *("198.18.0.0/24", "dev", "eth0", "proto", "kernel", "scope", "link", "src", ADDRESS)
    ]
    assert "Started kafka.service" in vms.on_host("node1", ["journalctl", "--unit", "kafka", "--no-pager"])
    assert "started" in vms.read_log("node1", "/var/log/kafka/server.log", 100)


@pytest.mark.parametrize("service", ["kafka", "zookeeper"])
def test_a_service_starts_from_the_archive_of_classes(vms: VmHosts, service: str) -> None:
    """It is in the memory of their Java, though the image has its files in another order than they were made in."""
    number = vms.on_host("node1", ["systemctl", "show", "--property", "MainPID", "--value", service]).strip()
    mapped = vms.on_host("node1", ["sudo", "-n", "cat", f"/proc/{number}/maps"])
    assert f"/opt/kafka/libs/{launchers.CLASSES}" in mapped


@pytest.mark.usefixtures("inventory")
def test_a_machine_stays_on_one_processor(root: Path) -> None:
    """Its kernel and all its programs: on two, each system call would wake another processor."""
    processors = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            words = (process / "cmdline").read_bytes()
            if os.fsencode(root) in words and b"umid=node1" in words:
                processors.append(os.sched_getaffinity(int(process.name)))
    assert len(processors) > 5
    assert processors == [{min(os.sched_getaffinity(0))}] * len(processors)


def test_words_arrive_as_they_are(vms: VmHosts) -> None:
    """The shell that SSH starts reads none of them; a failure has the command's words, a hang is one after its time."""
    word = "$(id); `id` 'x' \"y\" *\n"
    assert vms.on_host("node1", ["printf", "%s", word]) == word
    with pytest.raises(LabError, match="node1: ls /nowhere: exit status 2: ls: cannot access '/nowhere'"):
        vms.on_host("node1", ["ls", "/nowhere"])
    with pytest.raises(LabError, match=r"no end after 2 s"):
        vms.on_host("node1", ["sleep", "60"], timeout=2)


def test_chaosk_controls_its_services(inventory: Inventory) -> None:
    """The commands of steps find the broker under systemd, freeze it, and let it go on."""
    broker = inventory.brokers[0]
    with inside(state.of(LAYOUT.name).namespace):
        ssh = Ssh(inventory.hosts)
        try:
            for command in (service.is_running(broker), service.signal(broker, "STOP"), service.is_frozen(broker)):
                assert ssh.run(command).ok
            for command in (service.resume(broker), service.is_awake(broker)):
                assert ssh.run(command).ok
        finally:
            ssh.close()


def test_a_cut_ends_with_its_lease(inventory: Inventory, vms: VmHosts) -> None:
    """By iptables of the legacy flavour, with a timer that systemd runs: nobody renews, and the host heals itself."""
    fault, _ = cut(inventory, "node1")
    (one,) = lease.leases(fault, "bare-run", "tests")
    with inside(state.of(LAYOUT.name).namespace):
        ssh = Ssh(inventory.hosts)
        try:
            assert ssh.run(lease.arm(one, LEASE)).ok
            for deed in fault.inject:
                assert isinstance(deed, Run)
                done = ssh.run(lease.under(one, deed.command))
                assert done.ok, done
            assert "CHAOSK" in vms.on_host("node1", ["iptables-save", "-t", "filter"])
            unit = f"chaosk-lease-{one.id}.service"
            assert vms.on_host("node1", ["systemctl", "is-active", unit]) == "active\n"
            assert health.brokers_seen(ADDRESS, 9092) == frozenset()
            until(lambda: health.brokers_seen(ADDRESS, 9092) == frozenset({0}), LEASE + 30)
            until(lambda: held(ssh) == ["healed"], 30)
            assert ssh.run(lease.disarm("node1", one.id)).ok
        finally:
            ssh.close()
    assert "CHAOSK" not in vms.on_host("node1", ["iptables-save", "-t", "filter"])


def held(ssh: Ssh) -> list[str]:
    """The states of the leases that node1 has."""
    return [one.state for one in lease.held("node1", ssh.run(lease.listing("node1")).stdout)]


def test_off_hung_and_whole_again(vms: VmHosts) -> None:
    """A machine that lost its power, or hangs, is noticed and said; what it had brought to its disk is there again."""
    vms.on_host("node1", ["sh", "-c", "echo kept >/srv/kept; sync; echo gone >/run/gone"])
    vms.switch_off("node1")
    (found,) = lab.status(LAYOUT.name).hosts
    assert (found.runs, found.ssh, lab.status(LAYOUT.name).healthy) == (False, False, False)
    with pytest.raises(LabError, match=r"node1 is off, and its disk with it; its console ends with:\n.*OK"):
        vms.read_log("node1", "/var/log/kafka/server.log", 5)
    vms.start("node1")
    until(ssh_answers, vms.patience)
    assert vms.on_host("node1", ["sh", "-c", "cat /srv/kept /run/gone || true"]) == "kept\n"

    kernel = runner.run([*vms._in_lab(), "pgrep", "-o", "-f", "^[^ ]*/power-on mem="]).strip()
    runner.run([*vms._in_lab(), "kill", "-STOP", kernel])
    (found,) = lab.status(LAYOUT.name).hosts
    assert (found.runs, found.ssh) == (True, False)
    os.utime(state.of(LAYOUT.name).host("node1") / "pid", (1, 1))  # it had all the time in the world to boot
    said: list[str] = []
    lab.up(LAYOUT, said.append)
    assert said[0] == "node1: runs, but no SSH server answers; switching it off and on"
    assert lab.status(LAYOUT.name).healthy


def test_down_leaves_nothing(vms: VmHosts, root: Path) -> None:
    """No process, no mount, no network, no file but what all labs share."""
    place = state.of(LAYOUT.name)
    assert vms.alive()
    lab.down(LAYOUT.name, print)
    lines = [file.read_text("utf-8", "replace") for file in Path("/proc").glob("[0-9]*/cmdline") if readable(file)]
    assert [line for line in lines if str(root) in line] == []
    assert not place.namespace_file.exists()
    assert sorted(path.name for path in root.iterdir()) == ["images", "kafka", "labs"]
    assert list((root / "labs").iterdir()) == []


def readable(file: Path) -> bool:
    """Whether the process is still there."""
    try:
        file.read_bytes()
    except OSError:
        return False
    return True

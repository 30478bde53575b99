"""A virtual machine whose disk is slow, fails or is read-only, and one whose kernel kills: real devices and logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from on_lab import until
from on_vms import kill_chaosk
from steps.lab import Ground, ground

from chaosk.cluster.topics import prepare
from chaosk.core.errors import StepError
from chaosk.hosts import fingerprint
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900), pytest.mark.long]

DISK = "data-kafka"
DATA = "/var/lib/kafka"
LEASE = 30
"""Seconds of a lease that is to run out."""


@pytest.fixture
def lab(inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """The cluster; after each test its host is as it was, down to the table and the mount of the disk."""
    with ground(inventory, tmp_path) as here:
        before = looks(here)
        yield here
        assert here.faults.heal_all() == ()
        assert looks(here) == before


def looks(lab: Ground) -> tuple[str, ...]:
    """What a run compares before and after, the table of the disk, how it is mounted, what Kafka would stumble on."""
    words = f"dmsetup table; grep -c {DATA} /proc/mounts; grep {DATA} /proc/mounts; ls -d {DATA}/lost+found 2>/dev/null"
    said = lab.run("node1", "sh", "-c", words).stdout
    return (lab.ssh.run(fingerprint.ask(lab.inventory, "node1")).stdout, *said.splitlines())


def writes(lab: Ground) -> float:
    """Seconds that a small file takes to the disk, by the host's own time since boot."""
    now = "cut -d ' ' -f 1 /proc/uptime"
    done = lab.said("node1", "sh", "-c", f"{now}; echo x >{DATA}/made; sync {DATA}/made; {now}; rm {DATA}/made")
    began, ended = map(float, done.split())
    return ended - began


def test_a_slow_disk_is_slow_until_it_is_undone(lab: Ground) -> None:
    """A file takes as long to the disk as the delay, several times where its journal has to wait as well."""
    life = lab.inject("slow_disk: {target: broker 0, read: 100ms, write: 1500ms}")
    assert " delay " in lab.said("node1", "dmsetup", "table", DISK)
    assert writes(lab) >= 1.5
    assert "+ kept /var/lib/chaosk/mapper/" in "\n".join(fingerprint.changes("", looks(lab)[0]))
    lab.end(life)
    assert life.took, life.why
    assert writes(lab) < 1.5
    assert " linear " in lab.said("node1", "dmsetup", "table", DISK)


@pytest.mark.long
def test_somebody_who_mends_the_disk_is_noticed(lab: Ground) -> None:
    """A disk that was slow for a while only; the undo finds its own table and is content."""
    linear = lab.said("node1", "dmsetup", "table", DISK).strip()
    life = lab.inject("slow_disk: {target: broker 0, write: 100ms}")
    lab.said("node1", "sh", "-c", f"dmsetup load {DISK} --table '{linear}' && dmsetup resume {DISK}")
    lab.end(life)
    assert not life.took
    assert "somebody has given data-kafka another table" in life.why[0]


@pytest.mark.long
@pytest.mark.parametrize("operations", ["all", "writes"])
def test_a_disk_that_fails_is_mended(lab: Ground, operations: str) -> None:
    """Nobody can sync, until the file system gives up, or the broker; afterwards it serves what it had synced."""
    prepare(lab.brokers, {"kept": Topic(partitions=1, replication_factor=1)})
    produce(lab, b"before")
    lab.said("node1", "sync", "-f", DATA)
    life = lab.inject(f"fail_disk: {{target: broker 0, operations: {operations}}}")
    failed = lab.run("node1", "sh", "-c", f"echo x >{DATA}/made; sync {DATA}/made")
    assert re.search("Input/output error|Read-only file system", failed.stderr), failed
    until(lambda: not lab.run("node1", "systemctl", "is-active", "kafka").ok or aborted(lab), 60)
    lab.end(life)
    assert life.took, life.why
    assert lab.live.broker_answers(0)
    assert not lab.run("node1", "ls", f"{DATA}/lost+found").ok
    produce(lab, b"after")
    kept = lab.said("node1", "sh", "-c", f"cat {DATA}/kept-0/*.log | tr -cd a-z")
    assert re.search("before.*after", kept), "between what batches have for headers"


def aborted(lab: Ground) -> bool:
    """Whether ext4 has given its journal up, and lets nobody write any more."""
    return "Read-only file system" in lab.run("node1", "touch", f"{DATA}/made").stderr


def produce(lab: Ground, value: bytes) -> None:
    """Write one record, acknowledged."""
    producer = Producer({"bootstrap.servers": lab.inventory.bootstrap_servers(), "acks": "all"})
    errors: list[object] = []
    producer.produce("kept", value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(60) == 0
    assert errors == [None]


@pytest.mark.long
def test_a_killed_chaosk_leaves_the_mending_to_the_lease(place: Path, lab: Ground, tmp_path: Path) -> None:
    """SIGKILL while the disk fails: the host brings the table back, mends the file system and starts the broker."""
    (tmp_path / "killed").mkdir()
    kill_chaosk(place, tmp_path / "killed", {"fail_disk": {"target": "broker 0"}}, LEASE)
    assert " error" in lab.said("node1", "dmsetup", "table", DISK)
    healed = f"/var/lib/chaosk/leases/killed-{LEASE}.fault/healed"
    until(lambda: lab.run("node1", "test", "-e", healed).ok, LEASE + 120)
    assert " linear " in lab.said("node1", "dmsetup", "table", DISK)
    lab.await_condition("broker_up(0)", 120)
    lab.said("node1", "rm", "-r", healed.rpartition("/")[0])


SPOILS = [
    (f"mkdir -p /mnt/x && mount /dev/mapper/{DISK} /mnt/x", "umount /mnt/x", "data-kafka, is mounted 2 times"),
    (f"cd {DATA} && exec sleep 900 </dev/null >/dev/null 2>&1 &", "pkill -x sleep", r"\(sleep\) has files open"),
    (f"dmsetup load {DISK} --table '0 8 error'", f"dmsetup clear {DISK}", "somebody has loaded another table"),
    ("mv /usr/sbin/dmsetup /usr/sbin/away", "mv /usr/sbin/away /usr/sbin/dmsetup", "there is no dmsetup; install"),
    (f"mount --bind {DATA} /var/lib/chaosk", "umount /var/lib/chaosk", "the host keeps its leases|keeps its leases"),
]


@pytest.mark.long
@pytest.mark.parametrize(("spoil", "mend", "why"), SPOILS, ids=[why[:20] for _, _, why in SPOILS])
def test_a_disk_that_is_not_the_brokers_alone_is_left_alone(lab: Ground, spoil: str, mend: str, why: str) -> None:
    """Each is refused with its reason before anything is armed, and the table stays."""
    table = lab.said("node1", "dmsetup", "table")
    lab.said("node1", "sh", "-c", spoil)
    try:
        with pytest.raises(StepError, match=why):
            lab.inject("slow_disk: {target: broker 0, write: 1s}")
    finally:
        lab.said("node1", "sh", "-c", mend)
    assert lab.said("node1", "dmsetup", "table") == table


@pytest.mark.long
def test_a_root_file_system_is_left_alone(lab: Ground) -> None:
    """Here it is on no device of device-mapper either: the reason says on what it is."""
    whole = lab.inventory
    broker = whole.brokers[0].model_copy(update={"data": ("/srv",)})
    lab.inventory = whole.model_copy(update={"brokers": {0: broker}})
    with pytest.raises(StepError, match=r"/srv is on ext4, device \d+:\d+, not on a device of device-mapper"):
        lab.inject("slow_disk: {target: broker 0, write: 1s}")
    lab.inventory = whole


@pytest.mark.long
def test_a_read_only_directory_of_a_unit(lab: Ground) -> None:
    """Where systemd runs the broker: nobody can write there, then everybody again."""
    life = lab.inject("remount_read_only: {target: broker 0}")
    assert aborted(lab)
    lab.end(life)
    assert life.took, life.why
    assert lab.live.broker_answers(0)
    assert writes(lab) < 60


@pytest.mark.long
def test_the_kernel_kills_the_broker_and_says_so(lab: Ground) -> None:
    """Its log names the process, systemd the reason; ZooKeeper, as large a process, lives on."""
    pid, other = (lab.said("node1", "systemctl", "show", "-p", "MainPID", "--value", unit) for unit in UNITS)
    life = lab.inject("kill_broker: {target: broker 0, how: oom_killer}")
    log = lab.said("node1", "dmesg")
    assert re.search(rf"Out of memory: Killed process {pid.strip()} \(java\)", log)
    assert lab.said("node1", "systemctl", "show", "-p", "Result", "--value", "kafka") == "oom-kill\n"
    assert lab.said("node1", "systemctl", "show", "-p", "MainPID", "--value", "zookeeper") == other
    lab.end(life)
    assert life.took, life.why
    assert lab.live.broker_answers(0)


UNITS = ("kafka", "zookeeper")


@pytest.mark.long
def test_where_another_could_be_killed_nobody_is(lab: Ground) -> None:
    """A process that is as likely a victim: refused with its id, and both live."""
    lab.said("node1", "sh", "-c", "echo 1000 >/proc/$(systemctl show -p MainPID --value zookeeper)/oom_score_adj")
    with pytest.raises(StepError, match="the kernel might as well kill process"):
        lab.inject("kill_broker: {target: broker 0, how: oom_killer}")
    lab.said("node1", "sh", "-c", "echo 0 >/proc/$(systemctl show -p MainPID --value zookeeper)/oom_score_adj")
    assert lab.live.broker_answers(0)

"""What is done to brokers' data directories, on a real cluster whose hosts have file systems of a chosen size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from on_lab import until

from chaosk.cluster.topics import prepare
from chaosk.core.errors import StepError
from chaosk.hosts import fingerprint
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

from .lab import Ground, ground, standing

pytestmark = [pytest.mark.lab, pytest.mark.timeout(180), pytest.mark.long]

LAB = "data"
OTHER = "3.9.1"
"""A version beside the lab's own."""
MIB = 1024
"""KiB."""
SMALL = """\
/opt/kafka/bin/kafka-stop; while kill -0 "$(cat /run/kafka/kafka.pid)" 2>/dev/null; do sleep 0.2; done
mkdir -p /mnt/small && mount -t tmpfs -o size=96m tmpfs /mnt/small && cp -a /var/lib/kafka/. /mnt/small &&
chown --reference=/var/lib/kafka /mnt/small && mount --bind /mnt/small /var/lib/kafka && /opt/kafka/bin/kafka-start
"""


@pytest.fixture(scope="module")
def lab_inventory() -> Iterator[Inventory]:
    """A lab of three hosts and two versions for this module; broker 2's data lie on a tmpfs of 96 MiB."""
    with standing(LabLayout(name=LAB, also=(OTHER,))) as inventory:
        yield inventory


@pytest.fixture
def lab(lab_inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """The lab's cluster; after each test its hosts are as they were."""
    with ground(lab_inventory, tmp_path) as here:
        before = {host: state(here, host) for host in lab_inventory.hosts}
        yield here
        assert here.faults.heal_all() == ()
        assert {host: state(here, host) for host in lab_inventory.hosts} == before


def state(lab: Ground, host: str) -> str:
    """What a run compares before and after."""
    return lab.ssh.run(fingerprint.ask(lab.inventory, host)).stdout


def free(lab: Ground, host: str) -> int:
    """KiB that df calls available where a broker's data lie."""
    return int(lab.said(host, "df", "-Pk", "/var/lib/kafka").split("\n")[1].split()[3])


def test_a_file_of_a_size_is_there_and_goes(lab: Ground) -> None:
    """The figures of df change, the broker goes on, and a look at the host tells that something is there."""
    before, was = free(lab, "node1"), state(lab, "node1")
    life = lab.inject("fill_disk: {target: broker 0, size: 200MiB}")
    assert 199 * MIB < before - free(lab, "node1") < 202 * MIB
    assert any("chaosk-fill-" in one for one in fingerprint.unhealed(fingerprint.changes(was, state(lab, "node1"))))
    assert lab.live.broker_answers(0)
    lab.end(life)
    assert life.took
    assert abs(free(lab, "node1") - before) < MIB


def test_leases_keep_their_room(lab: Ground) -> None:
    """Where leases lie on the same file system filling it is refused, and nothing is written."""
    lab.said("node1", "sh", "-c", "mkdir -p /opt/leases && mount --bind /opt/leases /var/lib/chaosk")
    try:
        with pytest.raises(StepError, match=r"did not take: .* leave 16384 KiB free for leases"):
            lab.inject("fill_disk: {target: broker 0, free: 1MiB}")
        life = lab.inject("fill_disk: {target: broker 0, free: 20MiB}", "less")
        assert free(lab, "node1") <= 20 * MIB
        lab.end(life)
        assert life.took
    finally:
        lab.said("node1", "umount", "/var/lib/chaosk")


def test_somebody_who_makes_room_is_noticed(lab: Ground) -> None:
    """A disk that was full for a while only is no full disk."""
    life = lab.inject("fill_disk: {target: broker 0, size: 1MiB}")
    lab.said("node1", "sh", "-c", "rm /var/lib/kafka/chaosk-fill-*")
    lab.end(life)
    assert not life.took
    assert "did not last: before undoing it, not seen: /var/lib/kafka of broker 0" in life.why[0]


def test_a_broker_whose_files_are_not_its_own_ends_and_comes_back(lab: Ground) -> None:
    """It cannot make a file any more, gives its only directory up and ends; the undo gives it all back to `kafka`."""
    life = lab.inject("change_owner: {target: broker 1}")
    assert lab.said("node2", "find", "/var/lib/kafka", "-user", "kafka") == ""
    until(lambda: not lab.run("node2", "sh", "-c", 'kill -0 "$(cat /run/kafka/kafka.pid)"').ok, 60)
    lab.end(life)
    assert life.took, life.why
    assert lab.live.broker_answers(1)
    assert lab.said("node2", "find", "/var/lib/kafka", "!", "-user", "kafka") == ""


def test_a_broker_that_cannot_make_files_ends_and_comes_back(lab: Ground) -> None:
    """Read-only for the kernel: at a checkpoint the broker gives its only directory up and ends."""
    was, before = lab.said("node3", "cat", "/proc/self/mountinfo"), state(lab, "node3")
    life = lab.inject("remount_read_only: {target: broker 2}")
    assert "Read-only file system" in lab.run("node3", "touch", "/var/lib/kafka/made").stderr
    found = fingerprint.unhealed(fingerprint.changes(before, state(lab, "node3")))
    assert "+ data /var/lib/kafka is read-only" in found
    until(lambda: not lab.run("node3", "sh", "-c", 'kill -0 "$(cat /run/kafka/kafka.pid)"').ok, 60)
    assert "Read-only file system" in lab.said("node3", "cat", "/var/log/kafka/server.log")
    lab.end(life)
    assert life.took, life.why
    assert lab.live.broker_answers(2)
    assert lab.said("node3", "cat", "/proc/self/mountinfo") == was
    lab.said("node3", "sh", "-c", "touch /var/lib/kafka/made && rm /var/lib/kafka/made")


def test_a_directory_that_somebody_makes_writable_again_was_not_read_only(lab: Ground) -> None:
    """Seen before the undo, which then finds nothing to do."""
    life = lab.inject("remount_read_only: {target: broker 0}")
    lab.said("node1", "umount", "-l", "/var/lib/kafka")
    lab.end(life)
    assert not life.took
    assert "did not last: before undoing it, not seen: /var/lib/kafka of broker 0" in life.why[0]


def test_a_host_puts_a_version_back_by_itself_and_only_once(lab: Ground) -> None:
    """The broker's own log says what it is; an undo that is repeated finds nothing to stop."""
    before = state(lab, "node2")
    life = lab.inject(f"switch_version: {{target: broker 1, version: {OTHER}}}")
    found = fingerprint.unhealed(fingerprint.changes(before, state(lab, "node2")))
    assert f"+ link /opt/kafka names /opt/kafka-{OTHER}" in found
    assert f"Kafka version: {OTHER}" in lab.said("node2", "tail", "-n", "400", "/var/log/kafka/server.log")
    with pytest.raises(StepError, match="/opt/kafka is switched already"):
        lab.inject(f"switch_version: {{target: broker 1, version: {LabLayout().kafka}}}", "again")
    lab.heal("node2", life)
    assert f"/opt/kafka-{LabLayout().kafka}/libs/" in _jars(lab, "node2")
    pid = lab.pid("node2", "kafka")
    lab.end(life)
    assert lab.pid("node2", "kafka") == pid


def _jars(lab: Ground, host: str) -> str:
    """The jars of clients that its broker has open."""
    fds = f"/proc/{lab.pid(host, 'kafka')}/fd"
    return lab.said(host, "find", fds, "-lname", "*/kafka-clients-*.jar", "-printf", "%l")


@pytest.mark.parametrize(
    ("version", "why"), [("3.9.2", "3.9.2 is the version in use"), ("4.0.0", "is not among the installations")]
)
def test_a_version_that_cannot_be_switched_to_stops_nobody(lab: Ground, version: str, why: str) -> None:
    """Refused while the broker still runs."""
    pid = lab.pid("node1", "kafka")
    with pytest.raises(StepError, match=why):
        lab.inject(f"switch_version: {{target: broker 0, version: {version}}}")
    assert lab.pid("node1", "kafka") == pid


def filled(lab: Ground, topic: str) -> str:
    """Make a topic with records on all brokers, and say how many bytes broker 1 has of it."""
    prepare(lab.brokers, {topic: Topic(partitions=1, replication_factor=3)})
    lab.await_condition(f"isr_full({topic})")
    producer = Producer({"bootstrap.servers": lab.inventory.bootstrap_servers(), "acks": "all"})
    for number in range(100):
        producer.produce(topic, f"{number:0500}")
    assert producer.flush(20) == 0
    return size(lab, topic)


def size(lab: Ground, topic: str) -> str:
    """How many bytes broker 1 has of a topic."""
    return lab.said("node2", "stat", "-c", "%s", f"/var/lib/kafka/{topic}-0/{0:020}.log")


def test_a_broker_with_an_empty_disk_fetches_everything_anew(lab: Ground) -> None:
    """A host that heals itself keeps what was set aside; a run that sees the broker in sync again deletes it."""
    had = filled(lab, "wiped")
    life = lab.inject("wipe_disk: {target: broker 1}")
    lab.heal("node2", life)
    assert had in lab.said("node2", "sh", "-c", "stat -c %s /var/lib/kafka.chaosk-*/old/wiped-0/*.log")
    assert any("/var/lib/kafka.chaosk-" in one for one in state(lab, "node2").splitlines())
    lab.faults.end(life)
    assert life.healed is not None, life.why
    assert size(lab, "wiped") == had
    assert not lab.run("node2", "sh", "-c", "ls -d /var/lib/kafka.chaosk-*").ok


def test_a_broker_that_was_never_started_without_its_records_has_them_again(lab: Ground) -> None:
    """If chaosk dies when the directory is set aside and the broker is down, the host puts it back and starts it."""
    had = filled(lab, "spared")
    was = lab.said("node2", "stat", "-c", "%i", "/var/lib/kafka")
    life = lab.half("wipe_disk: {target: broker 1, how: stop}", without=1)
    assert lab.said("node2", "ls", "/var/lib/kafka") == "meta.properties\n"
    lab.heal("node2", life)
    assert lab.said("node2", "stat", "-c", "%i", "/var/lib/kafka") == was
    assert size(lab, "spared") == had
    lab.end(life)
    assert lab.live.broker_answers(1)


def test_a_broker_finds_what_is_corrupt_and_fetches_it_anew(lab: Ground) -> None:
    """It says where it cuts the log off, and has as many bytes as before once it is in sync."""
    had = filled(lab, "bitten")
    life = lab.inject("corrupt_log: {target: broker 1, topic: bitten}")
    assert life.took, life.why
    found = lab.said("node2", "grep", "partition=bitten-0.*Corruption found in segment", "/var/log/kafka/server.log")
    assert "truncating to offset" in found
    lab.await_condition("replicas_in_sync(1)")
    assert size(lab, "bitten") == had


def test_what_no_broker_has_read_is_mended_by_the_host(lab: Ground) -> None:
    """If chaosk dies when the bytes are overwritten and the broker is down, they are put back before it starts."""
    filled(lab, "mended")
    segment = f"/var/lib/kafka/mended-0/{0:020}.log"
    was = lab.said("node2", "sha256sum", segment)
    life = lab.half("corrupt_log: {target: broker 1, topic: mended}", without=3)
    assert lab.said("node2", "sha256sum", segment) != was
    lab.heal("node2", life)
    assert lab.said("node2", "sha256sum", segment) == was
    lab.end(life)
    assert lab.live.broker_answers(1)


@pytest.mark.parametrize(
    "text",
    ["slow_disk: {target: broker 0, write: 1s}", "fail_disk: {target: broker 0}",
     "kill_broker: {target: broker 0, how: oom_killer}"],
)  # fmt: skip
def test_no_device_and_no_kernel_is_touched_that_is_not_the_hosts_own(lab: Ground, text: str) -> None:
    """A namespace host refuses by itself, whatever its inventory says: it would be this machine's disk, or memory."""
    with pytest.raises(StepError, match="this host shares the kernel of the machine that chaosk runs on"):
        lab.inject(text)
    assert lab.live.broker_answers(0)


def test_a_broker_without_room_ends_and_comes_back(lab_inventory: Inventory, tmp_path: Path) -> None:
    """No space left on device, for real: the broker gives its only directory up and ends; the undo brings it back."""
    with ground(lab_inventory, tmp_path) as lab:
        lab.said("node3", "sh", "-c", SMALL)
        lab.await_condition("broker_up(2)")
        prepare(lab.brokers, {"full": Topic(partitions=1, replication_factor=3)})
        lab.await_condition("isr_full(full)")
        life = lab.inject("fill_disk: {target: broker 2, free: 0B}")
        assert free(lab, "node3") == 0
        producer = Producer({"bootstrap.servers": lab.inventory.bootstrap_servers(), "acks": "1"})
        for _ in range(200):
            producer.produce("full", bytes(50_000))
        producer.flush(20)
        until(lambda: not lab.run("node3", "sh", "-c", 'kill -0 "$(cat /run/kafka/kafka.pid)"').ok, 40)
        assert "No space left on device" in lab.said("node3", "cat", "/var/log/kafka/server.log")
        lab.end(life)
        assert life.took, life.why
        assert lab.live.broker_answers(2)

"""What scripts open as root on a host of a real cluster, while the run's own engine injects steps and heals them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from opened import leaves, undeclared
from tracing import QUICK, Known, Touch, traced

from chaosk.cluster.topics import prepare
from chaosk.hosts import fingerprint, lease, lock
from chaosk.hosts.commands.dump import markers
from chaosk.hosts.scripts import PARTS, script
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.state import of
from chaosk.run.preflight import facts
from chaosk.run.preflight.host_requirements import needs
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

from .lab import Ground, ground, standing

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(900)]

LAB, HOST, OTHER = "traced", "node2", "3.9.1"
SHELL = "/usr/local/sbin/sh"
"""Which is found before any other."""
WATCHED = f"""\
#!/bin/sh
# Has strace watch each of chaosk's scripts that begins here as root, unless it is watched already.
if [ "$1" != -c ] || [ "$3" != chaosk ] || [ "$(id -u)" != 0 ]; then exec /bin/sh "$@"; fi
while read -r name pid; do [ "$name" != TracerPid: ] || break; done </proc/self/status
[ "$pid" = 0 ] || exec /bin/sh "$@"
mkdir -p /var/log/traced/$$
exec {" ".join(word if word != "-f" else "-DDDf" for word in QUICK)} /var/log/traced/$$/of /bin/sh "$@"
"""
TELL = 'cd /var/log/traced && for each in */of.*; do echo "=== $each"; cat "$each"; done'
STEPS = (
    # first those that freeze a process: the kernel calls one that is watched frozen by another letter
    "pause_broker: {target: broker 1}",
    "kill_broker: {target: broker 1}",
    "corrupt_log: {target: broker 1, topic: watched}",
    "wipe_disk: {target: broker 1}",
    "cut_network: {between: [host node2, host node1]}",
    "lose_packets: {between: [host node2, host node1], share: 10 %}",
    "reset_connections: {between: [host node2, everyone else]}",
    "limit_bandwidth: {between: [host node2, host node1], rate: 100Mbit/s}",
    "burn_cpu: {target: broker 1, cores: 1}",
    "eat_memory: {target: broker 1, size: 50MiB}",
    "fill_disk: {target: broker 1, size: 20MiB}",
    "set_broker_config: {target: broker 1, config: {background.threads: 9}}",
    "change_owner: {target: broker 1}",
    "remount_read_only: {target: broker 1}",
    "restart_broker: {target: broker 1}",
    f"switch_version: {{target: broker 1, version: {OTHER}}}",
    "stop_broker: {target: broker 1}",
    "stop_zookeeper: {target: zookeeper 2}",
)
SEEN = {
    "corrupt", "cut", "disk", "dump", "examine", "identity", "lease", "load", "lock", "owner", "parent", "readonly",
    "reset", "service", "settings", "shape", "state", "version", "wipe",
}  # fmt: skip
"""The scripts that these steps have run."""
THEIRS = ("/var/lib/kafka", "/var/log/kafka", "/var/lib/zookeeper", "/var/log/zookeeper")
"""Folders of the servers' account."""


@pytest.fixture(scope="module")
def inventory() -> Iterator[Inventory]:
    """A lab of three hosts, each of whose servers has a loop around it, and another version of Kafka beside its own."""
    with standing(LabLayout(name=LAB, also=(OTHER,), supervised=True)) as found:
        yield found


def test_nothing_else_is_opened_on_a_real_cluster(inventory: Inventory, tmp_path: Path) -> None:
    """Each kind of step that such a host can bear, what keeps its lease, and what looks at a host before a run."""
    with ground(inventory, tmp_path) as lab:
        kind = NamespaceHosts(of(LAB))
        kind.on_host(HOST, ["/bin/sh", "-c", f"cat >{SHELL} <<'END'\n{WATCHED}END\nchmod 755 {SHELL}"])
        fill(lab)
        for number, text in enumerate(STEPS):
            life = lab.inject(text, f"step-{number}")
            if not life.undone:
                lab.end(life)
            lab.await_condition("isr_full(watched)")
        look_at(lab)
        found = touches(kind, tmp_path / "traces")
    told = undeclared(found, lambda path: not path.startswith(THEIRS))
    assert not told, "\n".join(("", *told))
    assert {touch.script for touch in found} >= SEEN


def fill(lab: Ground) -> None:
    """A topic with records, on all brokers."""
    prepare(lab.brokers, {"watched": Topic(partitions=1, replication_factor=3)})
    lab.await_condition("isr_full(watched)")
    producer = Producer({"bootstrap.servers": lab.inventory.bootstrap_servers(), "acks": "all"})
    for number in range(100):
        producer.produce("watched", f"{number:0500}")
    assert producer.flush(20) == 0


def look_at(lab: Ground) -> None:
    """What a run and the doctor ask a host, and the right to experiment on it."""
    for command in (
        facts.ask(lab.inventory, HOST, needs(None, lab.inventory), thorough=True),
        fingerprint.ask(lab.inventory, HOST),
        markers(lab.inventory.kafka, lab.inventory.brokers[1], ("watched-0",)),
        lock.take(HOST, "run-2", "tests"),
        lock.keep(HOST, "run-2", 30),
        lock.show(HOST),
        lock.leave(HOST, "run-2"),
        lease.listing(HOST),
    ):
        assert lab.ssh.run(command).ok, command.brief


def touches(kind: NamespaceHosts, folder: Path) -> list[Touch]:
    """What the host's traces tell."""
    known = Known({script(name).rstrip(): name for name in PARTS}, leaves)
    folder.mkdir()
    for part in kind.on_host(HOST, ["/bin/sh", "-c", TELL]).split("=== ")[1:]:
        name, _, text = part.partition("\n")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "ascii")
    return [touch for each in folder.iterdir() for touch in traced(each, known)]

"""Steps that need a kernel of their own, on a virtual machine with a broker and a ZooKeeper node."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from on_vms import faults_on, killed, lab_of

from chaosk.hosts import fingerprint, lease
from chaosk.hosts.transport.clock import Offset, clock
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab import state
from chaosk.planning.resolve import freeze
from chaosk.run.preflight.diagnostic import fit
from chaosk.run.preflight.examination import hosts_fit
from chaosk.run.preflight.host_requirements import HostRequirements
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Entry

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(1_500)]

LAYOUT = LabLayout(name=f"s{os.getpid() % 1_000_000}", brokers=1, zookeepers=1, hosts="vms")
ADDRESS = "198.18.0.11"
HOUR = 3_600_000_000_000
LEASE = 40.0
"""Seconds: what is done under it takes a while where everything is emulated."""
NETEM = {
    "delay_network": ("delay: 1s", 1.0),
    "reorder_packets": ("share: 0.0001 %, delay: 1s", 1.0),
    "duplicate_packets": ("share: 100 %", 0.0),
}
"""By step its fields, and how much longer at least a connection takes."""


@pytest.fixture(scope="module")
def inventory() -> Iterator[Inventory]:
    """Of the lab, which is up."""
    with lab_of(LAYOUT) as found:
        yield found


@pytest.fixture
def ssh(inventory: Inventory) -> Iterator[Ssh]:
    """The way to the machine; afterwards it is as it was."""
    transport = Ssh(inventory.hosts)
    before = transport.run(fingerprint.ask(inventory, "node1")).stdout
    yield transport
    assert transport.run(fingerprint.ask(inventory, "node1")).stdout == before
    transport.close()


def aimed(inventory: Inventory, kind: str, fields: str) -> tuple[PreparedFault, Entry]:
    """A step at the machine, ``it``, and at all others, ``that``; and its entry."""
    entry = Entry.model_validate({"name": "fault", kind: yaml.safe_load(f"{{{fields}}}")})
    nodes = {"it": (Node(kind="host", id="node1", host="node1"),), "that": (Node(kind="everyone_else", id=""),)}
    aims = {target: nodes[target] for target in entry.step.targets()}
    return freeze(entry, inventory, aims, "vm-run"), entry


def connects() -> float:
    """Seconds until a connection to the broker stands, of three the shortest."""

    def once() -> float:
        began = time.monotonic()
        with socket.create_connection((ADDRESS, 9092), 30):
            return time.monotonic() - began

    return min(once() for _ in range(3))


def root(ssh: Ssh, *argv: str) -> str:
    """What a command says that is run as root."""
    done = ssh.run(Command(host="node1", argv=argv, sudo=True))
    assert done.ok, done
    return done.stdout


@pytest.mark.parametrize("kind", NETEM)
def test_netem_takes_lasts_and_goes(inventory: Inventory, ssh: Ssh, tmp_path: Path, kind: str) -> None:
    """By the kernel's count and, where packets are late, by what a connection takes; SSH is as quick as before."""
    fields, late = NETEM[kind]
    assert fit(hosts_fit(ssh, inventory, HostRequirements(("tc",), cuts=False, queues=("netem",)), thorough=False))
    quick = connects()
    faults = faults_on(inventory, ssh, tmp_path)
    life = faults.inject(*aimed(inventory, kind, f"between: [it, that], {fields}"), threading.Event())
    during, queues = [connects() for _ in range(2)], root(ssh, "tc", "-s", "qdisc", "show", "dev", "eth0")
    faults.end(life)
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert min(during) >= late
    assert "qdisc netem" in queues
    if kind == "duplicate_packets":
        assert "duplicate 100%" in queues
    assert connects() < quick + 1.0
    assert root(ssh, "tc", "qdisc", "show", "dev", "eth0").startswith("qdisc pfifo_fast 0: root")


def offset(ssh: Ssh) -> Offset:
    """How far the machine's clock is ahead of this one's."""
    return clock(ssh, "node1")


def off_by(found: Offset, hours: int) -> bool:
    """Whether it is about so many hours."""
    return abs(found.offset - hours * HOUR) <= found.error + 1_000_000_000


@pytest.mark.parametrize(("direction", "hours"), [("forward", 1), ("back", -1)])
def test_a_clock_is_moved_and_put_back(
    inventory: Inventory, ssh: Ssh, tmp_path: Path, direction: str, hours: int
) -> None:
    """Seen from this machine, whose own clock goes on; put right also after somebody else has set it."""
    assert fit(hosts_fit(ssh, inventory, HostRequirements(("date",), cuts=False, clocks=True), thorough=False))
    epoch = time.time() - time.monotonic()
    assert off_by(offset(ssh), 0)
    faults = faults_on(inventory, ssh, tmp_path)
    fields = f"target: it, offset: 1h, direction: {direction}"
    life = faults.inject(*aimed(inventory, "skew_clock", fields), threading.Event())
    assert off_by(offset(ssh), hours)
    faults.end(life)
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert off_by(offset(ssh), 0)

    life = faults.inject(*aimed(inventory, "skew_clock", fields), threading.Event())
    root(ssh, "date", "-s", "-5 days")
    faults.end(life)
    assert not life.took
    assert life.healed is not None
    assert off_by(offset(ssh), 0)
    assert abs(time.time() - time.monotonic() - epoch) < 1


def test_whoever_keeps_the_time_keeps_it_out(inventory: Inventory, ssh: Ssh, tmp_path: Path) -> None:
    """A process by the name of a time daemon: refused with the name, and the clock stays."""
    root(ssh, "sh", "-c", "cp /usr/bin/sleep /tmp/chronyd; setsid /tmp/chronyd 600 </dev/null >/dev/null 2>&1 &")
    try:
        with pytest.raises(Exception, match="chronyd runs here and may set the clock"):
            faults_on(inventory, ssh, tmp_path).inject(
                *aimed(inventory, "skew_clock", "target: it, offset: 1h"), threading.Event()
            )
        assert off_by(offset(ssh), 0)
    finally:
        root(ssh, "sh", "-c", "kill $(grep -l -x chronyd /proc/[0-9]*/comm | cut -d / -f 3)")


def test_a_lease_is_forgotten_at_once(inventory: Inventory, ssh: Ssh) -> None:
    """Where systemd runs the timer, which outlives a TERM: nobody waits until systemd has lost its patience (90 s)."""
    (one,) = lease.leases(aimed(inventory, "skew_clock", "target: it, offset: 1h")[0], "vm-run", "tests")
    assert ssh.run(lease.arm(one, 60.0)).ok
    began = time.monotonic()
    assert ssh.run(lease.disarm("node1", one.id)).ok
    assert time.monotonic() - began < 45
    assert not ssh.run(Command(host="node1", argv=("systemctl", "is-active", f"chaosk-lease-{one.id}"))).ok


def pace(ssh: Ssh) -> float:
    """How much faster than this machine's the wall clock goes there, over eight seconds."""
    one = offset(ssh)
    time.sleep(8.0)
    two = offset(ssh)
    return (two.offset - one.offset) / (two.at - one.at)


@pytest.mark.parametrize(("direction", "sign"), [("forward", 1), ("back", -1)])
def test_a_clock_drifts_and_is_put_back(
    inventory: Inventory, ssh: Ssh, tmp_path: Path, direction: str, sign: int
) -> None:
    """As fast as was asked for, on and on, while its time since boot goes as before; then it is right, and stays it."""
    since_boot = "cut -d ' ' -f 1 /proc/uptime"
    ours, theirs = time.monotonic(), float(root(ssh, "sh", "-c", since_boot))
    faults = faults_on(inventory, ssh, tmp_path)
    fields = f"target: it, drift: 10 %, direction: {direction}"
    life = faults.inject(*aimed(inventory, "skew_clock", fields), threading.Event())
    found = [pace(ssh), pace(ssh)]
    faults.end(life)
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert all(abs(one * sign - 0.1) < 0.03 for one in found), found
    assert off_by(offset(ssh), 0)
    assert abs(pace(ssh)) < 0.01
    passed = float(root(ssh, "sh", "-c", since_boot)) - theirs
    assert abs(passed - (time.monotonic() - ours)) < 1.0


def test_a_drift_that_somebody_ends_did_not_last(inventory: Inventory, ssh: Ssh, tmp_path: Path) -> None:
    """The process that keeps it up is gone: said, and the clock put back all the same."""
    faults = faults_on(inventory, ssh, tmp_path)
    life = faults.inject(*aimed(inventory, "skew_clock", "target: it, drift: 20 %"), threading.Event())
    root(ssh, "sh", "-c", "kill -9 $(grep -l -a CHAOSK_CLOCK= /proc/[0-9]*/environ | cut -d / -f 3)")
    faults.end(life)
    assert not life.took
    assert "nothing makes it drift any more" in " ".join(life.why)
    assert life.healed is not None
    assert off_by(offset(ssh), 0)


KILLED: dict[str, tuple[str, str, Callable[[Ssh], bool]]] = {
    "jump": ("skew_clock", "target: broker 0, offset: 1h", lambda ssh: off_by(offset(ssh), 1)),
    "drift": ("skew_clock", "target: broker 0, drift: 10 %", lambda ssh: pace(ssh) > 0.05),
    "delay": ("delay_network", "between: [host(broker 0), everyone else], delay: 2s", lambda _: connects() >= 2.0),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_chaosk_leaves_it_to_the_lease(inventory: Inventory, ssh: Ssh, tmp_path: Path, name: str) -> None:
    """SIGKILL while the fault is in place: the host undoes it when its lease is over, a moved clock or not."""
    kind, fields, harmed = KILLED[name]
    text = state.of(LAYOUT.name).inventory.read_text("utf-8")
    path = state.of(LAYOUT.name).inventory.with_name("short.yaml")
    path.write_text(f"{text}\nlongest_lease: {LEASE:g}s\n", "utf-8")
    spec = {
        "inventory": str(path), "folder": str(tmp_path), "run": f"killed-{name}", "point": "verified",
        "entry": {"name": "fault", kind: yaml.safe_load(f"{{{fields}}}"), "for": "60s"},
    }  # fmt: skip
    killed(spec)
    since = time.monotonic()
    assert harmed(ssh)
    folder = f"/var/lib/chaosk/leases/killed-{name}.fault"
    while root(ssh, "sh", "-c", f"[ -e {folder}/healed ] && cat {folder}/healed || echo not yet") == "not yet\n":
        assert time.monotonic() - since < LEASE + 30
        time.sleep(0.5)
    deadline, healed = (int(root(ssh, "cat", f"{folder}/{name}").split()[0]) / 100 for name in ("expired", "healed"))
    assert -0.1 <= healed - deadline < 15, "by the host's own time since boot"
    assert not harmed(ssh)
    assert off_by(offset(ssh), 0)
    assert ssh.run(lease.disarm("node1", f"killed-{name}.fault")).ok

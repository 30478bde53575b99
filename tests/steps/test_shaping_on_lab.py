"""Queues on real hosts, under real leases; without Kafka. The machine's kernel may have no netem: VMs show that."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from bare_hosts import Bare, bare
from on_lab import until

from chaosk.core.errors import PreflightError, StepError
from chaosk.hosts import fingerprint, lease
from chaosk.hosts.transport.ssh import Ssh
from chaosk.planning.resolve import freeze
from chaosk.run.preflight.diagnostic import refuse
from chaosk.run.preflight.examination import hosts_fit
from chaosk.run.preflight.host_requirements import HostRequirements
from chaosk.spec.contracts.step import PreparedFault, Run
from chaosk.spec.contracts.target import Node
from chaosk.spec.scenario import Entry

pytestmark = [pytest.mark.lab, pytest.mark.timeout(180), pytest.mark.long]

LIMIT = "limit_bandwidth: {between: [host node1, host node2], rate: 1Mbit/s, direction: both}"
SENDS = """
import socket, sys, time
began = time.monotonic()
with socket.create_connection((sys.argv[1], 9092)) as line:
    line.sendall(b"x" * 250_000)
    line.shutdown(socket.SHUT_WR)
    line.recv(1)
print(time.monotonic() - began)
"""
TAKES = """
import socket
with socket.create_server(("", 9092)) as door:
    while True:
        line, _ = door.accept()
        with line:
            while line.recv(65536):
                pass
"""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Three hosts, each of which takes what it is sent."""
    with bare("queues", 3) as here:
        for host in here.inventory.hosts:
            here.on(host, f"setsid python3 -c '{TAKES}' </dev/null >/dev/null 2>&1 & sleep 1")
        yield here


@pytest.fixture
def ssh(hosts: Bare) -> Iterator[Ssh]:
    """The way to them; afterwards they are as they were."""
    transport = Ssh(hosts.inventory.hosts)
    before = [state(hosts, transport, host) for host in hosts.inventory.hosts]
    yield transport
    assert [state(hosts, transport, host) for host in hosts.inventory.hosts] == before
    assert [hosts.leases(host) for host in hosts.inventory.hosts] == [[], [], []]
    transport.close()


def state(hosts: Bare, ssh: Ssh, host: str) -> str:
    """What a run compares before and after."""
    return ssh.run(fingerprint.ask(hosts.inventory, host)).stdout


def aimed(hosts: Bare, text: str, name: str = "limit") -> tuple[PreparedFault, Entry]:
    """A step as a user writes it, between hosts, and its entry."""
    ((kind, fields),) = yaml.safe_load(text).items()
    entry = Entry.model_validate({"name": name, kind: fields})
    aims = {
        target: (Node(kind="host", id=target.split()[1], host=target.split()[1]),) for target in entry.step.targets()
    }
    return freeze(entry, hosts.inventory, aims, "bare-run"), entry


def takes(hosts: Bare, one: str, two: str) -> float:
    """Seconds to send a quarter of a megabyte from one host to another."""
    return float(hosts.on(one, f"python3 -c '{SENDS}' {hosts.inventory.hosts[two].address}"))


def test_a_rate_takes_lasts_and_goes(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """Both ways between the two, and on no way to the third; a look at the hosts tells of it, until it is undone."""
    faults = hosts.faults(ssh, tmp_path, 30.0)
    was = state(hosts, ssh, "node1")
    life = faults.inject(*aimed(hosts, LIMIT), threading.Event())
    slow = [takes(hosts, "node1", "node2"), takes(hosts, "node2", "node1")]
    quick = [takes(hosts, "node1", "node3"), takes(hosts, "node3", "node2")]
    left = fingerprint.unhealed(fingerprint.changes(was, state(hosts, ssh, "node1")))
    faults.end(life)
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert min(slow) > 1.2
    assert max(quick) < 1.0
    assert any("qdisc chaosk htb" in one for one in left)
    assert takes(hosts, "node1", "node2") < 1.0


def test_it_ends_with_its_lease(hosts: Bare, ssh: Ssh) -> None:
    """Nobody renews: each host takes its own queues away, and what comes late is refused."""
    fault, _ = aimed(hosts, LIMIT)
    held = lease.all_of(lease.leases(fault, "bare-run", "tests"))
    assert held.keys() == {"node1", "node2"}
    for one in held.values():
        assert ssh.run(lease.arm(one, 4.0)).ok
    commands = [deed.command for deed in fault.inject if isinstance(deed, Run)]
    for command in commands:
        assert ssh.run(lease.under(held[command.host], command)).ok
    assert takes(hosts, "node1", "node2") > 1.2
    until(lambda: "htb" not in state(hosts, ssh, "node1") + state(hosts, ssh, "node2"), 10.0)
    for command in commands:
        assert not ssh.run(lease.under(held[command.host], command)).ok
        assert ssh.run(lease.heal(command.host, held[command.host].id)).ok
        assert ssh.run(lease.disarm(command.host, held[command.host].id)).ok


def test_a_users_own_queues_keep_it_out(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """Refused before anything is placed on either host; what the user has made is not touched."""
    hosts.on("node2", "tc qdisc add dev eth0 root handle 7: htb default 0")
    try:
        was = state(hosts, ssh, "node2")
        with pytest.raises(StepError, match=r"did not take: .* eth0 are arranged by somebody else"):
            hosts.faults(ssh, tmp_path, 30.0).inject(*aimed(hosts, LIMIT), threading.Event())
        assert state(hosts, ssh, "node2") == was
        assert "htb" not in state(hosts, ssh, "node1")
    finally:
        hosts.on("node2", "tc qdisc del dev eth0 root")


def test_a_kernel_without_netem_is_told_before_the_run(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """By the examination that a run begins with; and the step itself refuses as well."""
    needs = HostRequirements(("tc",), cuts=False, queues=("netem",))
    found = hosts_fit(ssh, hosts.inventory, needs, thorough=False)
    if any(one.state == "ok" and "tc netem works" in one.seen for one in found):
        pytest.skip("the kernel of this machine has netem")
    with pytest.raises(PreflightError, match=r"node1: kernel .* no tc netem, which a step of the scenario needs"):
        refuse(found)
    delay = "delay_network: {between: [host node1, host node2], delay: 100ms}"
    with pytest.raises(StepError, match="the kernel or tc cannot do it here"):
        hosts.faults(ssh, tmp_path, 30.0).inject(*aimed(hosts, delay), threading.Event())

"""Hosts that share this machine's clock: nothing that chaosk has moves it. VMs show what it does to a clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_hosts import Bare, bare

from chaosk.core.errors import PreflightError, StepError
from chaosk.hosts.commands import reversible
from chaosk.hosts.transport.ssh import Ssh
from chaosk.planning.resolve import freeze
from chaosk.run.preflight.diagnostic import refuse
from chaosk.run.preflight.examination import hosts_fit
from chaosk.run.preflight.host_requirements import HostRequirements
from chaosk.spec.command import Command
from chaosk.spec.contracts.target import Node
from chaosk.spec.scenario import Entry

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

ELSEWHERE = "01234567-89ab-cdef-0123-456789abcdef"
ID = "0123456789"


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Two hosts."""
    with bare("clocks", 2) as here:
        yield here


@pytest.fixture
def ssh(hosts: Bare) -> Iterator[Ssh]:
    """The way to them; meanwhile this machine's clock went on like any other."""
    transport = Ssh(hosts.inventory.hosts)
    epoch = time.time() - time.monotonic()
    yield transport
    assert abs(time.time() - time.monotonic() - epoch) < 1
    assert hosts.on("node1", "ls /var/lib/chaosk/clocks 2>/dev/null || true") == ""
    transport.close()


def test_no_run_begins(hosts: Bare, ssh: Ssh) -> None:
    """The examination names every host, and why."""
    found = hosts_fit(ssh, hosts.inventory, HostRequirements((), cuts=False, clocks=True), thorough=False)
    told = r"node1: own clock: it shares kernel and clock with the machine that chaosk runs on[\s\S]*node2: own clock"
    with pytest.raises(PreflightError, match=told):
        refuse(found)


def test_the_step_refuses_before_it_begins(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """Also where nobody has examined anything."""
    entry = Entry.model_validate({"name": "skew", "skew_clock": {"target": "it", "offset": "1h"}})
    fault = freeze(entry, hosts.inventory, {"it": (Node(kind="host", id="node1", host="node1"),)}, "bare-run")
    with pytest.raises(StepError, match="in common with the machine that chaosk runs on"):
        hosts.faults(ssh, tmp_path, 30.0).inject(fault, entry, threading.Event())


def test_the_host_itself_refuses_to_move_it(hosts: Bare, ssh: Ssh) -> None:
    """The very command that would, whatever it is told of chaosk's machine; and the kernel would refuse it as well."""
    move = reversible.clock("node1", ID, "3600000").put
    done = ssh.run(move)
    assert not done.ok
    assert "in common with the machine that chaosk runs on" in done.stderr
    for lie, why in ((ELSEWHERE, "this host is a container"), ("", "which machine chaosk runs on is unknown")):
        done = ssh.run(move.model_copy(update={"argv": (*move.argv[:6], lie, *move.argv[7:])}))
        assert not done.ok
        assert why in done.stderr
    status = ssh.run(Command(host="node1", argv=("cat", "/proc/self/status"), sudo=True)).stdout
    bounds = int(status.split("CapBnd:")[1].split()[0], 16)
    assert bounds >> 25 & 1 == 0, "CAP_SYS_TIME"

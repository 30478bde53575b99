"""`chaosk halt` and `chaosk heal` with one of three hosts out of reach; the journal's disk full; without Kafka."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bare_hosts import Bare, bare, cut
from on_lab import until

from chaosk.core.errors import StepError
from chaosk.hosts import lease, lock
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.command import Command

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120), pytest.mark.long]

AWAY = "iptables -A INPUT -p tcp --dport 22 -j DROP"
BACK = "iptables -D INPUT -p tcp --dport 22 -j DROP"


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Three hosts."""
    with bare("halt") as here:
        yield here


@pytest.fixture
def ssh(hosts: Bare) -> Iterator[Ssh]:
    """The way to them."""
    transport = Ssh(hosts.inventory.hosts)
    yield transport
    transport.close()


def chaosk(hosts: Bare, word: str) -> subprocess.Popen[str]:
    """A command of chaosk on these hosts, under way."""
    return subprocess.Popen(
        [sys.executable, "-m", "chaosk", word, "--inventory", str(hosts.path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Its exit code and what it said."""
    with process:
        output, _ = process.communicate(timeout=60)
    return process.returncode, output


def must(ssh: Ssh, command: Command) -> None:
    """Run a command that must succeed."""
    result = ssh.run(command)
    assert result.ok, result


def cut_all(hosts: Bare, ssh: Ssh) -> None:
    """A run that holds the lock, with a cut on every host for a minute; then it dies without a word."""
    for host in hosts.inventory.hosts:
        must(ssh, lock.take(host, "bare-run", "tests"))
        fault, _ = cut(hosts.inventory, host)
        (one,) = lease.leases(fault, "bare-run", "tests")
        must(ssh, lease.arm(one, 60.0))
        must(ssh, lease.under(one, fault.inject[0].command))  # type: ignore[union-attr] # a cut's one deed
        assert not hosts.whole(host)


@pytest.mark.parametrize("word", ["halt", "heal"])
def test_one_host_out_of_reach_keeps_nobody_waiting(hosts: Bare, ssh: Ssh, word: str) -> None:
    """The others are healed in less than half the time for which the third is waited for, and that one is named.

    Neither counts how long chaosk takes to start and to look when nothing is to be healed.
    """
    idle = time.monotonic()
    assert finish(chaosk(hosts, "heal"))[0] == 0
    look = time.monotonic() - idle
    cut_all(hosts, ssh)
    hosts.on("node3", AWAY)
    began = time.monotonic()
    process = chaosk(hosts, word)
    with ThreadPoolExecutor(2) as pool:
        took = list(pool.map(lambda host: until(lambda: hosts.whole(host), 10.0), ("node1", "node2")))
    status, output = finish(process)
    waited = time.monotonic() - began
    assert status == 3, output
    assert max(took) - look < (waited - look) / 2, (took, look, waited)
    assert "node1: healed: cut (cut_network" in output
    assert "node2: healed: cut (cut_network" in output
    assert "node3: unknown: " in output
    assert time.monotonic() - began < 30
    assert not hosts.whole("node3")
    hosts.on("node3", BACK)
    status, output = finish(chaosk(hosts, word))
    assert (status, hosts.whole("node3")) == (0, True), output
    for host in hosts.inventory.hosts:
        must(ssh, lock.leave(host, "bare-run"))


def test_a_halted_run_injects_nothing_more(hosts: Bare, ssh: Ssh) -> None:
    """Its lease is alive, and the host refuses all the same: with the status that means halted."""
    fault, _ = cut(hosts.inventory, "node2", "late")
    (one,) = lease.leases(fault, "halted-run", "tests")
    must(ssh, lease.arm(one, 60.0))
    _, output = finish(chaosk(hosts, "halt"))
    assert "halted: halted-run" in output
    must(ssh, lease.arm(one, 60.0))
    result = ssh.run(lease.under(one, fault.inject[0].command))  # type: ignore[union-attr] # a cut's one deed
    assert (result.exit_status, hosts.whole("node2")) == (lock.HALTED, True)
    must(ssh, lease.disarm("node2", one.id))


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk with no room on it."""
    folder = tmp_path / "journal"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=True)
    subprocess.run(["dd", "if=/dev/zero", f"of={folder}/fill", "bs=1k"], check=False, stderr=subprocess.DEVNULL)
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_what_cannot_be_written_down_is_not_injected(hosts: Bare, ssh: Ssh, full: Path) -> None:
    """The journal's disk is full: no lease is armed and no packet is stopped."""
    faults = hosts.faults(ssh, full, 10.0)
    fault, entry = cut(hosts.inventory, "node1", "full")
    before = hosts.firewall("node1")
    with pytest.raises(StepError, match=r"the undo of full cannot be written \(No space left on device\)"):
        faults.inject(fault, entry, threading.Event())
    assert hosts.firewall("node1") == before
    assert hosts.leases("node1") == []
    assert faults.heal_all() == ()
    assert os.statvfs(full).f_bavail == 0

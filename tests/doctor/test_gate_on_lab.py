"""An account that sudo allows the gate and nothing else runs real faults, and a host heals itself all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from chaosk.hosts import sudo_gate
from chaosk.spec.command import Command

from .conftest import Ward

pytestmark = [pytest.mark.lab, pytest.mark.timeout(800), pytest.mark.long]

SCENARIO = """\
name: Through the gate
hypothesis: The least of rights is enough.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 50/s}}
baseline: 1s
settle: 2s
timeline:
"""
FAULTS = """\
  - {name: reset, at: 500ms, reset_connections: {between: [broker 2, [broker 0, broker 1]]}}
  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: 2s}
  - {name: freeze, after: {entry: cut, is: healed}, pause_broker: {target: broker 2}, for: 2s}
  - {name: burn, after: {entry: freeze, is: healed}, burn_cpu: {target: broker 2, cores: 1}, for: 1s}
  - {name: eat, after: {entry: freeze, is: healed}, eat_memory: {target: broker 2, size: 50MiB}, for: 1s}
  - {name: fill, after: {entry: burn, is: healed}, fill_disk: {target: broker 2, size: 50MiB}, for: 1s}
  - {name: own, after: {entry: fill, is: healed}, change_owner: {target: broker 2}, for: 1s}
  - {name: shut, after: {entry: own, is: healed}, remount_read_only: {target: broker 2}, for: 1s}
  - {name: kill, after: {entry: freeze, is: healed}, when: isr_full(orders), kill_broker: {target: broker 0}, for: 2s}
"""
LONG = "  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: 60s}\n"
ALLOWED = "printf '%s\\n' 'Defaults env_reset' '@includedir /etc/sudoers.d' >/etc/sudoers"
PUT = "mv /etc/sudoers.away /etc/sudoers; sed -i /includedir/d /etc/sudoers"
BACK = f"{PUT}; rm -f /etc/sudoers.d/chaosk /usr/local/sbin/chaosk-gate"


@pytest.fixture(scope="module")
def gated(ward: Ward, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The inventory of hosts where `ops` may run the gate, installed as `chaosk sudoers` says, and nothing else."""
    told = ward.chaosk("sudoers")
    assert told.returncode == 0, told.stderr
    with ExitStack() as hosts:
        for host in ward.inventory.hosts:
            reads = "echo '@includedir /etc/sudoers.d' >>/etc/sudoers; exec sh"
            install = Command(host=host, argv=("sh", "-c", reads), sudo=True, stdin=told.stdout, timeout=30.0)
            done = ward.send(install)
            assert done.ok, done.stderr
            hosts.enter_context(ward.spoilt(host, f"cp -p /etc/sudoers /etc/sudoers.away; {ALLOWED}", BACK))
        known = f"known_hosts: {ward.path.parent / 'known_hosts'}\n"
        path = ward.copy(
            tmp_path_factory.mktemp("gated") / "gated.yaml", **{known: f"{known}    gate: {sudo_gate.PLACE}\n"}
        )
        path.write_text(path.read_text("utf-8") + "\nlongest_lease: 5s\n", "utf-8")
        yield path


def test_the_account_may_do_nothing_else(ward: Ward, gated: Path) -> None:
    """Neither a shell, nor the scripts without the gate, nor anything by a changed gate."""
    for argv in (("id", "-u"), ("sh", "-c", "id -u"), ("cat", "/etc/shadow"), (sudo_gate.PLACE + ".other",)):
        refused = ward.send(Command(host="node1", argv=argv, sudo=True))
        assert not refused.ok
        assert "sudo: " in refused.stderr
    mine = ward.send(Command(host="node1", argv=("sudo", "-n", sudo_gate.PLACE, "inner", "lease", "list")))
    assert (mine.exit_status, mine.stderr) == (0, "")
    others = ward.send(Command(host="node1", argv=("sudo", "-n", sudo_gate.PLACE, "inner", "sh", "-c", "id")))
    assert "the gate of this host refuses `sh`" in others.stderr


def test_the_doctor_is_content_and_says_how(ward: Ward, gated: Path) -> None:
    """Everything that takes root is examined through the gate; without it nothing could be."""
    code, findings = ward.doctor(inventory=gated)
    assert code == 0, [one for one in findings if one["state"] == "bad"]
    (root,) = [one for one in findings if (one["where"], one["what"]) == ("node1", "root")]
    assert root["seen"] == f"by sudo, as ops, through {sudo_gate.PLACE} only"
    code, findings = ward.doctor()
    assert code == 69
    assert {one["where"] for one in findings if one["what"] == "root" and one["state"] == "bad"} >= {"node1", "node3"}


def test_a_kill_a_freeze_and_a_cut(ward: Ward, gated: Path, tmp_path: Path) -> None:
    """Each takes, is undone, and leaves its host as it was."""
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO + FAULTS, "utf-8")
    ran = ward.chaosk("run", str(scenario), "--output", str(tmp_path / "reports"), inventory=gated)
    assert "reset: verified" in ran.stdout, ran.stdout + ran.stderr
    for name in ("cut", "freeze", "burn", "eat", "fill", "own", "shut", "kill"):
        assert f"{name}: verified" in ran.stdout, ran.stdout + ran.stderr
        assert f"{name}: healed" in ran.stdout, ran.stdout + ran.stderr
    (record,) = (tmp_path / "reports").glob("*/*/run.json")
    found = json.loads(record.read_text("utf-8"))
    assert (found["healed"], found["error"]) == (True, None)


def test_a_host_heals_itself_when_chaosk_is_killed(ward: Ward, gated: Path, tmp_path: Path) -> None:
    """The undo that the gate has let in is carried out by the host, and `chaosk heal` finds it done."""
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO + LONG, "utf-8")
    command = [sys.executable, "-m", "chaosk", "run", str(scenario), "--inventory", str(gated)]
    run = subprocess.Popen(
        [*command, "--output", str(tmp_path / "reports")], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert run.stdout is not None
    try:
        assert any("cut: verified" in line for line in run.stdout)
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        run.stdout.close()
    time.sleep(7)
    healed = ward.chaosk("heal", inventory=gated)
    assert healed.returncode == 0
    assert "node2: healed: cut (cut_network" in healed.stdout
    assert "already undone by the host" in healed.stdout
    assert ward.chaosk("halt", inventory=gated).returncode == 0


def test_a_gate_of_another_edition_is_told(ward: Ward, gated: Path) -> None:
    """After chaosk has changed, words might mean something else there: nothing runs, and the doctor says what to do."""
    old = Command(
        host="node1", argv=("sudo", "-n", sudo_gate.PLACE, "0123456789ab", "192.0.2.1 1 192.0.2.2 22", "5", "lock")
    )
    refused = ward.send(old)
    assert refused.exit_status == 1
    assert "install it again as `chaosk sudoers` says" in refused.stderr

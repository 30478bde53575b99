"""Whatever dies, the hosts are healed: by the host itself, by `chaosk heal`, by `chaosk halt`; on a real lab."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from on_lab import until

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400)]

LEASE = 6.0

SCENARIO = """\
name: A run that is killed
hypothesis: It heals.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 100/s}}
  reader: {consume: {topic: orders, group: readers, commit: sync}}
baseline: 1s
settle: 2s
timeline:
"""
CUT = "  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: 60s}\n"
FREEZE = "  - {name: freeze, at: 1s, pause_broker: {target: broker 2}, for: 60s}\n"
KILL = "  - {name: kill, at: 1s, kill_broker: {target: broker 0}, for: 60s}\n"


@pytest.fixture
def short_leases(lab_inventory: Path) -> Iterator[Path]:
    """The lab's inventory with leases of a few seconds."""
    path = lab_inventory.with_name("short-leases.yaml")
    path.write_text(f"{lab_inventory.read_text('utf-8')}\nlongest_lease: {LEASE:g}s\n", "utf-8")
    yield path
    path.unlink()


@pytest.fixture
def chaosk(short_leases: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs another command of chaosk on the lab."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "chaosk", *words, "--inventory", str(short_leases)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    return run


@pytest.fixture(autouse=True)
def clean(chaosk: Callable[..., subprocess.CompletedProcess[str]]) -> Iterator[None]:
    """Nothing is left on the hosts for the next test."""
    yield
    healed = chaosk("halt")  # the lock of a run that was killed is gone with it
    assert healed.returncode == 0, healed.stdout + healed.stderr


def firewall(on_host: Callable[..., str], host: str) -> str:
    """The rules of a host, without counters; a table without rules is as good as none."""
    ours = "nft list tables | grep chaosk"
    saved = rf"{{ iptables-save; ip6tables-save; {ours}; }} | sed '/^[#*C]/d; /^:[A-Z]* ACCEPT/d; s/ \[.*//'"
    return on_host(host, "sh", "-c", saved)


def state(on_host: Callable[..., str], host: str) -> str:
    """The letter of the broker's state on a host, as ps has it; nothing if it does not run."""
    return on_host(host, "sh", "-c", 'ps -o stat= -p "$(cat /run/kafka/kafka.pid)" | cut -c1 || true').strip()


def kill(run: Any) -> None:
    """SIGKILL to chaosk and all it has started."""
    run.process.kill()
    run.process.wait()


def test_a_cut_heals_itself_when_chaosk_is_killed(
    start: Callable[..., Any], on_host: Callable[..., str], short_leases: Path,
    chaosk: Callable[..., subprocess.CompletedProcess[str]],
) -> None:  # fmt: skip
    """SIGKILL in the middle of a cut: the host removes it within its lease and a second, and no rule else changes."""
    on_host("node2", "iptables", "-A", "INPUT", "-s", "192.0.2.9", "-j", "DROP")
    try:
        before = firewall(on_host, "node2")
        run = start(SCENARIO + CUT, "--inventory", str(short_leases))
        run.wait_for("cut: verified")
        assert firewall(on_host, "node2") != before, "the cut must be there, or this proves nothing"
        kill(run)
        until(lambda: firewall(on_host, "node2") == before, LEASE + 1.0)
        told = chaosk("heal")
        assert told.returncode == 0
        assert "node2: healed: cut (cut_network" in told.stdout
        assert "already undone by the host" in told.stdout
        assert chaosk("heal").stdout.count("whole: nothing to heal") == 3
    finally:
        on_host("node2", "iptables", "-D", "INPUT", "-s", "192.0.2.9", "-j", "DROP")


def test_a_frozen_broker_wakes_when_chaosk_is_killed(
    start: Callable[..., Any], on_host: Callable[..., str], short_leases: Path
) -> None:
    """SIGKILL while a broker is frozen: its host resumes it within its lease and two seconds."""
    run = start(SCENARIO + FREEZE, "--inventory", str(short_leases))
    run.wait_for("freeze: verified")
    assert state(on_host, "node3") == "T"
    kill(run)
    until(lambda: state(on_host, "node3") in {"S", "R", "D"}, LEASE + 2.0)


@pytest.mark.long
def test_a_killed_broker_is_started_when_chaosk_is_killed(
    start: Callable[..., Any], on_host: Callable[..., str], short_leases: Path
) -> None:
    """SIGKILL while a broker is dead: its host starts it, and it stays, though its old session is not over yet."""
    run = start(SCENARIO + KILL, "--inventory", str(short_leases))
    run.wait_for("kill: verified")
    kill(run)
    connect = "timeout 1 bash -c '</dev/tcp/198.18.0.11/9092' 2>/dev/null; echo $?"
    until(lambda: on_host("node1", "sh", "-c", connect).strip() == "0", LEASE + 60.0)


def test_heal_undoes_at_once_what_a_killed_run_has_left(
    start: Callable[..., Any], on_host: Callable[..., str], chaosk: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """With leases of a minute: `chaosk heal` finds the fault on the host, undoes it, and then finds nothing more."""
    before = firewall(on_host, "node2")
    run = start(SCENARIO + CUT)
    run.wait_for("cut: verified")
    kill(run)
    assert firewall(on_host, "node2") != before
    told = chaosk("heal")
    assert (told.returncode, firewall(on_host, "node2")) == (0, before)
    assert "undone now" in told.stdout
    again = chaosk("heal")
    assert (again.returncode, again.stdout.count("whole")) == (0, 3)


@pytest.mark.long
def test_a_run_does_not_start_on_what_another_has_left(
    start: Callable[..., Any], short_leases: Path, chaosk: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """First the dead run's lock keeps others out, then its fault: until somebody heals, with the command it names."""
    run = start(SCENARIO + CUT, "--inventory", str(short_leases))
    run.wait_for("cut: verified")
    kill(run)
    second = start(SCENARIO + CUT, "--inventory", str(short_leases))
    assert second.finish(60) == 69
    assert "another run is on this cluster" in second.text
    time.sleep(31)
    third = start(SCENARIO + CUT, "--inventory", str(short_leases))
    assert third.finish(60) == 69
    assert "a former run left faults on the hosts" in third.text
    assert "chaosk heal" in third.text
    assert chaosk("heal").returncode == 0


@pytest.mark.long
def test_of_two_runs_exactly_one_goes_on(start: Callable[..., Any], short_leases: Path) -> None:
    """Started together on one cluster: one runs, the other is refused and says whose it is."""
    runs = [start(SCENARIO + CUT, "--inventory", str(short_leases)) for _ in range(2)]
    end = time.monotonic() + 60
    while time.monotonic() < end and all(run.process.poll() is None for run in runs):
        time.sleep(0.05)
    refused = [run for run in runs if run.process.poll() == 69]
    assert len(refused) == 1, "".join(run.text for run in runs)
    assert "another run is on this cluster: held by the run" in refused[0].text
    (going,) = [run for run in runs if run not in refused]
    going.wait_for("cut: verified")
    kill(going)


def test_halt_ends_a_run_and_heals_its_hosts_at_once(
    start: Callable[..., Any], on_host: Callable[..., str], chaosk: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """From another terminal: the cut is gone when `halt` returns, and the run ends by itself, healed, and says why."""
    before = firewall(on_host, "node2")
    run = start(SCENARIO + CUT)
    run.wait_for("cut: verified")
    told = chaosk("halt")
    assert told.returncode == 0, told.stdout + told.stderr
    assert firewall(on_host, "node2") == before
    assert "halted: a-run-that-is-killed" in told.stdout
    assert run.finish(60) == 130, run.text
    last = run.text.strip().splitlines()[-1]
    assert re.match(r"interrupted: node[123]: the run \S+ was halted; everything was healed; the events so far ", last)
    record = json.loads((Path(last.rpartition(" ")[2]) / "run.json").read_text("utf-8"))
    assert last.startswith(f"{record['error']}; ")

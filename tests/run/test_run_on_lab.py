"""Whole runs on a real lab: all is well, the fault did not take, the run is cut short: the right verdict each time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400)]

HEAD = """\
name: A run for a test
hypothesis: With acks=all nothing acknowledged is lost.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 200/s, config: {acks: all, enable.idempotence: true}}}
  reader: {consume: {topic: orders, group: readers, commit: sync}}
baseline: 3s
settle: 5s
"""

KILL = """\
timeline:
  - name: kill
    at: 1s
    kill_broker: {target: "leader(orders, 0)"}
    for: %s
"""

CUT = """\
timeline:
  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: %s}
"""


def guards(verdict: dict[str, list[dict[str, str]]]) -> str:
    """What the guards of a verdict say, in one text."""
    return " | ".join(f"{guard['guard']}: {guard['what']}" for guard in verdict["guards"])


def test_a_leader_is_killed_and_nothing_is_lost(start: Callable[..., Any]) -> None:
    """The main job: PASS with exit code 0, a fault that took and healed, sends after it, and every report there."""
    run = start(HEAD + KILL % "15s")
    assert run.finish() == 0, run.text
    verdict = run.read("verdict.json")
    assert verdict["verdict"] == "pass", run.text
    (fault,) = verdict["faults"]
    assert (fault["took"], fault["undone"]) == (True, True)
    gaps = {(m["metric"], m["subject"], m["window"]): m["value"] for m in verdict["measures"]}
    assert gaps["unavailability", "writer", "run"] > 1.0, (
        "a killed leader must be felt: else the measure does not see it"
    )
    for name in ("report.html", "report.md", "junit.xml", "plan.json", "run.json"):
        assert (run.rundir() / name).stat().st_size > 0
    assert str(run.rundir() / "report.html") in run.text.replace("\n", "")
    assert "chaosk added" in run.text


@pytest.mark.long
def test_a_run_without_any_fault_that_acts_is_not_a_pass(start: Callable[..., Any]) -> None:
    """The worst bug would be PASS from a run in which nothing happened: a target that runs already is said."""
    run = start(
        HEAD
        + """\
timeline:
  - {name: second, at: 3s, start_broker: {target: broker 1}}
"""
    )
    assert run.finish() == 2, run.text
    verdict = run.read("verdict.json")
    assert verdict["verdict"] == "inconclusive"
    assert "second" in guards(verdict)
    assert verdict["healed"] is True


def test_a_cut_whose_rules_vanish_underneath_is_inconclusive(
    start: Callable[..., Any], on_host: Callable[..., str]
) -> None:
    """Somebody flushes the firewall in the middle of the fault: the second look finds it, the verdict says it."""
    run = start(HEAD + CUT % "10s")
    run.wait_for("cut: verified")
    on_host("node2", "nft", "flush", "ruleset")
    assert run.finish() == 2, run.text
    verdict = run.read("verdict.json")
    assert verdict["verdict"] == "inconclusive"
    assert "cut" in guards(verdict)
    assert (verdict["faults"][0]["took"], verdict["faults"][0]["undone"]) == (False, True)


@pytest.mark.long
def test_foreign_firewall_rules_are_byte_identical_after_a_cut(
    start: Callable[..., Any], on_host: Callable[..., str]
) -> None:
    """A user's own rules, counters aside, are what they were before the cut, in the same order."""
    on_host(
        "node3", "iptables", "-A", "INPUT", "-s", "192.0.2.7", "-m", "comment", "--comment", "the user's", "-j", "DROP"
    )
    on_host("node3", "iptables", "-N", "users-own")
    on_host("node3", "iptables", "-A", "users-own", "-p", "tcp", "--dport", "4242", "-j", "RETURN")
    try:
        before = on_host("node3", "iptables", "-S")
        run = start(
            HEAD
            + """\
timeline:
  - {name: cut, at: 1s, cut_network: {between: [host(broker 2), everyone_else]}, for: 6s}
"""
        )
        run.wait_for("cut: verified")
        assert "chaosk" in on_host("node3", "nft", "list", "tables"), "the cut must be there, or this proves nothing"
        assert run.finish() in (0, 1, 2), run.text  # what the clients felt is not the matter here
        assert run.read("run.json")["healed"] is True
        assert on_host("node3", "iptables", "-S") == before
    finally:
        on_host("node3", "iptables", "-D", "INPUT", "1")
        on_host("node3", "iptables", "-F", "users-own")
        on_host("node3", "iptables", "-X", "users-own")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_heals_and_ends_with_130(
    start: Callable[..., Any], on_host: Callable[..., str], number: signal.Signals
) -> None:
    """Ctrl-C (or TERM, or HUP) while a host is cut: the rules are gone before chaosk is, and the exit code says so."""
    run = start(HEAD + CUT % "60s")
    run.wait_for("cut: verified")
    assert "chaosk" in on_host("node2", "sh", "-c", "iptables-save; nft list tables")
    run.signal(number)
    assert run.finish(60) == 130, run.text
    assert "everything was healed" in run.text
    assert "chaosk" not in on_host("node2", "sh", "-c", "iptables-save; nft list tables")


@pytest.mark.long
def test_a_probe_that_dies_makes_the_run_inconclusive(start: Callable[..., Any]) -> None:
    """A probe killed from outside: its events so far count, the verdict does not pretend to know the rest."""
    run = start(HEAD + KILL % "5s")
    run.wait_for("kill: verified")
    pid = worker_pid(run.rundir(), "reader")
    os.kill(pid, signal.SIGKILL)
    assert run.finish() == 2, run.text
    assert "reader" in guards(run.read("verdict.json"))


def worker_pid(rundir: Path, probe: str) -> int:
    """Process id of a probe's worker, found by the logs that only it has open: a spare one is told its spec later."""
    folder = f"{rundir / 'live' / f'{probe}-0'}/"
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                opened = [os.path.realpath(file) for file in (entry / "fd").iterdir()]
            except OSError:
                continue
            if b"chaosk.probes.worker" in words and any(file.startswith(folder) for file in opened):
                return int(entry.name)
    msg = f"no worker has a file of {folder} open"
    raise AssertionError(msg)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("revoke_dns: {how: refused}", "clients know every broker by its address; there is no name to take away"),
        (
            "change_address: {target: broker 1, address: 198.18.0.99}",
            "clients know broker 1 on node2 by its address; only a name can lead elsewhere",
        ),
    ],
)
def test_there_are_no_names_to_take_away(start: Callable[..., Any], step: str, why: str) -> None:
    """Where clients know brokers by address, a run that changes names is refused before anything is done."""
    run = start(HEAD + f"timeline:\n  - {{name: nameless, at: 1s, {step}, for: 2s}}\n")
    assert run.finish(60) == 69, run.text
    assert why in " ".join(run.text.split())


def test_a_topic_in_another_shape_is_refused_before_anything_is_touched(
    start: Callable[..., Any], on_host: Callable[..., str]
) -> None:
    """A topic somebody else made, with two partitions: exit 69, and one message that says what differs."""
    tool = ("/opt/kafka/bin/kafka-topics.sh", "--bootstrap-server", "198.18.0.11:9092", "--topic", "foreign")
    on_host("node1", *tool, "--create", "--partitions", "2", "--replication-factor", "1")
    try:
        run = start(HEAD.replace("orders", "foreign") + (KILL % "5s").replace("orders", "foreign"))
        assert run.finish(60) == 69, run.text
    finally:  # a topic with one replica keeps every other run from taking that replica away
        on_host("node1", *tool, "--delete")
    assert "foreign" in run.text
    assert "Traceback" not in run.text
    assert not list(run.output.glob("*/*"))


def test_a_full_disk_ends_without_a_verdict_and_healed(
    start: Callable[..., Any], on_host: Callable[..., str], tmp_path: Path
) -> None:
    """The run directory's file system fills up in the middle of a cut: healed, one message, and never a verdict."""
    full = tmp_path / "small"
    full.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(full)], check=True)
    try:
        run = start(HEAD + CUT % "60s", "--output", str(full))
        run.wait_for("cut: verified")
        with (full / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while filler.write(bytes(4096)):
                pass
        time.sleep(2)
        run.signal(signal.SIGINT)
        assert run.finish(90) == 2, run.text
        assert "cannot be written" in run.text
        assert "everything was healed" in run.text
        assert "Traceback" not in run.text
        assert not list(full.glob("*/*/verdict.json"))
        assert "chaosk" not in on_host("node2", "sh", "-c", "iptables-save; nft list tables")
    finally:
        subprocess.run(["umount", "-l", str(full)], check=True)

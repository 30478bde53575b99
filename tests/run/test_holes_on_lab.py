"""Faults with a hole did not last, those without one did: whole runs on a real lab, and somebody who meddles."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

SCENARIO = """\
name: A fault with a hole
hypothesis: It is noticed.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 100/s}}
  reader: {consume: {topic: orders, group: readers, commit: sync}}
baseline: 1s
settle: 2s
timeline:
"""
WHOLE = "when: 'isr_full(orders)', timeout: 90s, "
CUT = "  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: 24s}\n"
FREEZE = f"  - {{name: freeze, {WHOLE}pause_broker: {{target: broker 2}}, for: 12s}}\n"
KILL = f"  - {{name: kill, {WHOLE}kill_broker: {{target: broker 0}}, for: 16s}}\n"

PUT_AWAY = """\
table=$(nft list tables | sed -n 's/^table inet \\(chaosk-.*\\)/\\1/p')
[ -n "$table" ] && nft list table inet $table >/tmp/kept && nft delete table inet $table
sleep 7
nft -f /tmp/kept
"""
WOKEN = "pid=$(cat /run/kafka/kafka.pid); kill -CONT $pid; sleep 0.5; kill -STOP $pid"
STARTED_AND_KILLED = """\
/opt/kafka/bin/kafka-start >/dev/null 2>&1
pid=$(cat /run/kafka/kafka.pid)
kill -KILL $pid
"""


def faults(run: Any) -> dict[str, Any]:
    """By name what the verdict says of each fault."""
    return {fault["name"]: fault for fault in run.read("verdict.json")["faults"]}


def test_whoever_lifts_a_fault_and_puts_it_back_is_noticed(
    start: Callable[..., Any], on_host: Callable[..., str]
) -> None:
    """A cut's table away for seven seconds, a frozen broker awake for half of one, a killed one started and killed.

    Each is in place at both ends. None lasted, with the length, and the run is INCONCLUSIVE; all are healed.
    """
    run = start(SCENARIO + CUT + FREEZE + KILL)
    run.wait_for("cut: verified")
    time.sleep(7.0)
    on_host("node2", "sh", "-c", PUT_AWAY)
    run.wait_for("freeze: verified")
    time.sleep(1.0)
    on_host("node3", "sh", "-c", WOKEN)
    run.wait_for("kill: verified")
    on_host("node1", "sh", "-c", STARTED_AND_KILLED)
    assert run.finish() == 2, run.text
    guards = [one for one in run.read("verdict.json")["guards"] if one["guard"] == "fault_not_verified"]
    assert len(guards) == 3, run.text
    found = faults(run)
    assert [(one["took"], one["undone"]) for one in found.values()] == [(False, True)] * 3
    assert "did not last: not seen: the cut is in place on node2 (neither" in found["cut"]["why"]
    assert "seen back" in found["cut"]["why"]
    assert "ended and came back between two looks: broker 2 on node3 is frozen" in found["freeze"]["why"]
    assert "broker 0 on node1 is gone" in found["kill"]["why"]
    assert "cut: NOT IN PLACE: not seen: " in run.text


@pytest.mark.long
def test_what_nobody_touches_lasts(start: Callable[..., Any]) -> None:
    """The same faults undisturbed, one of them repeated: looked at every few seconds, and verified to the end."""
    again = KILL.replace("name: kill", "name: again").replace("for: 16s", "for: 7s").replace("  - ", "      - ")
    again = f"  - repeat: 2\n    entries:\n{again}"
    run = start(SCENARIO + CUT + FREEZE + KILL + again)
    assert run.finish() in {0, 1}, run.text  # it has no objectives that could be missed
    found = faults(run)
    assert {name: (one["took"], one["why"]) for name, one in found.items()} == dict.fromkeys(found, (True, None))
    assert len(found) == 5
    assert "NOT IN PLACE" not in run.text
    looked = [line for line in (run.rundir() / "log.jsonl").read_text("utf-8").splitlines() if '"looked"' in line]
    assert len(looked) > 8, "hosts looked by themselves"

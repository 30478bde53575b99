"""A run on a cluster in KRaft mode: its controller is the quorum's leader, and comes back in both of its roles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosk import lab

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

SCENARIO = """\
name: Kill the leader of the quorum
hypothesis: The other controllers elect another one of them, and nothing acknowledged is lost.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 50/s, config: {acks: all, enable.idempotence: true}}}
  reader: {consume: {topic: orders, group: readers, commit: sync}}
baseline: 2s
timeline:
  - {name: kill, at: 1s, kill_controller: {target: controller}, for: 10s}
  - {name: roll, when: controller_quorum, timeout: 60s, restart_controller: {target: controller follower}}
settle: 2s
"""


def test_the_leader_of_the_quorum_is_killed_and_comes_back(start: Callable[..., Any], lab_inventory: Path) -> None:
    """Another controller leads while it is away; it then follows; nothing acknowledged is lost."""
    assert lab_inventory.exists()
    run = start(SCENARIO)
    code = run.finish()
    before, after = run.read("cluster/before.json"), run.read("cluster/after.json")
    killed = str(before["controller"])
    assert before["controllers"][killed] == "leader"
    assert f"kill_controller broker {killed} on node" in run.text
    assert "kill: healed" in run.text
    assert "roll: verified" in run.text
    assert after["controller"] != before["controller"]
    assert sorted(after["controllers"].values()) == ["follower", "follower", "leader"]
    verdict = run.read("verdict.json")
    assert not [one for one in verdict["findings"] if one["severity"] == "violation"], run.text
    assert code in {0, 2}, run.text  # 2 where the machine stood still
    assert lab.status("run-kraft").healthy


def test_zookeeper_is_refused_before_anything_is_done(start: Callable[..., Any]) -> None:
    """With what to write instead; no lock is taken, nothing is armed."""
    run = start(SCENARIO.replace("kill_controller: {target: controller}", "kill_zookeeper: {target: zookeeper leader}"))
    assert run.finish() == 69, run.text
    assert "kill: kill_zookeeper: there is no ZooKeeper in KRaft mode; write kill_controller" in run.text

"""`chaosk plan --live` on a real cluster: targets as they stand now, and nothing changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chaosk import lab
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]

SCENARIO = """\
name: x
hypothesis: y
topics: {orders: {partitions: 1}}
probes: {writer: {produce: {topic: orders}}}
timeline:
  - {name: kill, at: 1s, kill_broker: {target: "leader(orders, 0)"}, for: 10s}
  - {name: cut, at: 20s, cut_network: {between: [host(zookeeper leader), everyone else]}, for: 5s}
"""


def test_targets_as_they_stand_now(cluster: Any, tmp_path: Path) -> None:
    """The leader that the cluster has now, its host's command and lease; asking twice says the same."""
    cluster.prepare(orders=Topic(partitions=1))
    leader = cluster.live.partitions("orders")[0].leader
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO, "utf-8")
    inventory = str(lab.inventory(cluster.inventory.name))
    command = [sys.executable, "-m", "chaosk", "plan", str(path), "--inventory", inventory, "--live"]
    told = [subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout for _ in range(2)]
    host = cluster.inventory.brokers[leader].host
    assert f"on leader(orders, 0) = broker {leader} on {host}" in told[0]
    assert f"lease 40s on {host}, renewed while the run lives" in told[0]
    (keeper,) = [node for node, mode in cluster.live.zookeeper_modes().items() if mode == "leader"]
    assert f"host(zookeeper leader) = host {cluster.inventory.zookeepers[keeper].host}" in told[0]
    assert "an example" not in told[0]
    assert told[0] == told[1]
    assert cluster.live.partitions("orders")[0].leader == leader

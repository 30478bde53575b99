"""The health check against real brokers: one that is killed refuses at once, one that is cut off hangs."""

from __future__ import annotations

from typing import Any

import pytest

from chaosk.probes.health_check import HealthCheck
from chaosk.probes.worker.process import ProbeProcess
from chaosk.spec.command import Command

from .conftest import Cluster, until

pytestmark = [pytest.mark.lab, pytest.mark.long]
CUT = 1
"""The broker that is hurt."""


def health(**fields: Any) -> HealthCheck:
    """Ten checks a second of each broker, given up after three seconds."""
    return HealthCheck.model_validate({"rate": "10/s", "timeout": "3s", **fields})


def outcomes(rows: list[dict[str, Any]], broker: int) -> list[tuple[str, str | None]]:
    """Outcome and error of a broker's checks as they were due, repetitions left out."""
    mine = [(row["outcome"], row["error"]) for row in sorted(rows, key=lambda r: r["due"]) if row["broker"] == broker]
    return [each for each, before in zip(mine, [None, *mine], strict=False) if each != before]


def more(process: ProbeProcess, *, fail: int = 0, ok: int = 0) -> None:
    """Wait for so many more outcomes."""
    state = process.state()
    until(process, lambda now: now.fail >= state.fail + fail and now.ok >= state.ok + ok)


@pytest.mark.parametrize("exchange", ["none", "api_versions"])
def test_a_killed_broker_refuses_at_once(cluster: Cluster, exchange: str) -> None:
    """SIGKILL: its checks are refused within the time-out, the others' go on, and it is healthy once it is back."""
    process = cluster.start(health(exchange=exchange), "health")
    more(process, ok=60)
    cluster.signal(CUT, "KILL")
    more(process, fail=20, ok=20)
    cluster.missed(CUT)
    cluster.revive(CUT)
    more(process, ok=60)
    assert process.stop(30) == 0
    rows = cluster.rows("health_checks", "health")
    told = outcomes(rows, CUT)
    assert told[0] == told[-1] == ("ok", None)
    assert ("fail", "ECONNREFUSED") in told
    assert {each for broker in (0, 2) for each in outcomes(rows, broker)} == {("ok", None)}
    refused = sorted(row["closed"] - row["began"] for row in rows if row["error"] == "ECONNREFUSED")
    assert refused[len(refused) // 2] < 1_000_000_000, "nobody waited for a time-out"
    (end,) = cluster.rows("ends", "health")
    assert end["rows"] == end["scheduled"] == len(rows)


def test_a_broker_behind_a_firewall_that_drops_hangs(cluster: Cluster) -> None:
    """A rule with `-j DROP`: its checks take the whole time-out, no error comes; then it is healthy again."""
    broker = cluster.inventory.brokers[CUT]
    port = str(cluster.inventory.client_addresses()[CUT][1])

    def firewall(action: str) -> None:
        argv = ("iptables", "-w", action, "INPUT", "-p", "tcp", "--dport", port, "-j", "DROP")
        result = cluster.hosts.run(Command(host=broker.host, argv=argv, sudo=True, timeout=30.0))
        assert result.ok, result.stderr

    process = cluster.start(health(), "health")
    more(process, ok=60)
    firewall("-I")
    try:
        more(process, fail=20, ok=20)
    finally:
        firewall("-D")
    more(process, ok=60)
    assert process.stop(30) == 0
    rows = cluster.rows("health_checks", "health")
    assert outcomes(rows, CUT) == [("ok", None), ("fail", "TIMEOUT"), ("ok", None)]
    assert {each for other in (0, 2) for each in outcomes(rows, other)} == {("ok", None)}
    hung = [row for row in rows if row["outcome"] == "fail"]
    assert all(row["connected"] is None and row["closed"] - row["began"] >= 3_000_000_000 for row in hung)

"""A stop condition ends a real run: in time, with everything undone, and with a verdict that says so; on a real lab."""

from __future__ import annotations

import json
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from chaosk.document import load_inventory
from chaosk.lab.namespace import inside
from chaosk.spec.inventory import Inventory

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300), pytest.mark.long]

DECIDED_WITHIN = 1.0
HEALED_WITHIN = 3.0

SCENARIO = """\
name: A run that is stopped
hypothesis: It heals at once.
{more}topics:
  orders: {{partitions: 3, replication_factor: 3, config: {{min.insync.replicas: 2}}}}
probes:
  writer: {{produce: {{topic: orders, rate: 100/s}}}}
  reader: {{consume: {{topic: orders, group: readers, commit: sync}}}}
baseline: 1s
settle: 2s
timeline:
  - {{name: cut, at: 1s, cut_network: {{between: [host(broker 1), everyone_else]}}, for: 90s}}
"""
ALLOW = "allow: {foreign_under_min_isr: to see the stop condition that watches over it}\n"


@pytest.fixture
def payments(lab_inventory: Path) -> Iterator[str]:
    """A topic that somebody else made on the cluster, which needs all its three replicas in sync."""
    inventory = load_inventory(lab_inventory)
    assert isinstance(inventory, Inventory)
    servers = inventory.bootstrap_servers()

    def admin(work: Callable[[AdminClient], Any]) -> Any:
        return inside(inventory.network_namespace or "", lambda: work(AdminClient({"bootstrap.servers": servers})))

    name = f"payments-{secrets.token_hex(4)}"  # a topic that is deleted keeps its name for a while
    wanted = NewTopic(name, 1, 3, config={"min.insync.replicas": "3"})
    admin(lambda client: client.create_topics([wanted])[name].result(30))
    yield name
    admin(lambda client: client.delete_topics([name])[name].result(30))


def firewall(on_host: Callable[..., str], host: str) -> str:
    """All rules of a host, without counters."""
    save = r"{ iptables-save; ip6tables-save; nft list ruleset; } 2>/dev/null"
    return on_host(host, "sh", "-c", save + r" | sed '/^#/d; s/\[[0-9]*:[0-9]*\]//; s/counter packets .*//'")


def breach_of(run: Any) -> dict[str, Any]:
    """The breach in run.json, which was decided and healed in time."""
    breach: dict[str, Any] = run.read("run.json")["breach"]
    assert (breach["decided"] - breach["at"]) / 1e9 <= DECIDED_WITHIN
    assert breach["healed"] is not None, run.text
    assert (breach["healed"] - breach["decided"]) / 1e9 <= HEALED_WITHIN
    return breach


def logged(run: Any, event: str) -> dict[str, Any]:
    """The one line of the run's log with that event."""
    lines = [json.loads(line) for line in (run.rundir() / "log.jsonl").read_text("utf-8").splitlines()]
    (found,) = [line for line in lines if line["event"] == event]
    return dict(found)


def test_somebody_elses_topic_falls_below_its_min_isr(
    start: Callable[..., Any], on_host: Callable[..., str], payments: str
) -> None:
    """The cut takes a broker out of its ISR: seen, decided within 1 s, healed 3 s later, and judged INCONCLUSIVE."""
    before = firewall(on_host, "node2")
    conditions = "stop_conditions: [{offline_partition: {}}, {under_min_isr: {}}, {host_unreachable: {}}]\n"
    run = start(SCENARIO.format(more=ALLOW + conditions))
    run.wait_for("cut: verified")
    assert run.finish() == 2, run.text
    assert firewall(on_host, "node2") == before
    breach, verdict = breach_of(run), run.read("verdict.json")
    assert breach["condition"] == "under_min_isr"
    assert f"{payments}-0 has 2 of 3, needs 3" in breach["what"]
    assert verdict["verdict"] == "inconclusive"
    assert verdict["guards"][0]["guard"] == "aborted_by_guard"
    assert "ABORTED BY GUARD under_min_isr" in verdict["guards"][0]["what"]
    assert "ABORTED BY GUARD" in verdict["summary"]
    assert verdict["allowed"] == {"foreign_under_min_isr": "to see the stop condition that watches over it"}
    assert "ABORTED BY GUARD" in (run.rundir() / "report.md").read_text("utf-8")
    assert "to see the stop condition" in (run.rundir() / "report.html").read_text("utf-8")
    assert logged(run, "stopping")["condition"] == logged(run, "all healed")["condition"] == "under_min_isr"


def test_without_a_reason_it_is_not_cut_at_all(
    start: Callable[..., Any], on_host: Callable[..., str], payments: str
) -> None:
    """The same fault is refused when it is aimed: no rule, no lease, and the words name the topic and what to write."""
    before = firewall(on_host, "node2")
    run = start(SCENARIO.format(more=""))
    run.wait_for("cut: refused before anything was done")
    assert firewall(on_host, "node2") == before
    assert list((run.rundir() / "undo").iterdir()) == []
    run.signal(signal.SIGINT)
    assert run.finish() == 130, run.text
    assert f"{payments}-0 (2 in sync, 3 needed)" in run.text
    assert "allow: {foreign_under_min_isr: WHY}" in run.text


def test_a_command_that_fails(start: Callable[..., Any], on_host: Callable[..., str], tmp_path: Path) -> None:
    """A file says when: from then on the run has a second to decide and three to heal, by this test's own clock."""
    before, flag = firewall(on_host, "node2"), tmp_path / "stop"
    check = "import os, sys; sys.exit(os.path.exists(sys.argv[1]) and 'the shop is closed')"
    argv = json.dumps([sys.executable, "-c", check, str(flag)])
    run = start(SCENARIO.format(more=f"stop_conditions: [{{command: {{argv: {argv}, every: 200ms}}}}]\n"))
    run.wait_for("cut: verified")
    assert firewall(on_host, "node2") != before, "the cut must be there, or this proves nothing"
    flag.touch()
    began = time.monotonic()
    while firewall(on_host, "node2") != before:
        assert time.monotonic() - began < DECIDED_WITHIN + HEALED_WITHIN
    run.wait_for("judging")
    run.signal(signal.SIGINT)
    assert run.finish() == 130, run.text
    breach = breach_of(run)
    assert "ended with 1: the shop is closed" in breach["what"]

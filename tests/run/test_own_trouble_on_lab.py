"""What chaosk's own trouble comes to on a lab: probes frozen from outside or ended before, events that are gone."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest
from run.test_run_on_lab import HEAD, KILL, guards, worker_pid

from chaosk.analysis.process import judge

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

AWAY = """\
timeline:
  - {name: writer-away, at: 1s, stop_probe: {probe: writer}, for: 25s}
  - {name: reader-away, at: 1s, stop_probe: {probe: reader}, for: 25s}
  - {name: kill, at: 8s, kill_broker: {target: "leader(orders, 0)"}, for: 5s}
"""


def test_a_probe_frozen_from_outside_is_not_the_clusters_fault(start: Callable[..., Any]) -> None:
    """SIGSTOP for eight seconds by nobody's plan: who it was and for how long, and no outage of that length."""
    run = start(HEAD + "expect: {unavailability: {writer: 6s}}\n" + KILL % "20s")
    run.wait_for("kill: verified")
    time.sleep(6)
    pid = worker_pid(run.rundir(), "writer")
    os.kill(pid, signal.SIGSTOP)
    time.sleep(8)
    os.kill(pid, signal.SIGCONT)
    assert run.finish() == 2, run.text
    verdict = run.read("verdict.json")
    assert "probe_stood_still: writer stood still for 8." in guards(verdict)
    assert "reader stood still" not in guards(verdict)
    assert "stream_incomplete" not in guards(verdict)
    longest = {m["subject"]: m["value"] for m in verdict["measures"] if m["metric"] == "unavailability"}
    assert longest["writer"] < 8, "the time in which the probe itself stood still is no outage"


def test_a_fault_after_all_probes_were_ended_proves_nothing(start: Callable[..., Any]) -> None:
    """Stopped by steps before the broker is killed: no pass; and what is missing of its events is told by name."""
    run = start(HEAD + AWAY)
    assert run.finish() == 2, run.text
    told = guards(run.read("verdict.json"))
    assert "fault_unfelt: while kill was in place no probe attempted anything" in told
    assert "stream_incomplete" not in told
    for table in ("audit", "partitions", "clocks", "commits"):
        path = run.rundir() / "events" / f"{table}.parquet"
        whole = pq.read_table(path)
        pq.write_table(whole.slice(0, whole.num_rows - 1), path)
    verdict = judge(run.rundir())
    told = " | ".join(f"{guard.guard}: {guard.what}" for guard in verdict.guards)
    for table in ("audit", "partitions", "clocks", "commits"):
        assert f"stream_incomplete: the event table {table}: " in told
    assert not [finding for finding in verdict.findings if finding.check == "lost"], "what is not there proves nothing"

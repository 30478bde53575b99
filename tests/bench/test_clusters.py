"""The table of clusters: what a gate's runs become in it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
import sample_gate

from chaosk.campaign.gate.record import save

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench/clusters.py"


def test_a_gates_runs_are_rows(tmp_path: Path) -> None:
    """Each on the cluster that it was run on; not what has no verdict, nor what ran on a cluster of another kind."""
    quorum = "3 brokers, 3 controllers"
    save(
        tmp_path,
        sample_gate.gate(
            sample_gate.attempt("Kill", lab="lab"),
            sample_gate.attempt("Cut", exit_code=1, lab="lab-5-3", variant="acks=1"),
            sample_gate.attempt("Full", cluster=quorum, kafka="4.2.0", lab="vmk-3-3"),
            sample_gate.attempt("Roll", cluster=quorum, kafka="3.9.2", lab="c-0123"),
            sample_gate.attempt("Gone", exit_code=None),
        ),
    )
    for path in ("kill-1", "cut-1", "full-1"):
        (tmp_path / "runs" / path / "x/y").mkdir(parents=True)
        told = {"found": "violation" if path == "cut-1" else "pass", "summary": f"that was {path}"}
        (tmp_path / "runs" / path / "x/y/verdict.json").write_text(json.dumps(told), "utf-8")
    rows = runpy.run_path(str(BENCH))["rows_of"](tmp_path)
    assert [tuple(row) for row in rows] == [
        ("hosts-3.9-zookeeper", "kill", "pass", "yes", "62", "that was kill-1"),
        ("hosts-3.9-zookeeper", "cut: acks=1", "violation", "no", "62", "that was cut-1"),
        ("vms-4.2-kraft", "full", "pass", "yes", "62", "that was full-1"),
    ]

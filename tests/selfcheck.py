"""Holds what probes counted by themselves against their rows, without Spark: the bulk is numpy, the buckets are not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.glances.row_counts import recounted
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.reported_counts import ReportedCounts
from chaosk.analysis.self_check import differences
from chaosk.rundir.events import store
from chaosk.rundir.paths import RunDir

Process = tuple[str, int]
PLAN = {"scenario": {"name": "n", "hypothesis": "h", "topics": {}, "probes": {}, "timeline": []}}


def disagreements(root: Path) -> dict[Process, list[str]]:
    """By process with a tally what its rows say otherwise; its live streams are in ``root/live/<source>``."""
    rundir = RunDir(root)
    store.close(rundir)
    rundir.plan.write_text(json.dumps(PLAN), encoding="utf-8")
    case = read_case(rundir)
    figures, latencies = recounted(EventRows(case)), buckets_of(rundir)
    return {
        process: list(differences(tally, figures[process], latencies.get(process, {}), ended=process in case.ends))
        for process, tally in case.tallies.items()
    }


def tallies_of(root: Path) -> dict[Process, ReportedCounts]:
    """By process its last tally; after :func:`disagreements`."""
    return read_case(RunDir(root)).tallies


def buckets_of(rundir: RunDir) -> dict[Process, Counter[tuple[str, int]]]:
    """By process its sends by outcome and bucket of latency: its first eleven bits, by plain arithmetic."""
    found: dict[Process, Counter[tuple[str, int]]] = {}
    for row in store.read(rundir, "sends").to_pylist():
        if row["completed"] is not None:
            latency = max(row["completed"] - row["scheduled"], 0)
            cut = max(latency.bit_length() - 11, 0)
            process = (row["probe"], row["incarnation"])
            found.setdefault(process, Counter())[row["outcome"], latency >> cut << cut] += 1
    return found

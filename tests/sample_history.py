"""Judged runs as they lie in folders, made up, without events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sample_run

from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Measure

DAY = 86_400_000_000_000
"""Nanoseconds."""
FIRST = 1_790_000_000_000_000_000
"""The wall clock when the first one began: 2026-09-21 14:13:20 UTC."""


def inventory(*, kraft: bool = False, name: str = "staging") -> dict[str, Any]:
    """As much of an inventory as tells what a cluster is."""
    keepers: dict[str, Any] = {"controllers": {"101": {}}} if kraft else {"zookeepers": {"1": {}, "2": {}, "3": {}}}
    return {"name": name, "brokers": {"1": {}, "2": {}, "3": {}}, **keepers}


def measured(value: float | None, metric: str = "unavailability", *, censored: bool = False) -> Measure:
    """A figure of the writer over the run."""
    return Measure(metric=metric, subject="writer", value=value, unit="s", censored=censored)


def run_of(
    root: Path, *, day: int = 0, kafka: str | None = "3.9.2", plan: dict[str, Any] | None = None, **verdict: Any
) -> RunDir:
    """A judged run that began so many days after the first; the rest replaces fields of its verdict."""
    told = sample_run.verdict(**{"wall": FIRST + day * DAY, "findings": (), **verdict})
    run = RunDir(root)
    shape = sample_run.Shape()
    sample_run.write_documents(run, told, shape)
    document = sample_run.plan(shape) | {"kafka": kafka, "inventory": inventory()} | (plan or {})
    run.plan.write_text(json.dumps(document), encoding="utf-8")
    return run

"""Warm up Spark by judging a tiny made-up run: the JVM loads, and Spark compiles, what the real run will need.

A run in which nothing is suspected needs no Spark. So in this one a record is lost, and another is delivered twice.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.paths import RunDir

_PLAN = {
    "scenario": {
        "name": "warm-up", "hypothesis": "None.", "topics": {"t": {"partitions": 1}},
        "probes": {"p": {"produce": {}}, "c": {"consume": {}}}, "timeline": [],
    }
}  # fmt: skip
_RECORD = {"run_id": "w", "began": 0, "wall": 0, "ended": 10_000_000_000, "healed": True}


def worthwhile() -> bool:
    """Return True if the machine has idle processors.

    Judging a made-up run took 23 s of processor time and saved the real one 10 of its 21 s; judging it twice more took
    11 s and saved 4 s. So it is done once, and only with idle processors: otherwise it would compete with the brokers
    of a lab or with another run.
    """
    return os.getloadavg()[0] < len(os.sched_getaffinity(0))


def warm_up(spark: SparkSession, folder: Path) -> None:
    """Judge a made-up run in an empty folder; takes some seconds, and shortens the next judgement as much."""
    rundir = RunDir(folder)
    for path in (rundir.events, rundir.evidence):
        path.mkdir()
    rundir.plan.write_text(json.dumps(_PLAN), encoding="utf-8")
    rundir.run.write_text(json.dumps(_RECORD), encoding="utf-8")
    for name, schema in SCHEMAS.items():
        rows = [{field.name: _value(field) for field in schema} | extra for extra in _ROWS.get(name, [])]
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), rundir.events / f"{name}.parquet")
    analyze(spark, rundir)


def _value(field: pa.Field[Any]) -> Any:  # noqa: ANN401 - whatever the column holds
    if pa.types.is_string(field.type):
        return "x"
    if pa.types.is_boolean(field.type):
        return True
    return [0] if pa.types.is_list(field.type) else 0


_WRITER: dict[str, Any] = {"probe": "p", "incarnation": 0}
_READER: dict[str, Any] = {"probe": "c", "incarnation": 0, "group": "g"}
_PLACE: dict[str, Any] = {"topic": "t", "partition": 0}
_NUMBERS = range(3)
_SENT = (*_NUMBERS, 3)
"""Acknowledged records; the last one is lost."""
_GIVEN = (0, 1, 1, 2)
_ROWS: dict[str, list[dict[str, Any]]] = {
    "incarnations": [
        {**_WRITER, "kind": "produce", "group": None, "acks": -1, "idempotent": True, "max_in_flight": 5},
        {**_READER, "kind": "consume", "isolation": "read_committed", "commit": "sync"},
    ],
    "ends": [_WRITER, {"probe": "c", "incarnation": 0}],
    "sends": [{**_WRITER, **_PLACE, "seq": n, "offset": n, "outcome": "ok", "error": None} for n in _SENT],
    "reads": [
        {**_READER, **_PLACE, "offset": n, "n": turn, "producer": "p", "producer_incarnation": 0, "seq": n}
        for turn, n in enumerate(_GIVEN)
    ],
    "polls": [{"probe": "c", "incarnation": 0, "poll": n} for n in _NUMBERS],
    "assignments": [{**_READER, **_PLACE, "kind": "assign"}],
    "commits": [{**_READER, **_PLACE, "offset": 1, "outcome": "ok"}],
    "fetched": [{**_READER, **_PLACE}],
    "partitions": [{**_PLACE, "at": n} for n in _NUMBERS],
    "offsets": [{**_PLACE, "at": n, "leader": True} for n in _NUMBERS],
    "audit": [
        {**_PLACE, "isolation": level, "offset": n, "producer": "p", "producer_incarnation": 0, "seq": n}
        for level in ("read_uncommitted", "read_committed")
        for n in _NUMBERS
    ],
    "audit_ranges": [
        {**_PLACE, "isolation": level, "end": 3} for level in ("read_uncommitted", "read_committed")
    ],
    "phases": [{"phase": "baseline", "began": 0, "ended": 10}, {"phase": "settle", "began": 10, "ended": 20}],
    "faults": [
        {"fault": "f", "step": "s", "targets": "t", "invoked": 1, "applied": 1, "heal_invoked": 2, "healed": 2}
    ],
}  # fmt: skip

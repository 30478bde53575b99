"""A made-up run as one that says how much was written: `stream_ends` beside its tables, and the writers in run.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.writer_reports import WRITTEN_BY, writer_of
from chaosk.rundir.paths import RunDir

Row = dict[str, Any]
_OF = {table: writer for writer, tables in reversed(tuple(WRITTEN_BY.items())) for table in tables}


def rows(rundir: RunDir, table: str) -> list[Row]:
    """The rows of an event table."""
    found: list[Row] = pq.read_table(rundir.events / f"{table}.parquet").to_pylist()
    return found


def write(rundir: RunDir, table: str, some: list[Row]) -> None:
    """Write an event table anew."""
    pq.write_table(pa.Table.from_pylist(some, schema=SCHEMAS[table]), rundir.events / f"{table}.parquet")


def change(rundir: RunDir, table: str, how: Callable[[list[Row]], list[Row]]) -> None:
    """Make other rows of the rows of an event table."""
    write(rundir, table, how(rows(rundir, table)))


def seal(rundir: RunDir, *silent: str) -> RunDir:
    """Have every writer say what it wrote, but for the ``silent`` ones: killed ones."""
    written: dict[str, Counter[str]] = {writer: Counter() for writer in ("run", "watcher", "audit")}
    for row in rows(rundir, "incarnations"):
        written[writer_of(row["probe"], row["incarnation"])] = Counter()
    for table in SCHEMAS:
        for row in rows(rundir, table):
            own = row.get("writer") or (writer_of(row["probe"], row["incarnation"]) if "probe" in row else _OF[table])
            written[own][table] += 1
    marks: list[Row] = []
    for writer, counts in sorted(written.items()):
        if writer not in silent:
            counts["stream_ends"] = len(counts) + 1
            marks += [
                {"writer": writer, "table": table, "rows": count, "run_id": "r1", "at": 0}
                for table, count in sorted(counts.items())
            ]
    write(rundir, "stream_ends", marks)
    record = json.loads(rundir.run.read_text("utf-8"))
    rundir.run.write_text(json.dumps(record | {"streams": written}), "utf-8")
    return rundir

"""Mutants: a flawless run in which one row is changed; and the run directory of each."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from analysis.history import Row, ns
from analysis.tallying import tallies
from everyrow.kinds import Rows, kinds
from everyrow.operators import changed
from everyrow.world import World

from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.writer_reports import WRITTEN_BY, writer_of
from chaosk.rundir.paths import RunDir

PROBES = ("sends", "reads", "polls", "health_checks", "calls")
"""Tables of which a probe counts the rows by itself, and what they say."""
SAME = ("brokers", "zookeepers", "host_clocks")
"""Tables that are the same whatever the workload: those of one are enough."""
COUNTS = ("tallies", "ends", "stream_ends")
"""Tables of such counts."""
DAMAGED, OTHER = "damaged", "other world"
"""Ways of a change: the log was damaged, and what its writers counted shows it; or it is what they wrote."""
_OWNERS = {table: writer for writer, tables in reversed(tuple(WRITTEN_BY.items())) for table in tables}
NAMES = ("workload", "table", "kind", "operator", "way")


@dataclass(frozen=True)
class Mutant:
    """One change of one row."""

    workload: str
    table: str
    kind: str
    operator: str
    way: str
    """One of ``DAMAGED`` and ``OTHER``; where no count is touched the two are one."""
    rows: Rows
    """The tables that are not as they were."""

    @property
    def name(self) -> tuple[str, ...]:
        """What tells it apart from all others."""
        return self.workload, self.table, self.kind, self.operator, self.way


class Flawless:
    """A workload's flawless run as it was written."""

    def __init__(self, workload: str, world: World, root: Path) -> None:
        """Writes the run directory at ``root``."""
        self.workload, self.world = workload, world
        self.rundir = world.write(root)
        self.record = json.loads(self.rundir.run.read_text(encoding="utf-8"))
        self.rows: Rows = {
            name: pq.read_table(root / "events" / f"{name}.parquet").to_pylist()
            for name in SCHEMAS
            if (root / "events" / f"{name}.parquet").exists()
        }
        self.rows["stream_ends"] = stream_ends(self.rows)
        self.write_some({"stream_ends": self.rows["stream_ends"]}, self.rundir)

    def mutants(self) -> Iterator[Mutant]:
        """All of them."""
        partitions = self.world.partitions
        for kind in kinds(self.rows):
            if kind.table in SAME and self.workload != "plain":
                continue
            for operator, table in changed(kind, self.rows, partitions):
                counted = kind.table in PROBES or len(table) != len(self.rows[kind.table])
                for way in (DAMAGED, OTHER) if counted and kind.table not in COUNTS else (DAMAGED,):
                    rows = {kind.table: table}
                    if way == OTHER:
                        rows |= recounted(self.rows | rows)
                    yield Mutant(self.workload, kind.table, kind.name, operator, way, rows)

    def written(self, mutant: Mutant, root: Path) -> RunDir:
        """The run directory of a mutant: what is as it was are the same files."""
        rundir = RunDir(root)
        for folder in (rundir.events, rundir.evidence, rundir.live, rundir.cluster, rundir.undo):
            folder.mkdir(parents=True)
        os.link(self.rundir.plan, rundir.plan)
        for name in self.rows.keys() - mutant.rows.keys():
            os.link(self.rundir.events / f"{name}.parquet", rundir.events / f"{name}.parquet")
        if mutant.way != OTHER:
            os.link(self.rundir.run, rundir.run)
        self.write_some(mutant.rows, rundir, written=mutant.way == OTHER)
        return rundir

    def write_some(self, rows: Rows, rundir: RunDir, *, written: bool = True) -> None:
        """Write some tables, and how much was ``written`` in all into ``run.json``."""
        for name, table in rows.items():
            pq.write_table(pa.Table.from_pylist(table, schema=SCHEMAS[name]), rundir.events / f"{name}.parquet")
        if written:
            record = self.record | {"streams": streams(self.rows | rows)}
            rundir.run.write_text(json.dumps(record), encoding="utf-8")


def recounted(rows: Rows) -> Rows:
    """What the probes would have counted that were told exactly what the rows say, and everybody of what they wrote."""
    ended = [(row["probe"], row["incarnation"]) for row in rows["ends"]]
    counting = {(row["probe"], row["incarnation"]) for row in rows["tallies"]}
    found = {
        "tallies": tallies(rows, [each for each in ended if each in counting], ns(21)),
        "ends": [row | {"rows": _written(rows, row)} for row in rows["ends"]],
    }
    return found | {"stream_ends": stream_ends(rows | found)}


def streams(rows: Rows) -> dict[str, dict[str, int]]:
    """By writer how many rows of each table it wrote."""
    found: dict[str, Counter[str]] = {writer: Counter() for writer in ("run", "watcher", "audit")}
    for row in rows["incarnations"]:
        found[writer_of(row["probe"], row["incarnation"])] = Counter()
    for table in sorted(rows.keys() - {"stream_ends"}):
        for row in rows[table]:
            probe = writer_of(row["probe"], row["incarnation"]) if "probe" in row else _OWNERS[table]
            found.setdefault(row.get("writer") or probe, Counter())[table] += 1
    return {writer: dict(counts) | {"stream_ends": len(counts) + 1} for writer, counts in sorted(found.items())}


def stream_ends(rows: Rows) -> list[Row]:
    """The rows in which each writer says so."""
    return [
        {"writer": writer, "table": table, "rows": count, "run_id": "r1", "at": ns(22)}
        for writer, counts in streams(rows).items()
        for table, count in sorted(counts.items())
    ]


def _written(rows: Rows, end: Row) -> int:
    mine = (row for name in ("sends", "reads", "health_checks", "calls") for row in rows[name])
    return sum((row["probe"], row["incarnation"]) == (end["probe"], end["incarnation"]) for row in mine)

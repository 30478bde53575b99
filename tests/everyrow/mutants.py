"""Mutants: a flawless run in which one row is changed; and the run directory of each."""

from __future__ import annotations

import os
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

from chaosk.arrow import SCHEMAS
from chaosk.rundir import RunDir

COUNTED = ("sends", "reads", "polls", "health_checks", "calls")
"""Tables of which a probe counts the rows by itself."""
DAMAGED, OTHER = "damaged", "other world"
"""Ways of a change: the log was damaged, and what the probes counted shows it; or it is what they were told."""
NAMES = ("workload", "table", "kind", "operator", "way")


@dataclass(frozen=True)
class Mutant:
    """One change of one row."""

    workload: str
    table: str
    kind: str
    operator: str
    way: str
    """One of ``DAMAGED`` and ``OTHER``; of tables that nobody counts the two are one."""
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
        self.rows: Rows = {
            name: pq.read_table(root / "events" / f"{name}.parquet").to_pylist()
            for name in SCHEMAS
            if (root / "events" / f"{name}.parquet").exists()
        }

    def mutants(self) -> Iterator[Mutant]:
        """All of them."""
        partitions = self.world.partitions
        for kind in kinds(self.rows):
            for operator, table in changed(kind, self.rows, partitions):
                for way in (DAMAGED, OTHER) if kind.table in COUNTED else (DAMAGED,):
                    rows = {kind.table: table}
                    if way == OTHER:
                        rows |= recounted(self.rows | rows)
                    yield Mutant(self.workload, kind.table, kind.name, operator, way, rows)

    def written(self, mutant: Mutant, root: Path) -> RunDir:
        """The run directory of a mutant: what is as it was are the same files."""
        rundir = RunDir(root)
        for folder in (rundir.events, rundir.evidence, rundir.live, rundir.cluster, rundir.undo):
            folder.mkdir(parents=True)
        for path in (self.rundir.plan, self.rundir.run):
            os.link(path, root / path.name)
        for name in self.rows:
            path = rundir.events / f"{name}.parquet"
            if name in mutant.rows:
                pq.write_table(pa.Table.from_pylist(mutant.rows[name], schema=SCHEMAS[name]), path)
            else:
                os.link(self.rundir.events / path.name, path)
        return rundir


def recounted(rows: Rows) -> Rows:
    """What the probes would have counted that were told exactly what the rows say."""
    ended = [(row["probe"], row["incarnation"]) for row in rows["ends"]]
    counting = {(row["probe"], row["incarnation"]) for row in rows["tallies"]}
    return {
        "tallies": tallies(rows, [each for each in ended if each in counting], ns(21)),
        "ends": [row | {"rows": _written(rows, row)} for row in rows["ends"]],
    }


def _written(rows: Rows, end: Row) -> int:
    mine = (row for name in ("sends", "reads", "health_checks", "calls") for row in rows[name])
    return sum((row["probe"], row["incarnation"]) == (end["probe"], end["incarnation"]) for row in mine)

"""Many mutants of one flawless run side by side in one run directory, each in partitions and processes of its own.

No row of one touches another's. What they share is what a run has once: its phases, its faults, its clocks, and what
brokers say of themselves. What is said of them all is taken apart again by partition, process and transaction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from analysis.history import Row
from everyrow.kinds import Rows
from everyrow.mutants import Flawless, Mutant, stream_ends, streams

from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.writer_reports import WATCHER, writer_of
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Guard, Verdict

ONCE = ("topic_settings", "phases", "faults", "clocks", "host_clocks", "brokers", "zookeepers")
"""Tables that a run has once."""
UNKNOWN = -1
"""Stands for a mutant, and nobody knows which."""
_TRANSACTIONS = ("txn", "transactional_id", "owner")
_PROCESSES = ("incarnation", "producer_incarnation", "other_incarnation")
_TELLING = ("violation", "unproven")


class Batch:
    """A run of many mutants."""

    def __init__(self, flawless: Flawless, mutants: Sequence[Mutant]) -> None:
        """Of one workload."""
        self.flawless, self.mutants = flawless, mutants
        self.partitions = flawless.world.partitions
        self.processes = 1 + max(row["incarnation"] for row in flawless.rows["incarnations"])
        self.ids = 1 + max((row["producer_id"] for row in flawless.rows["markers"]), default=0)

    def write(self, rundir: RunDir) -> RunDir:
        """Write the run directory."""
        for folder in (rundir.events, rundir.evidence, rundir.live, rundir.cluster, rundir.undo):
            folder.mkdir(parents=True)
        plan = json.loads(self.flawless.rundir.plan.read_text(encoding="utf-8"))
        record = json.loads(self.flawless.rundir.run.read_text(encoding="utf-8"))
        for topic, count in self.partitions.items():
            plan["scenario"]["topics"][topic]["partitions"] = count * len(self.mutants)
        record["probes"] = [self._moved(end, n) for end in record["probes"] for n in range(len(self.mutants))]
        rundir.plan.write_text(json.dumps(plan), encoding="utf-8")
        all_of: Rows = {}
        for name in self.flawless.rows.keys() - {"stream_ends"}:
            rows = self.flawless.rows[name]
            moved = (
                self._moved(row, number)
                for number, mutant in enumerate(self.mutants)
                for row in mutant.rows.get(name, rows)
                if not number or row.get("writer") != WATCHER
            )
            all_of[name] = rows if name in ONCE else list(moved)
        all_of["stream_ends"] = stream_ends(all_of)
        for name, rows in all_of.items():
            table = pa.Table.from_pylist(rows, schema=SCHEMAS[name])
            pq.write_table(table, rundir.events / f"{name}.parquet")
        rundir.run.write_text(json.dumps(record | {"streams": streams(all_of)}), encoding="utf-8")
        return rundir

    def taken_apart(self, rundir: RunDir, verdict: Verdict) -> dict[int, str]:
        """By number of a mutant what was found in it, as far as that is told."""
        found: dict[int, str] = {}
        for path in sorted(rundir.evidence.glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row: Row = json.loads(line)
                if row["severity"] in _TELLING:
                    number = self._of(row)
                    found.setdefault(UNKNOWN if number is None else number, path.stem)
        for guard in verdict.guards:
            if not guard.guard.endswith("_unproven"):
                for number in set(self._named(guard)) or {UNKNOWN}:
                    found.setdefault(number, guard.guard)
        return found

    def _moved(self, row: Row, number: int) -> Row:
        """The row in the partitions, processes and transactions of that mutant."""
        moved = dict(row)
        for name in _PROCESSES:
            if row.get(name) is not None:
                moved[name] = row[name] + self.processes * number
        for name in _TRANSACTIONS:
            if row.get(name) is not None:
                moved[name] = f"{row[name]}@{number}"
        if row.get("partition") is not None and row.get("topic") is not None:
            moved["partition"] = row["partition"] + self.partitions[row["topic"]] * number
        if row.get("writer") not in (None, WATCHER):
            probe, _, incarnation = row["writer"].rpartition("-")
            moved["writer"] = writer_of(probe, int(incarnation) + self.processes * number)
        if row.get("producer_id") is not None:
            moved["producer_id"] = row["producer_id"] + self.ids * number
        return moved

    def _of(self, row: Row) -> int | None:
        """The number of the mutant that a row of evidence is of."""
        if row.get("partition") is not None:
            return int(row["partition"] // self.partitions[row["topic"]])
        for name in _PROCESSES:
            if row.get(name) is not None:
                return int(row[name] // self.processes)
        names = (str(row[name]).rpartition("@") for name in _TRANSACTIONS if row.get(name))
        return next((int(number) for _, at, number in names if at), None)

    def _named(self, guard: Guard) -> Iterator[int]:
        """The numbers of the mutants whose processes or partitions a guard names."""
        for topic, count in self.partitions.items():
            for number in re.findall(rf"\b{topic}-(\d+)\b", guard.what):
                yield int(number) // count
        for probe in self.flawless.world.probes:
            for number in re.findall(rf"\b{probe}/(\d+)\b", guard.what):
                yield int(number) // self.processes


def elsewhere(mutant: Mutant, partitions: dict[str, int]) -> bool:
    """Whether a mutant touches a partition that its run has not."""
    changed = mutant.rows[mutant.table]
    return any(
        row["partition"] >= partitions.get(row["topic"], 0)
        for row in changed
        if row.get("partition") is not None and row.get("topic") is not None
    )

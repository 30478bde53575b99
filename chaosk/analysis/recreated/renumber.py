"""Copy of the events of a run with recreated topics, in which each incarnation of a topic has its own partitions.

A record belongs to the topic that it was sent to, as far as that is proven. It belongs to the new topic if it was sent
after the recreation, or was found by the tail audit, or was in flight at that time and acknowledged at an offset that
the old log had already passed. All other earlier records belong to the old topic, and are owed to no reader after the
deletion. Rows without a record (commits, samples, assignments) are divided by time. A member that owned a partition of
the old topic owns the new one from then on, at position 0, the start of a new log.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from chaosk.analysis.case import Case
from chaosk.analysis.recreated.assignments import CarriedAssignments, held_over, stale
from chaosk.analysis.recreated.attribution import NONE, Numbers, SendAttribution, numbers
from chaosk.analysis.recreated.generations import RecreatedTopic
from chaosk.rundir.events.arrow import SCHEMAS

_BY_TIME = {
    "seeks": "at", "assignments": "at", "commits": "invoked", "fetched": "invoked", "txn_offsets": "at",
    "partitions": "at", "offsets": "at",
}  # fmt: skip
"""Tables whose rows name no record, and their time column."""
_BY_VALUE = ("reads", "failures")
_Ages = Callable[[RecreatedTopic, pa.RecordBatch], Numbers]


@contextmanager
def apart(case: Case) -> Iterator[Case]:
    """Yield the case as the rules see it: unchanged, unless topics were recreated.

    Raises AnalysisError if an event table cannot be read.
    """
    if not case.former.topics:
        yield case
        return
    folder = Path(tempfile.mkdtemp(prefix="apart-", dir=case.rundir.root))
    try:
        yield _written(case, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _written(case: Case, folder: Path) -> Case:
    sent = {topic: SendAttribution(case, topic, remaking) for topic, remaking in case.former.topics.items()}
    held = held_over(case, sent)
    rows = dict(case.rows)
    for name in SCHEMAS:
        source, target = case.events / f"{name}.parquet", folder / f"{name}.parquet"
        if name in {"sends", "outputs", *_BY_TIME, *_BY_VALUE} and case.rows.get(name):
            rows[name] = _convert(case, name, target, sent, held)
        elif source.exists():
            _same(source, target)
    return replace(case, events=folder, rows=rows, replicas=_replicas(case))


def _same(source: Path, target: Path) -> None:
    """Link a file under another name, or copy it if the file system has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _replicas(case: Case) -> dict[tuple[str, int], frozenset[int]]:
    """Return the replicas of each partition, also for its earlier incarnations."""
    found = dict(case.replicas)
    for (topic, partition), brokers in case.replicas.items():
        if (remaking := case.former.topics.get(topic)) is not None:
            found |= {(topic, remaking.number(partition, age)): brokers for age in range(len(remaking.made))}
    return found


def _convert(case: Case, name: str, target: Path, sent: dict[str, SendAttribution], held: CarriedAssignments) -> int:
    """Write a table with separate partitions for each incarnation of a topic; return its number of rows."""
    count = 0
    with pq.ParquetFile(case.events / f"{name}.parquet") as file, pq.ParquetWriter(target, SCHEMAS[name]) as out:
        for batch in file.iter_batches(columns=SCHEMAS[name].names):
            table = _renumbered(case, name, batch, sent)
            out.write_table(stale(case, table) if name == "fetched" else table)
            count += table.num_rows
        if more := held.rows.get(name):
            out.write_table(pa.Table.from_pylist(more, schema=SCHEMAS[name]))
            count += len(more)
    return count


def _renumbered(case: Case, name: str, batch: pa.RecordBatch, sent: dict[str, SendAttribution]) -> pa.Table:
    table = pa.Table.from_batches([batch]).cast(SCHEMAS[name])
    partitions = numbers(batch["partition"])
    for topic, remaking in case.former.topics.items():
        mine = np.asarray(pc.equal(batch["topic"], pa.scalar(topic))) & (partitions != NONE)
        if mine.any():
            ages = _ages(name, sent[topic], batch.filter(pa.array(mine)))
            partitions[mine] += remaking.apart * (len(remaking.made) - ages)
    column: Any = pa.array(partitions, pa.int32(), mask=partitions == NONE)
    return table.set_column(table.schema.get_field_index("partition"), SCHEMAS[name].field("partition"), column)


def _ages(name: str, sent: SendAttribution, batch: pa.RecordBatch) -> Numbers:
    if name == "sends":
        return sent.of_sends(batch)
    if name == "outputs":
        return sent.of_inputs(batch)
    return sent.of_reads(batch) if name in _BY_VALUE else sent.by_time(numbers(batch[_BY_TIME[name]]))

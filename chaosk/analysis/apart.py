"""The events of a run in which topics were made again, with each topic's partitions told apart: written beside them.

A record is of the topic that it was sent to, as far as that is proven: sent after the topic was made again, or found
by the tail audit, it is the new one's, and so is one that was under way meanwhile and was acknowledged at an offset
that the old log had passed already. Everything else that was sent before is the old one's, and owed to nobody after
the deletion. What names no record (commits, samples, assignments) goes by its time. A member that held a partition of
the old topic holds the new one's from then on, and its position there is 0: it begins a new log.
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
from chaosk.analysis.former import Remaking
from chaosk.analysis.held import Held, held_over, stale
from chaosk.analysis.sentto import NONE, Numbers, SentTo, numbers
from chaosk.rundir.events.arrow import SCHEMAS

_BY_TIME = {
    "seeks": "at", "assignments": "at", "commits": "invoked", "fetched": "invoked", "txn_offsets": "at",
    "partitions": "at", "offsets": "at",
}  # fmt: skip
"""Tables whose rows name no record, and the time that they go by."""
_BY_VALUE = ("reads", "failures")
_Ages = Callable[[Remaking, pa.RecordBatch], Numbers]


@contextmanager
def apart(case: Case) -> Iterator[Case]:
    """The case as the rules are to see it: itself, unless topics were made again.

    Raises AnalysisError where an event table cannot be read.
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
    sent = {topic: SentTo(case, topic, remaking) for topic, remaking in case.former.topics.items()}
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
    """The same file under another name; a copy where the file system gives a file only one."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _replicas(case: Case) -> dict[tuple[str, int], frozenset[int]]:
    """The same brokers for what the same partition was before."""
    found = dict(case.replicas)
    for (topic, partition), brokers in case.replicas.items():
        if (remaking := case.former.topics.get(topic)) is not None:
            found |= {(topic, remaking.number(partition, age)): brokers for age in range(len(remaking.made))}
    return found


def _convert(case: Case, name: str, target: Path, sent: dict[str, SentTo], held: Held) -> int:
    """Write a table with the partitions told apart; how many rows it has."""
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


def _renumbered(case: Case, name: str, batch: pa.RecordBatch, sent: dict[str, SentTo]) -> pa.Table:
    table = pa.Table.from_batches([batch]).cast(SCHEMAS[name])
    partitions = numbers(batch["partition"])
    for topic, remaking in case.former.topics.items():
        mine = np.asarray(pc.equal(batch["topic"], pa.scalar(topic))) & (partitions != NONE)
        if mine.any():
            ages = _ages(name, sent[topic], batch.filter(pa.array(mine)))
            partitions[mine] += remaking.apart * (len(remaking.made) - ages)
    column: Any = pa.array(partitions, pa.int32(), mask=partitions == NONE)
    return table.set_column(table.schema.get_field_index("partition"), SCHEMAS[name].field("partition"), column)


def _ages(name: str, sent: SentTo, batch: pa.RecordBatch) -> Numbers:
    if name == "sends":
        return sent.of_sends(batch)
    if name == "outputs":
        return sent.of_inputs(batch)
    return sent.of_reads(batch) if name in _BY_VALUE else sent.by_time(numbers(batch[_BY_TIME[name]]))

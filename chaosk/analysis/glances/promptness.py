"""Promptness of each stream by cells of 0.25 s, from which recovery is determined; ``frames.health`` uses Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from chaosk.analysis.frames.gaps import CELL
from chaosk.analysis.glances.first_deliveries import first_deliveries
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.glances.written import written

StreamCell = tuple[str, int, int, int]
"""Stream, cell, number of records due in it, and number of prompt ones."""


def prompt_sends(rows: EventRows, within: Mapping[str, int]) -> Iterator[StreamCell]:
    """Yield by producer and cell of the due time all records, and those acknowledged ``within`` its bound (in ns)."""
    probe, due, done = rows.columns("sends", "probe", "scheduled", "completed")
    acknowledged = (rows.column("sends", "outcome") == rows.code("outcome", "ok")) & (done != EMPTY)
    for name, bound in within.items():
        mine = probe == rows.code("probe", name)
        prompt = mine & acknowledged & (done - due <= bound)
        yield from _cells(name, due[mine], due[prompt])


def prompt_deliveries(rows: EventRows, within: Mapping[str, int]) -> Iterator[StreamCell]:
    """Yield by reader and cell of the due time the written records of its topics, and those given to it in time."""
    sent = written(rows)
    topics, due = rows.columns("sends", "topic", "scheduled")
    readers, read = rows.readers(), rows.column("reads", "topic")
    received = first_deliveries(rows)
    took = rows.column("reads", "at")[received] - rows.column("reads", "scheduled")[received]
    for name, bound in within.items():
        code = rows.code("reader", name)
        mine = sent & np.isin(topics, np.unique(read[readers == code]))
        prompt = received[(readers[received] == code) & (took <= bound)]
        yield from _cells(name, due[mine], rows.column("reads", "scheduled")[prompt])


def under_replicated(rows: EventRows) -> set[int]:
    """Return cells in which any broker named a partition without a leader or with a replica out of sync."""
    if not rows.count("partitions"):
        return set()
    isr, replicas = rows.lengths("partitions", "isr"), rows.lengths("partitions", "replicas")
    leader = rows.as_written("partitions", "leader")
    short = ((isr != EMPTY) & (replicas != EMPTY) & (isr < replicas)) | (leader < 0)
    return set(np.unique(rows.column("partitions", "at")[short] // CELL).tolist())


def _cells(stream: str, wanted: Numbers, prompt: Numbers) -> Iterator[StreamCell]:
    cells, counts = np.unique(wanted // CELL, return_counts=True)
    found = dict(zip(*(column.tolist() for column in np.unique(prompt // CELL, return_counts=True)), strict=True))
    for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
        yield stream, cell, count, found.get(cell, 0)

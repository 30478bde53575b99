"""Latencies of the last seconds, from the tail of the probes' event streams, without additional work for the probes.

A producer's latency is from the time a record was due until its acknowledgement, a consumer's until its delivery, as in
the report. A call's latency starts with the call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from chaosk.run.clock import now
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.live import SUFFIX

WINDOW = 5.0
"""Seconds for which a latency counts."""
_SPANS = {"sends": ("scheduled", "completed"), "reads": ("scheduled", "at"), "calls": ("began", "completed")}
"""The start and end column of the latency, by table."""

Batch = pa.RecordBatch


class Tail:
    """One stream, read incrementally."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0

    def fresh(self) -> Iterator[Batch]:
        """Yield the new batches; an incomplete one is left for the next call."""
        schema = SCHEMAS[self._path.name.removesuffix(SUFFIX)]
        with suppress(OSError, pa.ArrowException, EOFError), pa.OSFile(str(self._path), "rb") as source:
            size = source.size()
            source.seek(self._place)
            while self._place < size:
                message = pa.ipc.read_message(source)
                self._place = source.tell()
                if message.type == "record batch":
                    yield pa.ipc.read_record_batch(message, schema)


class Latencies:
    """The recent latencies of a run's probes."""

    def __init__(self, live: Path) -> None:
        """``live``: the folder of the run's event streams."""
        self._live = live
        self._tails: dict[Path, Tail] = {}
        self._seen: dict[str, deque[tuple[int, NDArray[np.int64]]]] = {}

    def p99(self) -> dict[str, float]:
        """Return the 99th percentile by probe in seconds, over the last seconds; a probe without any is left out."""
        at = now()
        for table in _SPANS:
            for path in self._live.glob(f"*/{table}{SUFFIX}"):
                tail = self._tails.setdefault(path, Tail(path))
                for batch in tail.fresh():
                    self._add(path.parent.name.rpartition("-")[0], at, _took(table, batch))
        for seen in self._seen.values():
            while seen and seen[0][0] < at - WINDOW * 1e9:
                seen.popleft()
        return {
            probe: float(np.percentile(np.concatenate([took for _, took in seen]), 99)) / 1e9
            for probe, seen in self._seen.items()
            if seen
        }

    def _add(self, probe: str, at: int, took: NDArray[np.int64]) -> None:
        if len(took):
            self._seen.setdefault(probe, deque()).append((at, took))


def _took(table: str, batch: Batch) -> NDArray[np.int64]:
    """Return the nanoseconds of each row that has both times; of sends and calls only successful ones."""
    began, ended = (batch.column(name).to_numpy(zero_copy_only=False) for name in _SPANS[table])
    known = ~(np.isnan(began.astype(float)) | np.isnan(ended.astype(float)))
    if table != "reads":
        known &= np.array([outcome == "ok" for outcome in batch.column("outcome").to_pylist()], dtype=bool)
    return np.asarray(ended[known], dtype=np.int64) - np.asarray(began[known], dtype=np.int64)

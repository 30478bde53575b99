"""The events of a run: live streams while it runs, one Parquet file per table once it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from chaosk.core import files
from chaosk.core.errors import EventLogError
from chaosk.core.parallel import parallel_map
from chaosk.rundir.events import TABLES
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.events.live import SUFFIX, LiveReader
from chaosk.rundir.paths import RunDir

_GROUP = 128 * 1024  # rows of a Parquet row group, and rows of a stream held in memory


@dataclass(frozen=True, slots=True)
class StreamState:
    """One live stream as it is on disk now."""

    writer: str
    """Its writer: the name of the stream's folder, like ``writer-0``."""
    table: str
    rows: int
    closed: bool
    """True if its writer closed it; False if the writer was killed or still runs."""
    torn: str | None
    """Where and why reading stops before the end of the file."""


def streams(rundir: RunDir) -> tuple[StreamState, ...]:
    """Return the state of every live stream of the run, by writer and table; reads them all."""
    return tuple(_state(path) for name in SCHEMAS for path in _paths(rundir, name))


class Closed(NamedTuple):
    """Result of converting a run's live streams."""

    torn: tuple[str, ...]
    """Streams with a torn end, and where it is."""
    rows: dict[str, dict[str, int]]
    """Number of rows by writer and table."""


def close(rundir: RunDir) -> Closed:
    """Write ``events/<table>.parquet`` for every table, the empty ones too; return the torn streams and the row counts.

    The rows of a torn stream up to the tear are kept. Idempotent; the live streams remain. Raises EventLogError if the
    disk is full or a stream is not readable at all.
    """
    rundir.events.mkdir(exist_ok=True)
    found = parallel_map(partial(_convert, rundir), SCHEMAS)  # Arrow does the work, and releases the GIL
    rows: dict[str, dict[str, int]] = {}
    for table, (_, counts) in zip(SCHEMAS, found, strict=True):
        for writer, count in counts.items():
            rows.setdefault(writer, {})[table] = count
    return Closed(tuple(stream for torn, _ in found for stream in torn), rows)


def restore(rundir: RunDir) -> None:
    """Write the missing tables from their live streams; raises EventLogError.

    ``stream_ends`` and ``run.json`` tell if the rows are complete.
    """
    for table in SCHEMAS:
        if not _archive(rundir, table).exists():
            _convert(rundir, table)


def length(rundir: RunDir) -> int:
    """Count the rows of all tables of a finished run; an unreadable table counts 0, and fails when it is read."""
    found = 0
    for path in rundir.events.glob("*.parquet"):
        with suppress(pa.ArrowException, OSError):
            found += pq.read_metadata(path).num_rows
    return found


def scan(rundir: RunDir, table: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table in bounded memory: from Parquet once the run is over, else from the live streams.

    Ordered by writer, and within a writer as written. Raises EventLogError if a file cannot be read.
    """
    archived = _archive(rundir, table)
    if not archived.exists():
        yield from _live(rundir, table, [], Counter())
        return
    try:
        with pq.ParquetFile(archived) as file:
            yield from file.iter_batches(batch_size=_GROUP)
    except (pa.ArrowException, OSError) as error:
        raise EventLogError(f"{archived}: cannot read it: {_first_line(error)}") from error


def chunks(rundir: RunDir, table: str) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of about a hundred thousand; a live stream's have a thousand or so."""
    for group in _groups(scan(rundir, table)):
        yield pa.concat_batches(group)  # type: ignore[attr-defined] # stubs lack it


def read(rundir: RunDir, table: str) -> pa.Table:
    """Return all rows of a table at once; for tables that are known to be small."""
    return pa.Table.from_batches(scan(rundir, table), schema=SCHEMAS[table])


def _archive(rundir: RunDir, table: str) -> Path:
    return rundir.events / f"{table}.parquet"


def _paths(rundir: RunDir, table: str) -> list[Path]:
    return sorted(rundir.live.glob(f"*/{table}{SUFFIX}"))


def _state(path: Path) -> StreamState:
    reader = LiveReader(path)
    rows = sum(batch.num_rows for batch in reader)
    return StreamState(path.parent.name, path.name.removesuffix(SUFFIX), rows, reader.closed, reader.torn)


def _live(rundir: RunDir, table: str, torn: list[str], counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table by writer; adds torn streams to ``torn``, and row counts by writer to ``counts``."""
    for path in _paths(rundir, table):
        reader = LiveReader(path)
        counts[path.parent.name] += 0
        try:
            for batch in reader:
                counts[path.parent.name] += batch.num_rows
                yield batch
        except OSError as error:
            raise EventLogError(f"{path}: cannot read it: {_first_line(error)}") from error
        if reader.torn:
            torn.append(reader.torn)


def _convert(rundir: RunDir, table: str) -> tuple[list[str], Counter[str]]:
    target, torn, counts = _archive(rundir, table), list[str](), Counter[str]()
    unfinished = target.with_suffix(".unfinished")
    try:
        with files.fresh(unfinished) as raw, pq.ParquetWriter(raw, SCHEMAS[table], **_encoding(table)) as file:
            for group in _groups(_live(rundir, table, torn, counts)):
                file.write_table(pa.Table.from_batches(group, schema=SCHEMAS[table]).combine_chunks())
        unfinished.replace(target)
    except (pa.ArrowException, OSError) as error:
        unfinished.unlink(missing_ok=True)
        raise EventLogError(f"{target}: cannot write it: {_first_line(error)}; the live events are intact") from error
    return torn, counts


def _encoding(table: str) -> dict[str, Any]:
    """Delta encoding of numbers: times and offsets grow slowly from row to row, and so take a tenth of the space."""
    numbers = [column.name for column in TABLES[table].columns if column.kind in {"time", "long", "int", "short"}]
    words = [column.name for column in TABLES[table].columns if column.kind == "string"]
    return {
        "compression": "zstd",
        "use_dictionary": words,
        "column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
    }


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Group small batches: a stream has one of tens of rows per flush, and a Parquet file needs large groups."""
    group: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        group.append(batch)
        rows += batch.num_rows
        if rows >= _GROUP:
            yield group
            group, rows = [], 0
    if group:
        yield group


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]

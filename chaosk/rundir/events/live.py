"""The live event log: one Arrow IPC stream per table, appended to by one process, readable after any crash.

Rows are buffered in memory and become one record batch, handed to the operating system in a single ``write``. From then
on they survive the process: SIGKILL can lose only rows written since the last flush, so the owner flushes whenever
:meth:`LiveLog.due` is true. They do not survive a crash of the machine (there is no fsync before ``close``), but chaosk
never breaks its own machine. A closed stream ends with Arrow's end-of-stream mark. A closed log has one more stream,
``stream_ends``: the number of rows written of each table. See docs/decisions/self-check.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from time import monotonic, monotonic_ns
from types import TracebackType
from typing import Any, NamedTuple, Self

import pyarrow as pa

from chaosk.core.errors import EventLogError
from chaosk.rundir.events.arrow import SCHEMAS, Values, column_batch, record_batch
from chaosk.rundir.events.arrow_stream import ArrowStream

FLUSH_AFTER = 0.08
"""Seconds in memory after which a row makes the log due; checked every 20 ms, a row waits 0.1 s at most."""

SUFFIX = ".arrows"
_ENDS = "stream_ends"
_OPTIONS = pa.ipc.IpcReadOptions(use_threads=False)  # a batch of few rows costs ten times as much in a pool


class LiveLog:
    """Writes the events of one process into ``folder``, one ``<table>.arrows`` a table; usable from any thread."""

    def __init__(self, folder: Path, run: str | None = None) -> None:
        """Create ``folder``; raises EventLogError if that fails or it already holds events.

        ``run`` is the run's id; without it, no ``stream_ends`` is written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{folder}: cannot make the folder for events: {error.strerror}"
            raise EventLogError(msg) from error
        if any(folder.glob(f"*{SUFFIX}")):
            msg = f"{folder}: contains events already; each process of a run needs its own folder"
            raise EventLogError(msg)
        self._folder = folder
        self._run = run
        self._written: Counter[str] = Counter()
        self._lock = Lock()
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in SCHEMAS}
        self._batches: list[tuple[str, pa.RecordBatch]] = []
        self._streams: dict[str, ArrowStream] = {}
        self._since: float | None = None
        self._failed: EventLogError | None = None

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Append one row, a tuple in the table's column order; kept in memory until the next flush."""
        with self._lock:
            self._rows[table].append(row)
            if self._since is None:
                self._since = monotonic()

    def write_columns(self, table: str, rows: int, columns: Mapping[str, Values]) -> None:
        """Append ``rows`` rows by column; an omitted column is empty, a scalar stands for all rows.

        Quicker than ``write`` for many rows: an ``array`` of the column's width is used without a copy, and must not be
        changed afterwards.
        """
        batch = column_batch(table, rows, columns)
        with self._lock:
            self._batches.append((table, batch))
            if self._since is None:
                self._since = monotonic()

    def due(self) -> bool:
        """Return True if a row has waited so long that the log must be flushed now."""
        return self._since is not None and monotonic() - self._since >= FLUSH_AFTER

    def flush(self) -> None:
        """Hand all rows to the operating system; raises EventLogError if it does not accept them (disk full).

        A log that failed once has lost rows: every later flush or close fails too.
        """
        with self._lock:
            if self._failed:
                raise self._failed
            try:
                for table, batch in self._waiting():
                    self._append(table, batch)
            except EventLogError as error:
                self._failed = error
                raise

    def _waiting(self) -> list[tuple[str, pa.RecordBatch]]:
        """Join the waiting rows into one batch per table: many small ones take far longer to write and to read.

        Small batches take twenty times as long to read. Batches are in the order of the tables: tallies and the end
        marker follow the rows that they count.
        """
        waiting: dict[str, list[pa.RecordBatch]] = {}
        for table, batch in self._batches:
            waiting.setdefault(table, []).append(batch)
        for table, rows in self._rows.items():
            if rows:
                self._rows[table] = []
                waiting.setdefault(table, []).append(record_batch(table, rows))
        self._batches, self._since = [], None
        return [(table, pa.concat_batches(waiting[table])) for table in SCHEMAS if table in waiting]  # type: ignore[attr-defined] # stubs lack it

    def close(self, *, whole: bool = True) -> None:
        """Flush, mark the end of every stream and sync to disk; a log that failed gets no end marks.

        With ``whole=False``, when the owner broke off, no row counts are written.
        """
        try:
            self.flush()
            if whole:
                self._tell_rows()
        finally:
            with self._lock:
                while self._streams:
                    self._streams.popitem()[1].close(whole=self._failed is None)

    def _tell_rows(self) -> None:
        """Write the number of rows of each table, once."""
        with self._lock:
            run, self._run = self._run, None
            if run is None:
                return
            counts = {**self._written, _ENDS: len(self._written) + 1}
            rows = [(self._folder.name, table, count, run, monotonic_ns()) for table, count in sorted(counts.items())]
            self._append(_ENDS, record_batch(_ENDS, rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close(whole=error is None)

    def _append(self, table: str, batch: pa.RecordBatch) -> None:
        self._stream(table).append(batch)
        self._written[table] += batch.num_rows

    def _stream(self, table: str) -> ArrowStream:
        if table not in self._streams:
            self._streams[table] = ArrowStream(self._folder / f"{table}{SUFFIX}", SCHEMAS[table])
        return self._streams[table]


class LiveTable(NamedTuple):
    """The readable part of a stream."""

    table: pa.Table
    closed: bool
    """True if its writer closed it; False if the writer was killed or still runs."""
    torn: str | None
    """Where and why reading stopped before the end of the file; None if every byte was read."""


class LiveReader:
    """Iterates over a stream's complete record batches in bounded memory, and then sets ``closed`` and ``torn``."""

    def __init__(self, path: Path) -> None:
        """Open a stream that may still be written to; its file is named after the table. Reads what is there now."""
        self.path = path
        self.schema = SCHEMAS[path.name.removesuffix(SUFFIX)]
        self._name = f"{path.parent.name}/{path.name}"
        self.closed = False
        self.torn: str | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self.path.stat().st_size == 0:
            return
        # not a memory map: a writer that is out of disk space truncates its file under the reader
        with pa.OSFile(str(self.path), "rb") as source:
            yield from self._batches(source)

    def _batches(self, source: pa.NativeFile) -> Iterator[pa.RecordBatch]:
        good = 0
        try:
            reader = pa.ipc.open_stream(source, options=_OPTIONS)
            if not reader.schema.equals(self.schema):
                self.torn = f"{self._name}: written with another schema than this version of chaosk has"
                return
            while True:
                good = source.tell()
                batch = reader.read_next_batch()
                batch.validate(full=True)  # Arrow trusts the lengths of texts, which may be damaged
                yield batch
        except StopIteration:
            self._ended(source, good)
        except (pa.ArrowException, OSError) as error:
            self.torn = f"{self._name}: torn at byte {good} of {source.size()}: {str(error).splitlines()[0]}"

    def _ended(self, source: pa.NativeFile, good: int) -> None:
        rest = source.size() - source.tell()
        self.closed = source.tell() > good
        if rest:
            self.torn = f"{self._name}: {rest} bytes follow its end mark at byte {source.tell()}"


def read_live(path: Path) -> LiveTable:
    """Read everything readable of the stream at ``path``; a torn tail is left out and reported in ``torn``."""
    reader = LiveReader(path)
    batches = list(reader)
    return LiveTable(pa.Table.from_batches(batches, schema=reader.schema), reader.closed, reader.torn)

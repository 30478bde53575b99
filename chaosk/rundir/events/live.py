"""The live event log: one Arrow IPC stream per table, appended to by one process, readable after any crash.

Rows wait in memory and become one record batch, handed to the operating system in a single ``write``. From then on
they outlive the process: what SIGKILL can cost is what was written since the last flush, so the owner flushes
whenever :meth:`LiveLog.due` says so. They do not outlive the machine (there is no fsync before ``close``): chaosk's
own machine is not one that it breaks. A stream that was closed ends with Arrow's end-of-stream mark, and a log that
was closed has a stream more: ``stream_ends``, how many rows of each table it wrote. See docs/decisions/self-check.md.
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
from chaosk.rundir.events.stream import ArrowStream

FLUSH_AFTER = 0.08
"""Seconds after which a row that waits in memory makes the log due; with a look every 20 ms it waits 0.1 s at most."""

SUFFIX = ".arrows"
_ENDS = "stream_ends"
_OPTIONS = pa.ipc.IpcReadOptions(use_threads=False)  # a batch of few rows costs ten times as much in a pool


class LiveLog:
    """Writes the events of one process into ``folder``, one ``<table>.arrows`` a table; usable from any thread."""

    def __init__(self, folder: Path, run: str | None = None) -> None:
        """Makes ``folder``; raises EventLogError if it cannot be, or if it already holds events.

        ``run``: the id of the run that it is for; without one it leaves no ``stream_ends``.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{folder}: cannot make the folder for events: {error.strerror}"
            raise EventLogError(msg) from error
        if any(folder.glob(f"*{SUFFIX}")):
            msg = f"{folder}: holds events already; each process of a run writes into a folder of its own"
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
        """Append ``rows`` rows at once, by column; a column that is not named is empty, a scalar stands for all rows.

        Quicker than ``write`` for many rows: an ``array`` of the column's width is taken over as it is and must not
        be changed afterwards.
        """
        batch = column_batch(table, rows, columns)
        with self._lock:
            self._batches.append((table, batch))
            if self._since is None:
                self._since = monotonic()

    def due(self) -> bool:
        """Whether a row has waited so long that the log must be flushed now."""
        return self._since is not None and monotonic() - self._since >= FLUSH_AFTER

    def flush(self) -> None:
        """Hand all rows to the operating system; raises EventLogError if it does not take them (disk full).

        A log that failed once has lost rows: it stays failed, whoever flushes or closes it next.
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
        """One batch per table: many small ones take longer to write, and twenty times as long to read, than to join.

        In the order of the tables: a tally, and at last the end marker, come after the rows that they stand for.
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
        """Flush, mark the end of every stream and sync to disk; a log that failed is left without the marks.

        Unless it is ``whole``, because its owner broke off, nothing says how many rows there should be.
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
        """Write how many rows of each table there are, once."""
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
    """What could be read of a stream."""

    table: pa.Table
    closed: bool
    """Whether its writer closed it; false for a process that was killed, or that still runs."""
    torn: str | None
    """Where and why reading stopped before the end of the file; None if every byte was read."""


class LiveReader:
    """Iterates over the complete record batches of a stream in bounded memory; then knows how it ended."""

    def __init__(self, path: Path) -> None:
        """``path`` is named after its table; it may still be written to: what is there now is read."""
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
                batch.validate(full=True)  # Arrow believes the lengths of texts, which damage can turn into anything
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
    """Everything that can be read of the stream at ``path``; a torn tail is left out and told of."""
    reader = LiveReader(path)
    batches = list(reader)
    return LiveTable(pa.Table.from_batches(batches, schema=reader.schema), reader.closed, reader.torn)

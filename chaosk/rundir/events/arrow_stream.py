"""A growing file of record batches: Arrow's IPC stream format, one ``write`` a batch."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from chaosk.core.errors import EventLogError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_OPTIONS = pa.ipc.IpcWriteOptions(
    compression="lz4",  # repeated names and near-equal times shrink to a third
    use_threads=False,  # on a busy machine a thread pool waits for a processor, and blocks the probe
)


class ArrowStream:
    """One file: Arrow encodes into memory, and each batch goes to the file in one write or not at all."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Create the file; raises EventLogError if that fails or it already exists."""
        self._path = path
        self._encoded = _Chunks()
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._failed(error) from error
        self._end = 0
        self._writer = pa.ipc.new_stream(self._encoded, schema, options=_OPTIONS)

    def append(self, batch: pa.RecordBatch) -> None:
        """Append a batch; raises EventLogError, with the file unchanged, if the disk does not accept it."""
        self._writer.write_batch(batch)
        self._save()

    def close(self, *, whole: bool) -> None:
        """Close the file; a ``whole`` one first gets its end mark and is synced to disk."""
        try:
            if whole:
                self._writer.close()
                self._save()
                os.fsync(self._file)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(self._file)

    def _save(self) -> None:
        data = self._encoded.take()
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self._end + written)
        except OSError as error:
            os.ftruncate(self._file, self._end)  # earlier batches stay readable
            raise self._failed(error) from error
        self._end += len(data)

    def _failed(self, error: OSError) -> EventLogError:
        msg = f"{self._path}: cannot write events: {error.strerror}; the run's events are cut short from here on"
        return EventLogError(msg)


class _Chunks(io.RawIOBase):
    """A sink for Arrow's output, emptied after each batch."""

    def __init__(self) -> None:
        super().__init__()
        self._data = bytearray()
        self._taken = 0

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data)
        self._data += view
        return view.nbytes

    def tell(self) -> int:
        return self._taken + len(self._data)

    def take(self) -> memoryview:
        data, self._data = self._data, bytearray()
        self._taken += len(data)
        return memoryview(data)

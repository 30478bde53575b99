"""Event tables, read in bounded memory: batch by batch, only the requested columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from chaosk.core.errors import ChaoskError
from chaosk.report.axis import Longs
from chaosk.rundir.events import TABLES, Kind
from chaosk.rundir.paths import RunDir

NONE = -1
"""Stands for an empty number: times, offsets and partitions are never negative."""
BATCH = 1 << 18


class UnreadableTable(ChaoskError):  # noqa: N818 - describes the table
    """An event table exists but cannot be read; the report notes it and goes on."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Some rows of a table, by column as numpy arrays."""

    batch: pa.RecordBatch

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def ints(self, name: str) -> Longs:
        """Return a column of numbers; ``NONE`` for empty cells."""
        return _numbers(self.batch.column(name))

    def names(self, name: str) -> tuple[list[str], Longs]:
        """Return the distinct texts of a column, and the index of each row's text (``NONE`` for empty)."""
        column = self.batch.column(name)
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        return [str(text) for text in column.dictionary.to_pylist()], _numbers(column.indices)

    def equal(self, name: str, text: str) -> NDArray[np.bool_]:
        """Select the rows with a text."""
        texts, codes = self.names(name)
        wanted = [number for number, known in enumerate(texts) if known == text]
        return np.isin(codes, np.array(wanted, dtype=np.int64))

    def masks(self, name: str) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield each distinct text of a column with a mask of its rows; "" for empty cells."""
        texts, codes = self.names(name)
        for code in np.unique(codes):
            yield ("" if code == NONE else texts[code]), codes == code

    def where(self, mask: NDArray[np.bool_]) -> Frame:
        """Return the rows of a mask."""
        return Frame(self.batch.filter(pa.array(mask)))


def _numbers(column: pa.Array[Any]) -> Longs:
    whole = column.cast(pa.int64()).fill_null(NONE)
    return np.asarray(whole.to_numpy(zero_copy_only=False), dtype=np.int64)


def frames(run: RunDir, table: str, *columns: str) -> Iterator[Frame]:
    """Yield the rows of a table in batches; empty if the run has no such table. Raises UnreadableTable."""
    path = run.events / f"{table}.parquet"
    if path.is_symlink():
        raise UnreadableTable(f"events/{table}.parquet cannot be read: it is a symbolic link, which is not followed")
    if not path.is_file():
        return
    texts = [column.name for column in TABLES[table].columns if column.kind == "string" and column.name in columns]
    try:
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            _require(file.schema_arrow, table, columns)
            for batch in file.iter_batches(batch_size=BATCH, columns=list(columns)):
                yield Frame(batch)
    except (pa.ArrowException, OSError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableTable(f"events/{table}.parquet cannot be read: {why}") from error


def _require(schema: pa.Schema, table: str, columns: tuple[str, ...]) -> None:
    """Raise UnreadableTable unless the file has the columns, with their types."""
    kinds = {column.name: column.kind for column in TABLES[table].columns}
    for name in columns:
        if name not in schema.names or not _FITS[kinds[name]](schema.field(name).type):
            msg = f"events/{table}.parquet cannot be read: its column {name!r} is missing or of another kind"
            raise UnreadableTable(msg)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


_FITS: dict[Kind, Callable[[pa.DataType], bool]] = {
    "time": pa.types.is_integer,
    "long": pa.types.is_integer,
    "int": pa.types.is_integer,
    "short": pa.types.is_integer,
    "double": pa.types.is_floating,
    "bool": pa.types.is_boolean,
    "string": _is_text,
    "ints": pa.types.is_list,
}

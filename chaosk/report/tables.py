"""Event tables, read in bounded memory: batch by batch, only the columns that are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from chaosk.errors import ChaoskError
from chaosk.events import TABLES
from chaosk.report.axis import Longs
from chaosk.rundir import RunDir

NONE = -1
"""Stands for an empty number: times, offsets and partitions are never negative."""
BATCH = 1 << 18


class UnreadableTable(ChaoskError):  # noqa: N818 - says what it is
    """An event table is there and cannot be read; the report says so and goes on without it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Some rows of a table, column by column as numpy arrays."""

    batch: pa.RecordBatch

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def ints(self, name: str) -> Longs:
        """A column of numbers; an empty one is ``NONE``."""
        return _numbers(self.batch.column(name))

    def flags(self, name: str) -> NDArray[np.bool_]:
        """A column of yes and no."""
        return np.asarray(self.batch.column(name).to_numpy(zero_copy_only=False), dtype=np.bool_)

    def names(self, name: str) -> tuple[list[str], Longs]:
        """The different texts of a column, and for each row which one it is (``NONE`` for empty)."""
        column = self.batch.column(name)
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        return [str(text) for text in column.dictionary.to_pylist()], _numbers(column.indices)

    def masks(self, name: str) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Each different text of a column with the rows that hold it; empty ones as an empty text."""
        texts, codes = self.names(name)
        for code in np.unique(codes):
            yield ("" if code == NONE else texts[code]), codes == code

    def where(self, mask: NDArray[np.bool_]) -> Frame:
        """The rows of a mask."""
        return Frame(self.batch.filter(pa.array(mask)))


def _numbers(column: pa.Array[Any]) -> Longs:
    whole = column.cast(pa.int64()).fill_null(NONE)
    return np.asarray(whole.to_numpy(zero_copy_only=False), dtype=np.int64)


def frames(run: RunDir, table: str, *columns: str) -> Iterator[Frame]:
    """The rows of a table in batches; none where the run has no such table. Raises UnreadableTable."""
    path = run.events / f"{table}.parquet"
    if not path.is_file():
        return
    texts = [column.name for column in TABLES[table].columns if column.kind == "string" and column.name in columns]
    try:
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=list(columns)):
                yield Frame(batch)
    except (pa.ArrowException, OSError, KeyError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableTable(f"events/{table}.parquet cannot be read: {why}") from error

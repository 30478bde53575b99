"""Arrow schemas of the event tables, and record batches of rows or columns that are checked against them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from chaosk.core.errors import EventLogError
from chaosk.rundir.events import TABLES, Kind, Table

Values: TypeAlias = "array[int] | NDArray[Any] | list[Any] | str | int | float | bool | None"
"""One column: an array, a list, or a scalar for all rows."""

_TYPES: dict[Kind, pa.DataType] = {
    "time": pa.int64(),
    "long": pa.int64(),
    "int": pa.int32(),
    "short": pa.int16(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "ints": pa.list_(pa.field("element", pa.int32(), nullable=False)),
    "double": pa.float64(),
}
_WIDTHS = {"q": pa.int64(), "i": pa.int32()}


def arrow_schema(table: Table) -> pa.Schema:
    """Return the Arrow schema of an event table: its columns in order, not nullable unless optional."""
    return pa.schema([pa.field(c.name, _TYPES[c.kind], nullable=c.optional) for c in table.columns])


SCHEMAS: dict[str, pa.Schema] = {name: arrow_schema(table) for name, table in TABLES.items()}
"""By table name."""


def record_batch(table: str, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Return rows, in the table's column order, as one record batch; raises EventLogError if they do not fit."""
    schema = SCHEMAS[table]
    try:
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        msg = f"{table}: a row does not fit the table's columns ({', '.join(schema.names)}): {error}"
        raise EventLogError(msg) from error
    return _checked(table, arrays)


def column_batch(table: str, rows: int, columns: Mapping[str, Values]) -> pa.RecordBatch:
    """Return columns by name as one record batch; raises EventLogError if they do not fit the table's schema."""
    schema = SCHEMAS[table]
    if unknown := set(columns) - set(schema.names):
        msg = f"{table}: has no column {', '.join(sorted(unknown))}; it has {', '.join(schema.names)}"
        raise EventLogError(msg)
    try:
        arrays = [_column(columns.get(field.name), rows, field.type) for field in schema]
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        msg = f"{table}: columns do not fit the table: {error}"
        raise EventLogError(msg) from error
    return _checked(table, arrays)


def warm_up() -> None:
    """Load the parts of Arrow that its first conversion would load: half a second on a busy machine."""
    column_batch("clocks", 1, {"monotonic": np.arange(1), "wall": [0]})


def _column(values: Values, rows: int, kind: pa.DataType) -> Any:  # noqa: ANN401 - Arrow's stubs type each kind apart
    column: Any
    if isinstance(values, array) and kind == _WIDTHS.get(values.typecode):
        column = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
    elif isinstance(values, np.ndarray):
        column = pa.array(values, kind)
    elif isinstance(values, array | list):
        column = pa.array(list(values), kind)
    else:
        scalar: Any = pa.scalar(values, kind)
        column = pa.repeat(scalar, rows)
    if len(column) != rows:
        msg = f"a column has {len(column)} values for {rows} rows"
        raise ValueError(msg)
    return column


def _checked(table: str, columns: Sequence[Any]) -> pa.RecordBatch:
    for field, column in zip(SCHEMAS[table], columns, strict=True):
        if column.null_count and not field.nullable:
            msg = f"{table}.{field.name}: a row has no value for it, and it is not optional"
            raise EventLogError(msg)
    return pa.RecordBatch.from_arrays(list(columns), schema=SCHEMAS[table])

"""Event tables in Arrow: schemas from the table definitions, and batches that are held to them."""

from __future__ import annotations

from array import array
from typing import Any

import pyarrow as pa
import pytest

from chaosk.core.errors import EventLogError
from chaosk.rundir.events import TABLES, Kind
from chaosk.rundir.events.arrow import SCHEMAS, column_batch, record_batch

SAMPLES: dict[Kind, Any] = {
    "time": 2**62, "long": -(2**62), "int": -(2**31), "short": 7, "bool": True, "string": "ä", "ints": [0, 1, 2],
    "double": 0.5,
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_schema_of_its_columns(name: str) -> None:
    """Names and order are those of the definition; what is not optional is not nullable."""
    schema = SCHEMAS[name]
    assert schema.names == [column.name for column in TABLES[name].columns]
    assert [field.nullable for field in schema] == [column.optional for column in TABLES[name].columns]


@pytest.mark.parametrize("name", TABLES)
def test_a_full_row_of_every_table_comes_back(name: str) -> None:
    """Each kind of column takes its values unchanged."""
    row = tuple(SAMPLES[column.kind] for column in TABLES[name].columns)
    assert [tuple(each.values()) for each in record_batch(name, [row]).to_pylist()] == [row]


@pytest.mark.parametrize("name", TABLES)
def test_optional_columns_may_be_empty_and_no_others(name: str) -> None:
    """A row with every optional column empty is taken; one with a needed column empty is refused by its name."""
    columns = TABLES[name].columns
    row = tuple(None if column.optional else SAMPLES[column.kind] for column in columns)
    assert record_batch(name, [row]).num_rows == 1
    for place, column in enumerate(columns):
        if not column.optional:
            broken = (*row[:place], None, *row[place + 1 :])
            with pytest.raises(EventLogError, match=rf"{name}\.{column.name}: a row has no value"):
                record_batch(name, [broken])


def test_no_rows_make_an_empty_batch() -> None:
    """The empty case has the schema as well."""
    batch = record_batch("sends", [])
    assert batch.num_rows == 0
    assert batch.schema.equals(SCHEMAS["sends"])


@pytest.mark.parametrize("row", [(1,), (1, 2, 3), ("one", 2), (2**63, 1), (None, 1)])
def test_a_row_that_does_not_fit_names_its_table(row: tuple[Any, ...]) -> None:
    """Too short, too long, of another type, too large or empty: one clear error."""
    with pytest.raises(EventLogError, match="clocks"):
        record_batch("clocks", [row])


def test_rows_of_different_lengths_are_refused() -> None:
    """One short row among good ones does not shift the others."""
    with pytest.raises(EventLogError, match="clocks: a row does not fit"):
        record_batch("clocks", [(1, 2), (3,)])


def test_columns_and_rows_give_the_same_batch() -> None:
    """Arrays, lists, scalars and columns left out stand for what rows would say."""
    rows = [("writer", 0, n, "orders", 1, n, n, n, "ok", None, 5 + n, None, None, None) for n in range(3)]
    columns: dict[str, Any] = {
        "probe": "writer", "incarnation": 0, "seq": array("q", range(3)), "topic": "orders",
        "partition": array("i", [1, 1, 1]), "scheduled": array("q", range(3)), "invoked": [0, 1, 2],
        "completed": array("q", range(3)), "outcome": "ok", "offset": [5, 6, 7],
    }  # fmt: skip
    assert column_batch("sends", 3, columns).equals(record_batch("sends", rows))


def test_an_array_of_another_width_is_converted() -> None:
    """A 64-bit array for a 32-bit column is copied value by value, not reinterpreted."""
    batch = column_batch("host_clocks", 2, {"host": "a", "at": array("i", [1, 2]), "offset": 0, "error": 0})
    assert batch.column("at").to_pylist() == [1, 2]


def test_an_array_is_taken_over_without_copying() -> None:
    """Zero copy is why arrays are quick: the batch sees the array's own memory."""
    values = array("q", [1, 2, 3])
    batch = column_batch("clocks", 3, {"monotonic": values, "wall": values})
    buffer = batch.column("monotonic").buffers()[1]
    assert buffer is not None
    assert buffer.address == values.buffer_info()[0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"monotonic": [1], "wall": 1}, "1 values for 2 rows"),
        ({"monotonic": 1, "wal": 1}, "no column wal"),
        ({"monotonic": 1}, "clocks.wall: a row has no value"),
        ({"monotonic": "x", "wall": 1}, "columns do not fit"),
        ({"monotonic": [None, 1], "wall": 1}, "clocks.monotonic: a row has no value"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, Any], message: str) -> None:
    """Wrong lengths, unknown names, missing needed columns and wrong types each have their message."""
    with pytest.raises(EventLogError, match=message):
        column_batch("clocks", 2, columns)


def test_lists_of_broker_ids_are_lists_of_32_bit_numbers() -> None:
    """The ISR column is what Spark reads as array<int>, its elements never null."""
    kind = SCHEMAS["partitions"].field("isr").type
    assert pa.types.is_list(kind)
    assert kind.value_type == pa.int32()
    assert not kind.value_field.nullable

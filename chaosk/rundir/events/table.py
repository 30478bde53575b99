"""Definition of an event table: named columns with a kind and a meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["time", "long", "int", "short", "bool", "string", "ints", "double"]
"""Type of a column: ``time`` is nanoseconds of the run's monotonic clock, ``ints`` a list of ``int``."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``optional`` means that it may be empty."""

    name: str
    kind: Kind
    meaning: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One event table, with its columns in the order in which they are written."""

    name: str
    meaning: str
    columns: tuple[Column, ...]


def table(name: str, meaning: str, *columns: tuple[str, Kind, str] | tuple[str, Kind, str, bool]) -> Table:
    """Build a table from tuples of column name, kind and meaning, and True if the column may be empty."""
    return Table(name, meaning, tuple(Column(*column) for column in columns))


WHO: tuple[tuple[str, Kind, str], ...] = (
    ("probe", "string", "the probe's name in the scenario"),
    ("incarnation", "int", "which process of that probe, from 0"),
)
"""Columns of the probe's process that acted."""

PLACE: tuple[tuple[str, Kind, str], ...] = (("topic", "string", "topic"), ("partition", "int", "partition"))
"""Columns of the partition."""

VALUE: tuple[tuple[str, Kind, str, bool], ...] = (
    ("producer", "string", "the probe that wrote the record, from its payload; empty if the payload is not ours", True),
    ("producer_incarnation", "int", "its incarnation", True),
    ("seq", "long", "its sequence number in that incarnation, from 0", True),
    ("intact", "bool", "whether the payload's checksum and run id are right", False),
)
"""Columns that identify a record, from its payload."""

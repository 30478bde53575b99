"""What an event table is: named columns with a kind and a meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["long", "int", "short", "bool", "string", "ints", "double"]
"""What a column holds; ``ints`` is a list of ``int``."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, kind, meaning, and whether it may be empty."""

    name: str
    kind: Kind
    meaning: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One event table, in the order its columns are written."""

    name: str
    meaning: str
    columns: tuple[Column, ...]


def table(name: str, meaning: str, *columns: tuple[str, Kind, str] | tuple[str, Kind, str, bool]) -> Table:
    """A table from tuples of column name, kind and meaning, and true where the column may be empty."""
    return Table(name, meaning, tuple(Column(*column) for column in columns))


WHO: tuple[tuple[str, Kind, str], ...] = (
    ("probe", "string", "the probe's name in the scenario"),
    ("incarnation", "int", "which process of that probe, from 0"),
)
"""Columns that say which process of which probe acted."""

PLACE: tuple[tuple[str, Kind, str], ...] = (("topic", "string", "topic"), ("partition", "int", "partition"))
"""Columns that say where in the log."""

VALUE: tuple[tuple[str, Kind, str, bool], ...] = (
    ("producer", "string", "the probe that wrote the record, from its payload; empty if the payload is not ours", True),
    ("producer_incarnation", "int", "its incarnation", True),
    ("seq", "long", "its sequence number in that incarnation, from 0", True),
    ("intact", "bool", "whether the payload's checksum and run id are right", False),
)
"""Columns that say which record it is, from its payload."""

"""The event tables: the one schema that run and analysis share."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from chaosk.rundir.events import TABLES, Kind, Table

ALL = pytest.mark.parametrize("table", list(TABLES.values()), ids=list(TABLES))


@ALL
def test_names_are_safe_in_files_and_queries(table: Table) -> None:
    """A table's name is a file name and a column's name needs no quoting in SQL."""
    for name in (table.name, *(column.name for column in table.columns)):
        assert re.fullmatch(r"[a-z][a-z_]*", name)


@ALL
def test_columns_are_unique_described_and_of_a_known_kind(table: Table) -> None:
    """What a column means is said once, where it is defined."""
    names = [column.name for column in table.columns]
    assert len(names) == len(set(names))
    assert table.meaning
    for column in table.columns:
        assert column.meaning
        assert column.kind in get_args(Kind)


@ALL
def test_every_table_has_a_time_or_is_an_audit(table: Table) -> None:
    """An event happened at some moment; what a reader, or a broker's own file, told afterwards did not."""
    times = {"at", "invoked", "began", "monotonic", "started", "begun", "made"}
    told = {"audit", "audit_ranges", "groups", "markers", "stretches", "dumps", "copies"}
    assert times & {column.name for column in table.columns} or table.name in told


def test_a_record_is_named_alike_in_all_tables() -> None:
    """Sends, reads and the audit join on producer, incarnation and sequence number: their kinds must agree."""
    kinds = {
        name: {column.name: column.kind for column in TABLES[name].columns} for name in ("sends", "reads", "audit")
    }
    for name in ("reads", "audit"):
        assert kinds[name]["producer"] == kinds["sends"]["probe"]
        assert kinds[name]["producer_incarnation"] == kinds["sends"]["incarnation"]
        assert kinds[name]["seq"] == kinds["sends"]["seq"]
        assert kinds[name]["offset"] == kinds["sends"]["offset"]


def test_there_is_a_table_for_every_letter_of_the_definitions() -> None:
    """S, R, P, K, A, C, F, X, M, FT and TL: the checks cite them."""
    letters = {found for table in TABLES.values() for found in re.findall(r"^\[([A-Z]+)\]", table.meaning)}
    assert letters == {"S", "R", "P", "K", "A", "C", "F", "X", "M", "FT", "TL"}


@pytest.mark.parametrize("name", ["sends", "commits"])
def test_an_outcome_may_be_unknown_but_is_never_empty(name: str) -> None:
    """ok, fail or info: never a guess, never nothing; when it came may be unknown."""
    columns = {column.name: column for column in TABLES[name].columns}
    assert not columns["outcome"].optional
    assert columns["completed"].optional

"""Twists of single rows, by the kinds of their columns: what every table allows."""

from __future__ import annotations

from random import Random
from typing import Any

from analysis.history import VALUE, History, Row
from twisted.twist import SAW, SECOND, next_n, renumbered, twist

from chaosk.rundir.events import TABLES, Column

LEFT = frozenset(
    {
        "incarnations", "ends", "phases", "clocks", "faults", "decisions", "host_clocks", "tallies", "heartbeats",
        "stream_ends", "remakings",
    }
)  # fmt: skip
"""Tables of what a run has once, and of who was there: what is left as it is, or has twists of its own."""
OFTEN = {
    "sends": 5, "reads": 5, "audit": 5, "commits": 4, "assignments": 4, "transactions": 5, "fetched": 3, "outputs": 3,
    "seeks": 3, "groups": 2, "txn_offsets": 2, "offsets": 2, "markers": 2, "stretches": 2,
}  # fmt: skip
"""How often a table is drawn, if not once."""
IDENTITY = {"sends": {"seq"}, "outputs": {"seq"}, "reads": {"n"}, "failures": {"n"}, "transactions": {"txn"}}
"""By table, columns that its writer counts: no two rows have the same."""
WHO = ("probe", "incarnation", "group")
"""Columns of one process: its group is what the scenario says."""
PAYLOAD = (*VALUE, "intact")
NEAR = (-20, -3, -2, -1, 1, 2, 3, 10)
WORDS = {
    "sends.outcome": ("ok", "fail", "info"), "commits.outcome": ("ok", "fail", "info"),
    "transactions.outcome": ("committed", "aborted", "info"), "isolation": ("read_committed", "read_uncommitted"),
    "assignments.kind": ("assign", "revoke", "lost"), "commits.kind": ("sync", "async", "auto", "topic"),
    "seeks.kind": ("seek", "reset"), "markers.kind": ("commit", "abort"), "error": ("_MSG_TIMED_OUT", "_FENCED"),
}  # fmt: skip
"""By table and column, or by column: its words. The meaning of each column in the event tables names them."""


@twist
def dropped(history: History, draw: Random) -> None:
    """One row is missing, or a few."""
    rows = history.rows[_table(history, draw)]
    for row in draw.sample(rows, min(len(rows), draw.choice([1, 1, 1, 3, 8]))):
        rows.remove(row)


@twist
def repeated(history: History, draw: Random) -> None:
    """A row is there twice, the second one with another value in one column."""
    table = _table(history, draw)
    row = dict(draw.choice(history.rows[table]))
    history.rows[table].append(row)
    if table == "reads":
        row["n"] = next_n(history, row["probe"], row["incarnation"])
    elif table in IDENTITY:
        (name,) = IDENTITY[table]
        numbers = [each[name] for each in history.rows[table]]
        row[name] = f"{row[name]}b" if isinstance(row[name], str) else max(numbers) + 1
    _change(history, table, row, draw)


@twist
def changed(history: History, draw: Random) -> None:
    """A row has another value in one column."""
    table = _table(history, draw)
    _change(history, table, draw.choice(history.rows[table]), draw)


@twist
def many_changed(history: History, draw: Random) -> None:
    """Each row of a table behind some other one has another value in one column, the same in all."""
    table = _table(history, draw)
    rows = history.rows[table]
    column, since = _column(table, draw), draw.randrange(len(rows))
    value = _other(history, table, column, rows[since], draw)
    for row in rows[since : since + draw.choice([2, 5, 100])]:
        _put(table, row, column, value)


@twist
def exchanged_values(history: History, draw: Random) -> None:
    """Two rows of a table have exchanged what is in a column."""
    table = _table(history, draw)
    one, other = draw.choice(history.rows[table]), draw.choice(history.rows[table])
    column = _column(table, draw)
    mine, theirs = _unit(table, column, one), _unit(table, column, other)
    one.update(theirs)
    other.update(mine)


@twist
def shuffled(history: History, draw: Random) -> None:
    """Rows are in no order; what orders them are their times and numbers."""
    for table in TABLES:
        if table not in LEFT:
            draw.shuffle(history.rows[table])


@twist
def shifted(history: History, draw: Random) -> None:
    """All times of a row are earlier or later; deliveries keep or lose their order."""
    table = _table(history, draw)
    row, by = draw.choice(history.rows[table]), round(draw.choice([0.001, 0.02, 1, 6]) * draw.uniform(-1, 1) * SECOND)
    for column in TABLES[table].columns:
        if column.kind == "time" and row[column.name] is not None:
            row[column.name] += by
    if draw.random() < 0.5:
        renumbered(history)


def _table(history: History, draw: Random) -> str:
    tables = [table for table in TABLES if table not in LEFT and history.rows[table]]
    return draw.choices(tables, [OFTEN.get(table, 1) for table in tables])[0]


def _column(table: str, draw: Random) -> Column:
    own = IDENTITY.get(table, set()) | ({*WHO} if table in ("sends", "outputs", "transactions") else set())
    return draw.choice([column for column in TABLES[table].columns if column.name not in own])


def _change(history: History, table: str, row: Row, draw: Random) -> None:
    column = _column(table, draw)
    _put(table, row, column, _other(history, table, column, row, draw))


def _unit(table: str, column: Column, row: Row) -> Row:
    """What a row says in a column; the process that acted is one, and so is the value that a payload names."""
    if table in SAW and column.name in PAYLOAD:
        return {name: row[name] for name in PAYLOAD}
    names = WHO if column.name in WHO and "probe" in row else (column.name,)
    return {name: row[name] for name in names if name in row}


def _other(history: History, table: str, column: Column, row: Row, draw: Random) -> Row:
    """Other content for a column, of its kind: none, that of another row, a near number, another word."""
    rows = history.rows[table]
    if column.name in PAYLOAD and table in SAW:
        nobody: Row = {**dict.fromkeys(VALUE), "intact": False}
        unsent: Row = {"producer": "writer", "producer_incarnation": 0, "seq": draw.choice([999, 2**50])}
        return draw.choice([nobody, unsent | {"intact": True}, _unit(table, column, draw.choice(rows))])
    if column.name in WHO and "probe" in row:
        process = _unit(table, column, draw.choice(rows))
        return process | ({"incarnation": row["incarnation"] + 1} if draw.random() < 0.2 else {})
    if column.optional and draw.random() < 0.4:
        return {column.name: None}
    if words := WORDS.get(f"{table}.{column.name}", WORDS.get(column.name, ())):
        return {column.name: draw.choice(words)}
    near = None if row[column.name] is None else _near(column, row[column.name], draw)
    return {column.name: draw.choice(rows)[column.name] if near is None or draw.random() < 0.4 else near}


def _near(column: Column, value: Any, draw: Random) -> Any:
    """Something near a value, by the column's kind; None if there is no such thing."""
    if column.kind == "bool":
        return not value
    if column.kind == "ints":
        return draw.choice([value[1:], value[::-1], value[:1]])
    if column.kind == "time":
        return value + round(draw.uniform(-3, 3) * SECOND)
    return max(0, value + draw.choice(NEAR)) if column.kind in ("long", "int", "short") else None


def _put(table: str, row: Row, column: Column, content: Row) -> None:
    """Change a row; what has not come to an end has no known outcome."""
    row.update(content)
    if row.get("completed", 0) is None and "outcome" in row:
        row["outcome"] = "info"
    if table == "transactions" and row["ended"] is None:
        row["outcome"] = "info"

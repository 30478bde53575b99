"""Many histories in one run directory: Spark answers for twenty of them as quickly as for one.

Each has topics, probes, groups and transactions of its own, whose names end with its number. What they share is what a
run has once: phases, clocks, faults and the timeline. Only histories that have the same of those can stand side by
side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from analysis.history import History, Row

ONCE = ("phases", "clocks", "faults", "host_clocks", "decisions", "brokers", "zookeepers", "quorum", "heartbeats",
        "stream_ends")  # fmt: skip
"""Tables that a run has once."""
NAMES = ("topic", "probe", "group", "producer", "txn", "transactional_id")
"""Columns with names that are a history's own."""
_MARK = re.compile(r"@(\d+)\b")


def alike(history: History) -> str:
    """What has to be the same in histories side by side."""
    record = {name: value for name, value in history.record.items() if name != "probes"}
    shared = {table: history.rows[table] for table in ONCE}
    told = [history.entry, history.beside, history.expect]
    alone = id(history) if _named(told, _names(history)) or history.rows["remakings"] else None
    return json.dumps([shared, record, told, history.counts_itself, alone], sort_keys=True)


def queried(history: History) -> tuple[bool, bool, bool]:
    """Return what makes queries longer, for all that stand beside it: transforms, transactions, truncated logs."""
    transforms = any("transform" in probe for probe in history.probes.values())
    cut = any(row["leader"] < 0 for row in history.rows["partitions"])
    return transforms, bool(history.rows["transactions"]), cut


def side_by_side(histories: Sequence[History]) -> History:
    """Return all histories as one."""
    if len(histories) == 1:
        return histories[0]
    first = histories[0]
    whole = History()
    whole.entry, whole.beside, whole.expect = first.entry, first.beside, first.expect
    whole.counts_itself = first.counts_itself
    whole.rows = {table: list(rows) if table in ONCE else [] for table, rows in first.rows.items()}
    whole.record = {**first.record, "probes": []}
    whole.topic, whole.others, whole.probes = {}, {}, {}
    for number, history in enumerate(histories):
        mark = _Mark(number, _names(history))
        for table, rows in history.rows.items():
            if table not in ONCE:
                whole.rows[table] += [mark.row(row) for row in rows]
        for topic, settings in {"orders": history.topic, **history.others}.items():
            whole.others[mark.word(topic)] = settings
        whole.probes |= {mark.word(probe): mark.document(planned) for probe, planned in history.probes.items()}
        whole.record["probes"] += [mark.row(row) for row in history.record["probes"]]
    whole.topic = whole.others.pop("orders@0")
    whole.__class__ = _Whole
    return whole


class _Whole(History):
    """A history whose first topic has the name of history 0's."""

    def plan(self) -> Row:
        document = super().plan()
        topics = document["scenario"]["topics"]
        topics["orders@0"] = topics.pop("orders")
        return document


def own(row: Row) -> tuple[int | None, Row]:
    """Return the number of the history that a row of the whole is about, and the row as that history has it."""
    numbers: set[str] = set()
    for value in row.values():
        if isinstance(value, str):
            numbers |= set(_MARK.findall(value))
    mine = {name: _MARK.sub("", value) if isinstance(value, str) else value for name, value in row.items()}
    return (int(numbers.pop()) if len(numbers) == 1 else None), mine


class _Mark:
    """Marks the names of one history."""

    def __init__(self, number: int, names: frozenset[str]) -> None:
        self._number, self._names = number, names

    def word(self, word: str) -> str:
        return f"{word}@{self._number}"

    def row(self, row: Row) -> Row:
        return row | {name: self.word(row[name]) for name in NAMES if row.get(name) is not None}

    def document(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.document(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.document(each) for each in value]
        return self.word(value) if isinstance(value, str) and value in self._names else value


def _names(history: History) -> frozenset[str]:
    """Every name that is a history's own."""
    rows = (row for table in history.rows.values() for row in table)
    seen = {str(row[name]) for row in rows for name in NAMES if row.get(name) is not None}
    planned = {str(each["group"]) for probe in history.probes.values() for each in _dicts(probe) if each.get("group")}
    return frozenset(seen | planned | {"orders", *history.others, *history.probes})


def _dicts(probe: Any) -> Iterable[Row]:
    return [each for each in probe.values() if isinstance(each, dict)] if isinstance(probe, dict) else []


def _named(value: Any, names: frozenset[str]) -> bool:
    """Whether a document names something of a history's own."""
    if isinstance(value, dict):
        return any(_named(each, names) for each in (*value, *value.values()))
    if isinstance(value, list):
        return any(_named(each, names) for each in value)
    return value in names

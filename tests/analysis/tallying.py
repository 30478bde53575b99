"""Tallies for made-up runs: what probes would have counted that were told exactly what the rows say."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from chaosk.probes._tally import Sent, Tally, known
from chaosk.rundir.events.arrow import SCHEMAS

Row = dict[str, Any]
_TABLES = ("sends", "reads", "polls")
_NEVER = 2**63 - 1
_ALIKE = itemgetter("outcome", "topic")


def tallies(rows: dict[str, list[Row]], processes: Iterable[tuple[str, int]], at: int, number: int = 0) -> list[Row]:
    """Rows of ``tallies``: one tally for each process, with this number, of all its rows."""
    own: dict[tuple[str, str, int], list[Row]] = {}
    for table in _TABLES:
        for row in rows[table]:
            own.setdefault((table, row["probe"], row["incarnation"]), []).append(row)
    return [
        dict(zip(SCHEMAS["tallies"].names, (*process, number, at, *figure), strict=True))
        for process in processes
        for figure in _figures(*(own.get((table, *process), []) for table in _TABLES))
    ]


def _figures(sends: list[Row], reads: list[Row], polls: list[Row]) -> Iterable[tuple[Any, ...]]:
    return zip(*_counted(sends, reads, polls).columns().values(), strict=True)


def _counted(sends: list[Row], reads: list[Row], polls: list[Row]) -> Tally:
    tally = Tally()
    tally.polls = len(polls)
    tally.answers = sum(row["completed"] is not None for row in sends)
    in_turn = sorted(sends, key=lambda row: _NEVER if row["completed"] is None else row["completed"])
    for answered in (True, False):
        told = [row for row in in_turn if (row["completed"] is not None) is answered]
        for (outcome, topic), alike in groupby(told, key=_ALIKE):
            tally.sent(outcome, topic, _sent(list(alike), answered=answered))
    for topic, alike in groupby(reads, key=itemgetter("topic")):
        some = list(alike)
        tally.read(topic, _column(some, "partition"), _column(some, "offset"))
    return tally


def _sent(rows: list[Row], *, answered: bool) -> Sent:
    partition, seq, offset, scheduled = (_column(rows, each) for each in ("partition", "seq", "offset", "scheduled"))
    return Sent(partition, seq, offset, scheduled, _column(rows, "completed") if answered else None)


def _column(rows: list[Row], name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return known([row[name] for row in rows])

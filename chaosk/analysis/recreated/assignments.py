"""Ownership that members of groups carried over from a topic to the recreated one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from chaosk.analysis.case import Case, PlaceKey, Process
from chaosk.analysis.event_files import read
from chaosk.analysis.recreated.attribution import NONE, SendAttribution, numbers
from chaosk.analysis.recreated.generations import RecreatedTopic
from chaosk.rundir.events.arrow import SCHEMAS

Row = dict[str, Any]
_JUST_AFTER = 1
"""Nanoseconds from the assignment of a partition of the new topic until the position there is known."""


@dataclass(frozen=True, slots=True)
class CarriedAssignments:
    """Rows, by table, that no client recorded because none was told of the change."""

    rows: Mapping[str, list[Row]]


def held_over(case: Case, sent: Mapping[str, SendAttribution]) -> CarriedAssignments:
    """Return rows for each member that owned a partition of a recreated topic: old one revoked, new one assigned.

    Its position in the new one is 0, regardless of its position or commits in the old one.
    """
    changes = _rows(case, "assignments")
    seen = _last_seen(case) if changes else {}
    given: list[Row] = []
    begun: list[Row] = []
    for topic, remaking in case.former.topics.items():
        mine = [row for row in changes if row["topic"] == topic]
        for place, row in enumerate(remaking.made):
            for held in _held_at(mine, row, seen):
                given.extend(_passed_on(held, remaking, place, sent[topic]))
                begun.extend(_position(held, remaking, place) if held["group"] is not None else ())
    return CarriedAssignments({"assignments": given, "fetched": begun})


def stale(case: Case, fetched: pa.Table) -> pa.Table:
    """Replace committed offsets of a former topic by 0, where the new log begins."""
    commits = [row for row in _rows(case, "commits") if row["outcome"] != "fail"]
    old, new = dict[tuple[str, PlaceKey, int], int](), set[tuple[str, PlaceKey, int, int]]()
    for row in sorted(commits, key=lambda row: row["invoked"]):
        age = case.former.topics[row["topic"]].age(row["invoked"])
        place = (row["topic"], row["partition"])
        old[row["group"], place, age] = row["offset"]
        new.add((row["group"], place, age, row["offset"]))
    offsets = numbers(fetched["offset"].combine_chunks())
    for number, row in enumerate(fetched.select(["group", "topic", "partition", "invoked"]).to_pylist()):
        remaking = case.former.topics.get(row["topic"])
        age = 0 if remaking is None else remaking.age(row["invoked"])
        if remaking is None or age == 0 or offsets[number] == NONE:
            continue
        place = (row["topic"], row["partition"] % remaking.apart)
        own = (row["group"], place, age, int(offsets[number])) in new
        if not own and old.get((row["group"], place, age - 1)) == offsets[number]:
            offsets[number] = 0
    column: Any = pa.array(offsets, pa.int64(), mask=offsets == NONE)
    return fetched.set_column(fetched.schema.get_field_index("offset"), SCHEMAS["fetched"].field("offset"), column)


def _rows(case: Case, table: str) -> list[Row]:
    """Return the rows of a table about recreated topics."""
    rows = read(case.events, table)
    found: list[Row] = rows.filter(pc.is_in(rows["topic"], pa.array(sorted(case.former.topics)))).to_pylist()
    return found


def _last_seen(case: Case) -> dict[Process, int]:
    """Return the last time at which each process is known to have lived: its end, or its last poll."""
    polls = read(case.events, "polls", ["probe", "incarnation", "completed"])
    last = polls.group_by(["probe", "incarnation"]).aggregate([("completed", "max")]).to_pylist()
    found = {(row["probe"], row["incarnation"]): row["completed_max"] for row in last}
    return found | {process: end["at"] for process, end in case.ends.items()}


def _held_at(changes: list[Row], moment: int, seen: Mapping[Process, int]) -> Iterator[Row]:
    """Yield the assignments in force at a moment, of processes that lived then."""
    for given in changes:
        if given["kind"] != "assign" or given["at"] >= moment:
            continue
        same = ("probe", "incarnation", "partition", "assignment")
        taken = [row["at"] for row in changes if row["kind"] != "assign" and all(row[n] == given[n] for n in same)]
        if min(taken, default=moment) >= moment and seen.get((given["probe"], given["incarnation"]), 0) >= moment:
            yield given


def _passed_on(held: Row, remaking: RecreatedTopic, place: int, sent: SendAttribution) -> Iterator[Row]:
    mine = (held["probe"], held["incarnation"], held["partition"])
    late = max((at for delivery, at in sent.late.items() if delivery[:3] == mine), default=0)
    old, new = (remaking.number(held["partition"], age) for age in (place, place + 1))
    yield held | {"kind": "revoke", "partition": old, "at": max(remaking.made[place], late)}
    yield held | {"kind": "assign", "partition": new, "at": remaking.gone[place]}


def _position(held: Row, remaking: RecreatedTopic, place: int) -> Iterator[Row]:
    at = remaking.gone[place] + _JUST_AFTER
    names = ("probe", "incarnation", "group", "topic")
    number = remaking.number(held["partition"], place + 1)
    yield {name: held[name] for name in names} | {"partition": number, "offset": 0, "invoked": at, "completed": at}

"""The rules about what never goes on (B9, B10) in plain Python, from the definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from analysis.history import Row, ns
from truth.logs import Place, Value
from truth.reference_members import Term, terms
from truth.sightings import attempts, covers, spot_of, written
from truth.story import END, RUN_ENDED, Story, place_of, value_of
from truth.together import TIMEOUT

FAULT = (ns(1), ns(6))
"""When the fault of every story was asked for, and when it was over."""
PATIENCE = 30_000_000_000
"""Nanoseconds that a consumer may be silent, and a coordinator late with an abort."""


def stuck_consumer(story: Story) -> Iterator[Row]:
    """B9: held until the end, records wait beyond all that its readers were given, and nothing comes for 30 s."""
    killed = story.killed()
    for term in terms(story).values():
        if term.member in killed or (term.taken is not None and term.taken < RUN_ENDED):
            continue
        mine = [row for row in story.rows["reads"] if place_of(row) == term.place and _reader(row) == _of(term)]
        reached = max((row["offset"] for row in mine), default=None)
        found = term.answer["offset"] if term.answer else None
        beginning = found if reached is None else reached + 1
        waiting = list(_waiting(story, term, beginning))
        dues = [due for _, due, _ in waiting if due is not None]
        if not dues:
            continue
        began = max([FAULT[1], term.given, min(dues), *(row["at"] for row in mine)])
        if ns(END + 1) - began > PATIENCE:
            yield {
                "severity": "violation" if any(known for *_, known in waiting) else "unproven", "reader": _of(term),
                "topic": term.place[0], "partition": term.place[1], "probe": term.member[0],
                "incarnation": term.member[1], "assignment": term.assignment, "reached": reached,
                "first": min(offset for offset, *_ in waiting), "waiting": len(waiting),
            }  # fmt: skip


def _of(term: Term) -> str:
    return term.group if term.group is not None else term.member[0]


def _reader(row: Row) -> str:
    return str(row["group"] if row["group"] is not None else row["probe"])


def _waiting(story: Story, term: Term, beginning: int | None) -> Iterator[tuple[int, int | None, bool]]:
    """Offset, since when it is there, and whether the audit knows it: what nobody of these readers was given."""
    sends, owed, cover = attempts(story), written(story), covers(story).get(term.place)
    given = {value_of(row) for row in story.rows["reads"] if _reader(row) == _of(term)}
    ends = {row["txn"]: row["ended"] for row in story.rows["transactions"]}
    audited: dict[Value, set[int]] = defaultdict(set)
    anywhere = {value_of(row) for row in story.rows["audit"]}
    for row in story.all("audit", isolation=story.isolation(term.member)):
        value = value_of(row)
        if value and place_of(row) == term.place:
            audited[value].add(row["offset"])
    for value in owed - given:
        row = sends[value]
        due = row["completed"] if row["txn"] is None else ends.get(row["txn"])
        offsets = [(offset, True) for offset in audited.get(value, ())]
        if value not in anywhere and not (cover and cover.complete):
            offsets = [(offset, False) for offset in _acked(story, value, term.place)]
        for offset, known in offsets:
            if row["invoked"] > term.given if beginning is None else offset >= beginning:
                yield offset, due, known


def _acked(story: Story, value: Value, place: Place) -> list[int]:
    """Where a value that the audit did not find was read, or acknowledged, if that is in this partition."""
    reads = [spot_of(row) for row in story.rows["reads"] if value_of(row) == value]
    row = attempts(story)[value]
    spots = [min(reads)] if reads else [spot_of(row)] if row["offset"] is not None else []
    return [offset for *where, offset in spots if (where[0], where[1]) == place]


def stuck_lso(story: Story) -> Iterator[Row]:
    """B10: it stays below the high watermark for longer than a transaction may take, and 30 s more."""
    stays: dict[tuple[Place, int], list[Row]] = defaultdict(list)
    for row in story.all("offsets", leader=True):
        stable, high = row["last_stable"], row["high_watermark"]
        if stable is not None and high is not None and stable < high and not _deposed(story, row):
            stays[place_of(row), stable].append(row)
    foreign = {place_of(row) for table in ("reads", "audit") for row in story.rows[table] if not row["intact"]}
    begun = {(*place_of(row), row["first"]): row for row in story.rows["stretches"]}
    for (place, stable), rows in stays.items():
        times, highs = [row["at"] for row in rows], [row["high_watermark"] for row in rows]
        if max(times) - min(times) > TIMEOUT * 1_000_000 + PATIENCE:
            whose = begun.get((*place, stable), {})
            sent = [r for r in story.rows["sends"] if place_of(r) == place and r["offset"] == stable and r["txn"]]
            unknown = place in foreign and not any(row["invoked"] <= max(times) for row in sent)
            yield {
                "severity": "unproven" if unknown else "violation", "topic": place[0], "partition": place[1],
                "last_stable": stable, "high_watermark": max(highs), "producer_id": whose.get("producer_id"),
                "marker": whose.get("marker"),
            }  # fmt: skip


def _deposed(story: Story, answer: Row) -> bool:
    """Whether another broker was the newest leader that anybody had named when one answered."""
    named = [
        (row["leader_epoch"], row["leader"])
        for row in story.rows["partitions"]
        if place_of(row) == place_of(answer) and row["at"] <= answer["at"] and row["leader"] >= 0
        and row["leader_epoch"] is not None
    ]  # fmt: skip
    return bool(named) and max(named)[1] != answer["asked"]

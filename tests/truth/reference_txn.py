"""The rules about transactions and their clients (A6, A7, C1, C3, C5) in plain Python, from the definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from analysis.history import Row
from truth.logs import Place, Value
from truth.sightings import Cover, Spot, attempts, covers, in_log, settings, shown_to_careful, spot_of
from truth.story import Story, member_of, place_of, value_of
from truth.truncated import excused

Client = tuple[str, int, int]
"""Producer, incarnation, epoch."""


def ended(story: Story) -> dict[str, Row]:
    """By transaction its row of ``transactions``."""
    return {row["txn"]: row for row in story.rows["transactions"]}


def aborted_read(story: Story) -> Iterator[Row]:
    """A6: shown to anyone although it failed for sure, or to a careful reader although it was aborted."""
    known, careful, ends = in_log(story), shown_to_careful(story), ended(story)
    for value, row in attempts(story).items():
        failed = row["outcome"] == "fail" and value in known
        aborted = ends.get(row["txn"], {}).get("outcome") == "aborted" and row["outcome"] != "fail"
        if failed or (aborted and value in careful):
            yield {
                "severity": "violation", "kind": "failed" if failed else "aborted", **_named(value),
                **_at(min(known[value])), "error": row["error"], "txn": row["txn"],
            }  # fmt: skip


def precommitted_read(story: Story) -> Iterator[Row]:
    """A7: a careful reader was given it before anyone asked to commit its transaction."""
    sends, ends, process = attempts(story), ended(story), settings(story)
    for row in story.rows["reads"]:
        value = value_of(row)
        send = sends.get(value) if value else None
        end = ends.get(send["txn"]) if send and send["txn"] else None
        if end is None or end["outcome"] == "aborted" or end["ending"] is None:
            continue
        if process.get(member_of(row), {}).get("isolation") == "read_committed" and row["at"] < end["ending"]:
            names = ("probe", "incarnation", "group", "topic", "partition", "offset", "at")
            yield {
                "severity": "violation", **{name: row[name] for name in names}, **_named(value or ("", 0, 0)),
                "txn": end["txn"], "ending": end["ending"], "outcome": end["outcome"],
            }  # fmt: skip


def torn_transaction(story: Story) -> Iterator[Row]:
    """C3: it committed, as its client or one of its records says, and another one cannot be read at read_committed."""
    careful, ends, cover = shown_to_careful(story), ended(story), covers(story)
    parts: dict[str, list[tuple[Value, Row]]] = defaultdict(list)
    for value, row in attempts(story).items():
        if row["txn"] is not None:
            parts[row["txn"]].append((value, row))
    for txn, part in parts.items():
        outcome = ends.get(txn, {}).get("outcome")
        sure = outcome == "committed"
        stored = {value_of(row) for row in story.rows["audit"]}
        missing = [(value, row) for value, row in part if value not in careful]
        gone = [(v, row) for v, row in missing if _kept(row, cover.get(place_of(row)), sure=sure and v not in stored)]
        there = sum(value in careful for value, _ in part)
        if (there or sure) and gone and outcome != "aborted":
            value, row = min(gone)
            times = [each["completed"] for _, each in part if each["completed"] is not None]
            cut = excused(story, place_of(row), row["offset"], max(times, default=None))
            known = "unproven" if row["offset"] is None else "allowed"
            yield {
                "severity": known if cut else "violation", "txn": txn, **_named(value),
                **_at(spot_of(row)), "outcome": outcome, "visible": there, "missing": len(gone),
            }  # fmt: skip


def _kept(row: Row, cover: Cover | None, *, sure: bool) -> bool:
    """Whether the audit would have found a record that was acknowledged, or its transaction, had it been there."""
    if sure and row["outcome"] == "info" and row["topic"] != "compacted" and cover is not None:
        return cover.complete and cover.start == 0
    if row["outcome"] != "ok" or row["offset"] is None or row["topic"] == "compacted" or cover is None:
        return False
    return cover.complete and cover.start <= int(row["offset"]) < cover.end


@dataclass(slots=True)
class Reign:
    """A client of a ``transactional.id``: how many had it before, and when the next one took it over."""

    name: str
    rank: int
    until: int | None = None


def reigns(story: Story) -> dict[Client, Reign]:
    """By client that ended a transaction, when it had its ``transactional.id``."""
    began: dict[str, dict[Client, int]] = defaultdict(dict)
    for row in story.rows["transactions"]:
        client, mine = (*member_of(row), row["producer_epoch"]), began[row["transactional_id"]]
        mine[client] = min(row["initialized"], mine.get(client, row["initialized"]))
    found: dict[Client, Reign] = {}
    for name, clients in began.items():
        order = [client for _, client in sorted((at, client) for client, at in clients.items())]
        found |= {client: Reign(name, rank) for rank, client in enumerate(order)}
        for older, newer in pairwise(order):
            found[older].until = clients[newer]
    return found


def zombie_write(story: Story) -> Iterator[Row]:
    """C1: of a client whose ``transactional.id`` had been taken over: sent after that, or behind its successor's."""
    reign, visible, audited = reigns(story), _audited(story, "read_committed"), _audited(story, None)
    places: dict[tuple[str, Place], set[tuple[int, int, Value]]] = defaultdict(set)
    sent = {v: row for v, row in attempts(story).items() if row["txn"] is not None and _client(row) in reign}
    for value, row in sent.items():
        mine = reign[_client(row)]
        late = mine.until is not None and row["invoked"] > mine.until
        if late and (row["outcome"] == "ok" or value in visible):
            yield _zombie("late", value, row, mine) | _at(spot_of(row))
        for topic, partition, offset in audited.get(value, ()):
            places[mine.name, (topic, partition)].add((offset, mine.rank, value))
    for (_, place), stands in places.items():
        for offset, rank, value in stands:
            mine, row = reign[_client(sent[value])], sent[value]
            spot = (*place, offset)
            behind = any(other <= offset and later > rank for other, later, _ in stands)
            in_time = mine.until is not None and row["invoked"] <= mine.until
            if behind and in_time and spot in visible.get(value, ()):
                yield _zombie("overtaken", value, row, mine) | _at(spot)


def fenced_late(story: Story) -> Iterator[Row]:
    """C5: asked to commit after the ``transactional.id`` had been taken over, and could."""
    reign = reigns(story)
    for row in story.rows["transactions"]:
        mine = reign[*member_of(row), row["producer_epoch"]]
        late = mine.until is not None and row["ending"] is not None and row["ending"] > mine.until
        records = sum(send["txn"] == row["txn"] and send["outcome"] == "ok" for send in story.rows["sends"])
        if late and row["outcome"] == "committed" and records:
            yield {
                "severity": "violation", "txn": row["txn"], "transactional_id": mine.name, "producer": row["probe"],
                "producer_incarnation": row["incarnation"], "producer_epoch": row["producer_epoch"],
                "ending": row["ending"], "ended": row["ended"], "succeeded": mine.until, "records": records,
            }  # fmt: skip


def late_write(story: Story) -> Iterator[Row]:
    """C2: stands in what another transaction's marker ended, or behind the marker that ended its own."""
    sends, visible = attempts(story), _audited(story, "read_committed")
    since: dict[str, int] = {}
    for row in story.rows["sends"]:
        if row["txn"] is not None:
            since[row["txn"]] = min(row["invoked"], since.get(row["txn"], row["invoked"]))
    audited = [(spot, value) for value, spots in _audited(story, None).items() for spot in spots]
    ours = [(spot, value) for spot, value in audited if value in sends and sends[value]["txn"] is not None]
    for place in (place_of(row) for row in story.rows["dumps"] if row["complete"]):
        ended = [row for row in story.rows["stretches"] if place_of(row) == place and row["marker"] is not None]
        inside = [
            (spot[2], value, stretch)
            for spot, value in ours
            for stretch in ended
            if spot[:2] == place and stretch["first"] <= spot[2] <= stretch["last"]
        ]
        for offset, value, stretch in inside:
            txn = sends[value]["txn"]
            others = {sends[v]["txn"] for _, v, s in inside if s["marker"] == stretch["marker"]}
            last = max(others, key=lambda name: (since[name], name))
            home = min((o, s["marker"]) for o, v, s in inside if sends[v]["txn"] == txn)[1]
            if (*place, offset) in visible.get(value, ()) and (last != txn or home != stretch["marker"]):
                ending = home if last == txn else stretch["marker"]
                cut = excused(story, place, max(offset, ending), since[txn])
                severity = "allowed" if cut else "violation"
                yield {
                    "severity": "unproven" if place[0] == "compacted" else severity,
                    "kind": "late" if last == txn else "foreign", **_named(value), **_at((*place, offset)), "txn": txn,
                    "marker": home if home != stretch["marker"] else None, "owner": last,
                    "producer_id": stretch["producer_id"],
                }  # fmt: skip


def _zombie(kind: str, value: Value, row: Row, mine: Reign) -> Row:
    return {
        "severity": "violation", "kind": kind, **_named(value), "outcome": row["outcome"], "txn": row["txn"],
        "transactional_id": mine.name, "succeeded": mine.until,
    }  # fmt: skip


def _audited(story: Story, isolation: str | None) -> dict[Value, set[Spot]]:
    """By value the places at which the tail audit found it, at one isolation level or (None) at any."""
    found: dict[Value, set[Spot]] = defaultdict(set)
    for row in story.rows["audit"]:
        value = value_of(row)
        if value and (isolation is None or row["isolation"] == isolation):
            found[value].add(spot_of(row))
    return found


def _client(row: Row) -> Client:
    return row["probe"], row["incarnation"], row["producer_epoch"]


def _named(value: Value) -> Row:
    return {"producer": value[0], "producer_incarnation": value[1], "seq": value[2]}


def _at(spot: Spot) -> Row:
    return {"topic": spot[0], "partition": spot[1], "offset": spot[2]}

"""Twists of readers and their groups: more of them, members that come and go, commits, seeks."""

from __future__ import annotations

from random import Random
from typing import Any

from analysis.asking import another, passed_on, reads_of
from analysis.history import History, Row, ns
from twisted.twist import SECOND, copied, forget, moment, next_n, readers, renumbered, twist

from chaosk.rundir.events import TABLES

READER = "reader"


def _reads(history: History) -> bool:
    """Whether the usual reader is there and was given anything."""
    return READER in readers(history) and READER in history.probes and "consume" in history.probes[READER]


def _settings(history: History) -> Row:
    found: Row = history.probes[READER]["consume"]
    return found


def _as(history: History, probe: str, group: str | None, **settings: Any) -> None:
    """All that the usual reader did, also done by ``probe``."""
    planned = {name: value for name, value in _settings(history).items() if name != "group"}
    history.probes[probe] = {"consume": planned | ({"group": group} if group else {}) | settings}
    grouped = {name for name, table in TABLES.items() if any(each.name == "group" for each in table.columns)}
    for table, rows in history.rows.items():
        if table not in ("connections", "errors", "tallies"):
            mine = [row for row in rows if row.get("probe") == READER]
            rows.extend(copied(mine, probe=probe, **({"group": group} if table in grouped else {})))
    history.rows["groups"] += [row | {"group": group} for row in history.rows["groups"] if group]
    history.record["probes"] += [row | {"probe": probe} for row in history.record["probes"] if row["probe"] == READER]


@twist
def second_group(history: History, draw: Random) -> None:
    """Another group read all that the first one did, or all but a part."""
    if not _reads(history) or "other" in history.probes:
        return
    _as(history, "other", "others")
    if draw.random() < 0.5:
        first = draw.randrange(50)
        forget(history, "reads", lambda row: row["probe"] == "other" and first <= row["offset"] < first + 2)


@twist
def reader_alone(history: History, draw: Random) -> None:
    """A reader without a group was given all that the first one was; it is planned so, or at the end."""
    if not _reads(history) or "solo" in history.probes:
        return
    planned: list[Row] = [{"assign": "all", "start": "beginning"}, {"assign": [0]}, {"assign": "all", "start": "end"}]
    _as(history, "solo", None, **draw.choice(planned))
    history.each("incarnations", lambda row: row | ({"commit": "none"} if row["probe"] == "solo" else {}))
    if draw.random() < 0.4:
        first = draw.randrange(50)
        forget(history, "reads", lambda row: row["probe"] == "solo" and row["offset"] == first)


@twist
def handed_over(history: History, draw: Random) -> None:
    """From some record on another member, or another process, has the partition; it begins there, or nearby."""
    if not _reads(history) or "second" in history.probes:
        return
    first = draw.randrange(5, 48)
    at = next((row["at"] - ns(0) for row in history.rows["reads"] if row["offset"] == first), 0) / SECOND - 0.25
    who: Row = {"incarnation": 1} if draw.random() < 0.4 else {"probe": "second", "incarnation": 0}
    if "probe" in who:
        another(history, "second", started=draw.choice([-5.95, at - 0.1]))
    how = draw.choice(["revoke", "revoke", "lost", None])
    if draw.random() < 0.7:
        history.commit(first + draw.choice([0, 0, 0, -1, 1, -5]), at - 0.05, kind=draw.choice(["sync", "async"]))
    passed_on(history, at, first + draw.choice([0, 0, 0, -1, 1, 3, -6]), how=how, **who)
    if draw.random() < 0.7:
        reads_of(history, first, **who)
        renumbered(history)


@twist
def handed_back(history: History, draw: Random) -> None:
    """The reader's partition is taken from it for a while, and given again."""
    if not _reads(history):
        return
    at = moment(history, draw)
    history.add("assignments", at=at, kind=draw.choice(["revoke", "lost"]))
    history.add("assignments", at=at + draw.choice([0.05, 3]), kind="assign", assignment=1, rebalance=1)
    if draw.random() < 0.6:
        found = draw.randrange(50)
        history.add("fetched", offset=found, invoked=at + 0.06, completed=at + 0.07)
    if draw.random() < 0.7:
        history.each("reads", lambda row: row | _again(row, at))


def _again(row: Row, at: float) -> Row:
    return {"assignment": 1} if row["probe"] == READER and row["at"] >= ns(at) else {}


@twist
def static_member(history: History, draw: Random) -> None:
    """The reader is a static member, and is told that another process has its name, or is not told."""
    if not _reads(history):
        return
    for probe in history.probes.values():
        if "consume" in probe and draw.random() < 0.8:
            probe["consume"] = probe["consume"] | {"config": {"group.instance.id": draw.choice(["i1", "i1", "i2"])}}
    if draw.random() < 0.6:
        history.add("errors", probe=READER, incarnation=0, at=moment(history, draw), error="FENCED_INSTANCE_ID",
                    message="", fatal=True)  # fmt: skip


@twist
def committed(history: History, draw: Random) -> None:
    """A member commits: what it was given, or beyond that, or less than before; of whatever kind and outcome."""
    if not _reads(history):
        return
    row = draw.choice([row for row in history.rows["reads"] if row["probe"] == READER])
    at = (row["at"] - ns(0)) / SECOND + draw.choice([0.001, 0.1, 3, -1])
    outcome = draw.choice(["ok", "ok", "ok", "info", "fail"])
    history.commit(
        max(0, row["offset"] + draw.choice([1, 1, 0, 2, 10, -10])), at, outcome=outcome,
        kind=draw.choice(["sync", "async", "auto", "topic"]), incarnation=row["incarnation"],
        assignment=draw.choice([row["assignment"], row["assignment"], None, 1]), partition=row["partition"],
    )  # fmt: skip
    if draw.random() < 0.4:
        history.rows["groups"] = [each for each in history.rows["groups"] if each["group"] != "readers"]
        history.add("groups", offset=draw.choice([row["offset"] + 1, row["offset"], 50, None]))


@twist
def commits_often(history: History, draw: Random) -> None:
    """A member commits behind every few records, as it should; one of the commits says another offset, or none does."""
    if not _reads(history):
        return
    every, wrong = draw.choice([1, 5, 10]), draw.choice([None, draw.randrange(50)])
    for row in [row for row in history.rows["reads"] if row["probe"] == READER][::every]:
        off = draw.choice([-7, -1, 1, 7]) if wrong is not None and row["offset"] in range(wrong, wrong + every) else 0
        history.commit(max(0, row["offset"] + 1 + off), (row["at"] - ns(0)) / SECOND + 0.002,
                       **{name: row[name] for name in ("probe", "incarnation", "group", "topic", "partition")},
                       assignment=row["assignment"], kind=draw.choice(["sync", "async"]))  # fmt: skip


@twist
def sought(history: History, draw: Random) -> None:
    """A reader seeks, and reads on from there, or from elsewhere, or not at all."""
    if not _reads(history):
        return
    row = draw.choice([row for row in history.rows["reads"] if row["probe"] == READER])
    to = max(0, row["offset"] + draw.choice([-5, -1, 0, 1, 2, 5]))
    who = {name: row[name] for name in ("incarnation", "topic", "partition")}
    at = row["at"] - ns(0) + draw.choice([-1000, 0, 1000])
    history.add("seeks", **who, offset=to, at=at / SECOND, kind=draw.choice(["seek", "reset"]))
    if draw.random() < 0.5:
        n = next_n(history, READER, row["incarnation"])
        again = [each for each in history.rows["reads"] if each["probe"] == READER and each["offset"] == to]
        history.rows["reads"] += [each | {"n": n, "poll": n, "at": row["at"] + 2000} for each in again[:1]]
        renumbered(history)


@twist
def set_otherwise(history: History, draw: Random) -> None:
    """Processes have other settings: isolation, commits, acknowledgements, idempotence, requests in flight."""
    change: Row = draw.choice([
        {"isolation": "read_uncommitted"}, {"commit": "automatic"}, {"commit": "async"}, {"commit": "none"},
        {"acks": 1}, {"acks": 0, "idempotent": False}, {"idempotent": False, "max_in_flight": 1},
        {"idempotent": False},
    ])  # fmt: skip
    kinds = ("consume", "transform") if change.keys() & {"isolation", "commit"} else ("produce", "transform")
    for row in history.rows["incarnations"]:
        if row["kind"] in kinds:
            row.update(change)


@twist
def start_unknown(history: History, draw: Random) -> None:
    """A process has no row of its start, or none of its end, or a step ended it."""
    if not history.rows["incarnations"]:
        return
    row = draw.choice(history.rows["incarnations"])
    process = {"probe": row["probe"], "incarnation": row["incarnation"]}
    table = draw.choice(["incarnations", "ends", "ends"])
    forget(history, table, lambda each: process.items() <= each.items())
    ended = draw.choice([{"ended_by": "step", "exit_status": -9}, {"ended_by": "itself", "exit_status": 1}])
    for each in history.record["probes"]:
        if process.items() <= each.items() and table == "ends":
            each.update(ended)


@twist
def positions_unknown(history: History, draw: Random) -> None:
    """Nobody wrote down what offset a member found; or it found one where there was none."""
    if draw.random() < 0.5:
        history.rows["fetched"].clear()
    for row in history.rows["fetched"]:
        row["offset"] = draw.choice([None, 0, 1, 10])

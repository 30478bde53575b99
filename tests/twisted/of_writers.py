"""Twists of what is written: partitions, topics, transactions and the processes that write in them."""

from __future__ import annotations

from random import Random

from analysis.history import History, Row, ns
from analysis.transactional import successor
from twisted.twist import LEVELS, SAW, SECOND, about, copied, end_of, forget, moment, renumbered, twist, value_of

OTHER = 1
"""The partition that half of the records go to."""


@twist
def two_partitions(history: History, draw: Random) -> None:
    """Some of the records of a topic are in another partition, at offsets of its own, and all tables say so."""
    rows = [row for row in history.rows["sends"] if row["topic"] == "orders"]
    if not rows or any(row["partition"] != 0 for row in rows):
        return
    every, block = draw.choice([2, 3]), draw.choice([1, 1, 10])
    there = {value_of("sends", row) for row in rows if row["seq"] // block % every == 0}
    places: dict[int, tuple[int, int]] = {}
    count = [0, 0]
    seen = [row for table in ("sends", "audit", "reads") for row in history.rows[table] if row["topic"] == "orders"]
    moved = {row["offset"] for row in rows if value_of("sends", row) in there}
    for offset in sorted({row["offset"] for row in seen if row["offset"] is not None}):
        side = OTHER if offset in moved else 0
        places[offset] = (side, count[side])
        count[side] += 1
    for table in ("sends", "audit", "reads", "failures", "outputs"):
        for row in history.rows[table]:
            if row["topic"] == "orders" and row["offset"] in places:
                row["partition"], row["offset"] = places[row["offset"]]
    _second_partition(history)


def _second_partition(history: History) -> None:
    """What members and the watcher say of partition 0 holds of the other one, too."""
    history.topic["partitions"] = 2
    for table in ("audit_ranges", "assignments", "fetched", "partitions", "offsets"):
        rows = history.rows[table]
        rows += copied([row for row in rows if (row["topic"], row["partition"]) == ("orders", 0)], partition=OTHER)
    for row in history.rows["groups"]:
        if row["topic"] == "orders":
            row["offset"] = None if row["offset"] is None else end_of(history, "orders", row["partition"])


@twist
def partitions_swapped(history: History, draw: Random) -> None:
    """Of one process, one table has two partitions the wrong way round."""
    table = draw.choice(["sends", "reads", "commits", "audit", "assignments", "fetched"])
    rows = history.rows[table]
    if not rows:
        return
    process = (draw.choice(rows).get("probe"), draw.choice([0, 0, 1]))
    for row in rows:
        if (row.get("probe"), row.get("incarnation", process[1])) == process and row["partition"] in (0, OTHER):
            row["partition"] = OTHER - row["partition"]


@twist
def second_topic(history: History, draw: Random) -> None:
    """Another topic holds as many records of another producer, and the reader reads it as well."""
    if "bills" in history.others or not history.rows["sends"] or "clerk" in history.probes:
        return
    history.others["bills"] = {"partitions": 1, "replication_factor": 3}
    history.probes["clerk"] = {"produce": {"topic": "bills", "rate": "100/s"}}
    history.probes["biller"] = {"consume": {"topic": "bills", "group": "billers"}}
    producer: Row = {"probe": "clerk", "topic": "bills"}
    seen: Row = {"producer": "clerk", "topic": "bills"}
    for table, rows in history.rows.items():
        of_topic = [row for row in rows if row.get("topic") in (None, "orders")]
        if table == "audit":
            rows.extend(copied([row for row in of_topic if row["producer"] == "writer"], **seen))
        elif table in ("audit_ranges", "partitions", "offsets"):
            rows.extend(copied(of_topic, topic="bills"))
        elif table in ("sends", "transactions", "incarnations", "ends", "reads", "assignments", "fetched", "polls"):
            mine = [row for row in of_topic if row["probe"] in ("writer", "reader")]
            rows.extend(row | _of_bills(row, table, producer) for row in mine)
    history.record["probes"] += [
        {"probe": name, "incarnation": 0, "ended_by": "stop", "exit_status": 0} for name in ("clerk", "biller")
    ]


def _of_bills(row: Row, table: str, producer: Row) -> Row:
    """What is else in the row of the other topic."""
    changed: Row = dict(producer) if row["probe"] == "writer" else {"probe": "biller", "topic": "bills"}
    changed |= {"group": "billers"} if row["probe"] == "reader" else {}
    changed |= {"producer": "clerk"} if table == "reads" and row["producer"] == "writer" else {}
    changed |= {name: f"{row[name]}-bills" for name in ("txn", "transactional_id") if row.get(name) is not None}
    return {name: value for name, value in changed.items() if name in row}


def _txn(history: History, draw: Random) -> Row | None:
    rows = history.rows["transactions"]
    return draw.choice(rows) if rows else None


def _values(history: History, txn: str) -> set[object]:
    return {value_of("sends", row) for row in history.rows["sends"] if row["txn"] == txn}


@twist
def in_transactions(history: History, draw: Random) -> None:
    """The producer that wrote without transactions wrote some records in one, which ended in any way."""
    rows = [row for row in history.rows["sends"] if row["txn"] is None and row["probe"] == "writer"]
    if len(rows) < 4:
        return
    first = draw.randrange(len(rows) - 3)
    chosen = rows[first : first + draw.choice([1, 2, 5])]
    outcome, txn = draw.choice(["committed", "committed", "aborted", "info"]), f"x-{len(history.rows['transactions'])}"
    for row in chosen:
        row |= {"txn": txn, "producer_epoch": draw.choice([0, 0, 0, None])}
    began, last = (chosen[0]["invoked"] - ns(0)) / SECOND, (chosen[-1]["invoked"] - ns(0)) / SECOND
    ended = None if outcome == "info" and draw.random() < 0.5 else last + 0.009
    history.add("transactions", txn=txn, initialized=-5.9, begun=began - 0.001, ending=last + 0.008, ended=ended,
                outcome=outcome)  # fmt: skip
    if draw.random() < 0.7 and outcome != "committed":
        _hide(history, txn)


def _hide(history: History, txn: str) -> None:
    """Nobody who is careful sees the records of a transaction."""
    values = _values(history, txn)
    forget(history, "reads", lambda row: value_of("reads", row) in values)
    forget(history, "audit", lambda row: value_of("audit", row) in values and row["isolation"] == LEVELS[1])


@twist
def ended_otherwise(history: History, draw: Random) -> None:
    """A transaction ended in another way, or nobody knows how; its records are hidden or not, or some of them are."""
    if (row := _txn(history, draw)) is None:
        return
    row["outcome"] = draw.choice(["committed", "aborted", "aborted", "info"])
    if row["outcome"] == "info" and draw.random() < 0.5:
        row["ended"] = None
    how = draw.random()
    if how < 0.4:
        _hide(history, row["txn"])
    elif how < 0.7:
        values = sorted(_values(history, row["txn"]), key=str)
        hidden = set(draw.sample(values, len(values) // 2))
        tables = draw.choice([("audit",), ("reads",), ("audit", "reads")])
        for table in tables:
            forget(history, table, lambda r, table=table: value_of(table, r) in hidden  # type: ignore[misc]
                   and r.get("isolation", LEVELS[1]) == LEVELS[1])  # fmt: skip


@twist
def seen_aborted(history: History, draw: Random) -> None:
    """A record of an aborted transaction was delivered, or found at read_committed."""
    if (row := _txn(history, draw)) is None:
        return
    row["outcome"] = "aborted"
    kept = draw.choice(sorted(_values(history, row["txn"]), key=str) or [None])
    reads = [each for each in history.rows["reads"] if value_of("reads", each) == kept]
    audit = [each for each in history.rows["audit"]
             if value_of("audit", each) == kept and each["isolation"] == LEVELS[1]]  # fmt: skip
    _hide(history, row["txn"])
    history.rows["reads"] += draw.choice([reads, reads[:1], []])
    history.rows["audit"] += draw.choice([audit, []])


@twist
def in_another_transaction(history: History, draw: Random) -> None:
    """A record was sent in another transaction, or in none, or by a later client with the same id."""
    rows = [row for row in history.rows["sends"] if row["txn"] is not None]
    if not rows:
        return
    row, other = draw.choice(rows), draw.choice(rows)
    change: list[Row] = [{"txn": other["txn"]}, {"txn": None, "producer_epoch": None}, {"producer_epoch": 1}]
    row.update(draw.choice(change))


@twist
def taken_over(history: History, draw: Random) -> None:
    """Another client takes over the transactional id and writes a record; the first one writes on, or not."""
    if not history.rows["transactions"] or "new" in history.probes or "t" not in {
        row["transactional_id"] for row in history.rows["transactions"]
    }:  # fmt: skip
        return
    at = draw.choice([20.4, moment(history, draw)])
    successor(history, 0, at, end_of(history, "orders", 0))
    renumbered(history)


@twist
def taken_long(history: History, draw: Random) -> None:
    """A transaction began earlier, or ended later, or its producer's client is another one."""
    if (row := _txn(history, draw)) is None:
        return
    name = draw.choice(["begun", "ending", "ended", "initialized"])
    if row[name] is not None:
        row[name] += round(draw.choice([-8, -0.5, 0.5, 8]) * SECOND)


@twist
def offsets_in_transactions(history: History, draw: Random) -> None:
    """A transaction was to commit an offset of a group: what was read, or something else."""
    if (row := _txn(history, draw)) is None or not history.rows["reads"]:
        return
    reads = [each for each in history.rows["reads"] if each["txn"] == row["txn"]] or history.rows["reads"]
    last = max(reads, key=lambda each: each["at"])
    offset = max(0, last["offset"] + draw.choice([1, 1, 0, 2, -5]))
    at = (last["at"] - ns(0)) / SECOND + 0.001
    history.add("txn_offsets", probe=row["probe"], incarnation=row["incarnation"], txn=row["txn"],
                group=last["group"], topic=last["topic"], partition=last["partition"], offset=offset,
                at=at)  # fmt: skip


@twist
def input_of_nothing(history: History, draw: Random) -> None:
    """An output names another input, or no output names one, or it is written twice."""
    rows = history.rows["outputs"]
    if not rows:
        return
    row = draw.choice(rows)
    how = draw.choice(["other", "none", "twice"])
    if how == "other":
        row["offset"] = draw.choice(rows)["offset"]
    elif how == "none":
        rows.remove(row)
    else:
        rows.append(row | {"seq": draw.choice(rows)["seq"]})


@twist
def output_gone(history: History, draw: Random) -> None:
    """An output is not found, or was not sent; what it was made of was read."""
    rows = history.rows["outputs"]
    if not rows:
        return
    value = value_of("outputs", draw.choice(rows))
    assert value is not None
    gone = draw.choice([("sends",), ("audit",), ("audit", "sends"), ("outputs", "sends", "audit")])
    for table, row in list(about(history, value, *gone)):
        if table not in SAW or draw.random() < 0.8:
            history.rows[table].remove(row)

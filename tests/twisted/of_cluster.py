"""Twists of what the cluster says: epochs, elections, ends of logs, settings, the audit, markers."""

from __future__ import annotations

from random import Random

from analysis.history import History, Row, ns
from twisted.twist import LEVELS, SECOND, Value, forget, moment, sent, twist, value_of

STATE = ("high_watermark", "last_stable", "log_end", "log_start")


@twist
def epochs(history: History, draw: Random) -> None:
    """Records came with epochs that rise along the log, or fall somewhere, or are unknown, for all who saw them."""
    border, before, after = draw.randrange(50), draw.choice([3, 4]), draw.choice([3, 4, 5])
    tables = draw.choice([("reads", "audit"), ("reads", "audit"), ("reads",), ("audit",)])
    for table in tables:
        for row in history.rows[table]:
            row["leader_epoch"] = before if row["offset"] < border else after
    if draw.random() < 0.3:
        for row in draw.sample(history.rows["audit"], min(3, len(history.rows["audit"]))):
            row["leader_epoch"] = None


@twist
def elected(history: History, draw: Random) -> None:
    """Another leader from some moment on: elected as it should be, or uncleanly, whether that is allowed or not."""
    at = moment(history, draw)
    if draw.random() < 0.4:
        history.elect(at)
    else:
        history.elect_uncleanly(at, allowed=draw.random() < 0.5)


@twist
def cut(history: History, draw: Random) -> None:
    """An unclean election, and records lost that were acknowledged shortly before it, long before, or after."""
    at = draw.uniform(0, 15)
    history.elect_uncleanly(at, allowed=draw.random() < 0.7)
    since = at + draw.choice([-4, -1, -0.2, 0.5, 3])
    values: set[Value | None] = {
        value_of("sends", row) for row in history.rows["sends"] if ns(since) <= row["invoked"] < ns(since + 1.6)
    }
    for table in draw.choice([("audit",), ("audit", "reads")]):
        forget(history, table, lambda row, table=table: value_of(table, row) in values)  # type: ignore[misc]
    if draw.random() < 0.5:
        for table in ("audit", "reads"):
            for row in history.rows[table]:
                row["leader_epoch"] = 3 if row["offset"] < (at + 5) * 2 else 5


@twist
def thin(history: History, draw: Random) -> None:
    """For a while few replicas are in sync, fewer than acknowledgements need, or not."""
    began = moment(history, draw)
    ended, isr = began + draw.choice([0.3, 2, 9]), draw.choice([[1], [0, 1], []])
    for row in history.rows["partitions"]:
        if ns(began) <= row["at"] < ns(ended):
            row["isr"] = list(isr)
    if draw.random() < 0.5:
        history.topic["config"] = history.topic.get("config", {}) | {"min.insync.replicas": draw.choice([1, 2, 3])}


@twist
def two_lead(history: History, draw: Random) -> None:
    """A second broker says that it leads, in the same epoch, in the next, or in an earlier one."""
    at = moment(history, draw)
    epoch, leader = draw.choice([2, 3, 3, 4]), draw.choice([1, 2])
    for number in range(draw.choice([1, 3, 10])):
        now = at + number * 0.1
        history.add("partitions", at=now, asked=leader, leader=leader, leader_epoch=epoch, replicas=[0, 1, 2],
                    isr=[0, 1, 2])  # fmt: skip
        history.add("offsets", at=now + 0.01, asked=leader, leader=True, log_start=0,
                    high_watermark=draw.choice([None, 10, 50]), log_end=draw.choice([None, 50]))  # fmt: skip


@twist
def ends_told(history: History, draw: Random) -> None:
    """A leader says where its log ends, as it should; once it says less, or more, or nothing."""
    wrong, column = draw.choice([None, draw.randrange(50)]), draw.choice(STATE)
    for number in range(50):
        at, end = -4.9 + number / 2, number + 1
        row = history.add("offsets", at=at, asked=1, leader=True, log_start=0, high_watermark=end, last_stable=end,
                          log_end=end)  # fmt: skip
        if number == wrong:
            row[column] = draw.choice([None, 0, max(0, end - 5), end + 5])


@twist
def audited_less(history: History, draw: Random) -> None:
    """The audit began later, ended earlier, or was not complete, at one level or both; with its records or not."""
    rows = history.rows["audit_ranges"]
    if not rows:
        return
    row = draw.choice(rows)
    place = (row["topic"], row["partition"])
    change: Row = draw.choice([{"log_start": 5}, {"end": 40}, {"complete": False, "why": "no answer"}, {"end": 60}])
    levels = draw.choice([LEVELS, LEVELS, LEVELS[:1], LEVELS[1:]])
    for each in rows:
        if (each["topic"], each["partition"]) == place and each["isolation"] in levels:
            each.update(change)
    low, high = change.get("log_start", 0), change.get("end", 2**60)
    if draw.random() < 0.8:
        forget(
            history,
            "audit",
            lambda r: (
                (r["topic"], r["partition"]) == place and r["isolation"] in levels and not low <= r["offset"] < high
            ),
        )


@twist
def deleted(history: History, draw: Random) -> None:
    """The first records of a partition are gone by the audit, as its leader says from some moment on."""
    below, at = draw.choice([1, 5, 20]), moment(history, draw)
    place = ("orders", 0)
    for row in history.rows["offsets"]:
        if row["at"] >= ns(at) and (row["topic"], row["partition"]) == place:
            row["log_start"] = below
    for row in history.rows["audit_ranges"]:
        if (row["topic"], row["partition"]) == place:
            row["log_start"] = below
    forget(history, "audit", lambda row: (row["topic"], row["partition"]) == place and row["offset"] < below)
    if draw.random() < 0.4:
        forget(history, "reads", lambda row: (row["topic"], row["partition"]) == place and row["offset"] < below)
    if draw.random() < 0.7:
        configured(history, draw)


@twist
def configured(history: History, draw: Random) -> None:
    """A topic's settings, as a broker reported them: what deletes and what compacts."""
    config: Row = draw.choice([
        {"cleanup.policy": "compact", "min.compaction.lag.ms": 0}, {"retention.ms": 1000}, {"retention.ms": -1},
        {"cleanup.policy": "compact,delete"}, {"retention.bytes": 100}, {"unclean.leader.election.enable": "true"},
    ])  # fmt: skip
    usual: Row = {"cleanup.policy": "delete", "retention.ms": -1, "retention.bytes": -1}
    if draw.random() < 0.7:
        history.topic["config"] = history.topic.get("config", {}) | config
    for name, value in (usual | config).items():
        history.add("topic_settings", at=draw.choice([-6, 3]), name=name, value=str(value))


@twist
def marked(history: History, draw: Random) -> None:
    """The brokers' files were searched for markers: each transaction has its own, or one lacks it, or has another."""
    if not history.rows["transactions"] or history.rows["dumps"]:
        return
    lacks = draw.choice([None, *[row["txn"] for row in history.rows["transactions"]]])
    end = 0
    for row in history.rows["transactions"]:
        mine = [r["offset"] for r in history.rows["sends"] if r["txn"] == row["txn"] and r["topic"] == "orders"
                and r["partition"] == 0 and r["offset"] is not None]  # fmt: skip
        if not mine:
            continue
        end = max(end, *mine, max(mine) + 1)
        who = {"producer_id": 7, "producer_epoch": 0}
        kind = "commit" if row["outcome"] == "committed" else "abort"
        marker = None if row["txn"] == lacks else max(mine) + 1
        history.add("stretches", first=min(mine), last=max(mine), marker=marker, **who)
        if marker is not None:
            history.add("markers", offset=marker, kind=kind, **who)
    history.add("dumps", broker=1, log_start=0, end=end + 1, complete=draw.random() < 0.9)


@twist
def replicas_compared(history: History, draw: Random) -> None:
    """Replicas were compared: all the same, or a stretch that differs, or is unknown."""
    first = draw.randrange(40)
    history.add("copies", first=0, last=49, same=True)
    if draw.random() < 0.7:
        history.add("copies", first=first, last=first + 2, same=draw.choice([False, None]), held="1: a; 2: b")


@twist
def fenced(history: History, draw: Random) -> None:
    """A producer was told that another one has its place."""
    if (value := sent(history, draw)) is None:
        return
    at = moment(history, draw)
    history.add("errors", probe=value[0], incarnation=value[1], at=at, error="_FENCED", message="", fatal=True)
    for row in history.rows["transactions"]:
        if row["ending"] is not None and row["ending"] > ns(at) and draw.random() < 0.5:
            row["outcome"] = "info"


@twist
def stalled(history: History, draw: Random) -> None:
    """Everything that was sent or polled in a while came to its end only behind it."""
    began = moment(history, draw)
    ended = began + draw.choice([1, 6])
    for table, column in (("sends", "completed"), ("reads", "at"), ("polls", "completed"), ("commits", "completed")):
        for row in history.rows[table]:
            if row[column] is not None and ns(began) <= row[column] < ns(ended):
                row[column] = ns(ended) + (row[column] - ns(began)) // SECOND

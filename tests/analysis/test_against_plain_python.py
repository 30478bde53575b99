"""The log rules against the same definitions in plain Python, on a run in which everything goes wrong at random.

Spark judges it in one partition and in many; both have to name exactly the rows that a few loops over dicts name.
"""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from analysis.history import History, Row
from pyspark.sql import SparkSession

from chaosk.analysis import events
from chaosk.analysis.analyze import analyze
from chaosk.analysis.check_runner import checks
from chaosk.analysis.frames.gaps import CELL
from chaosk.analysis.spark import tune
from chaosk.rundir.paths import RunDir

pytestmark = [pytest.mark.spark, pytest.mark.long]

RECORDS = 600
PARTITIONS = 3
DELAY = 2
"""Seconds after which a record is read: one that was sent after its successor had been read was not jumped over."""
Value = tuple[str, int, int]


def chaotic(seed: int) -> History:
    """A run of two producer processes and one reader, with records lost, doubled, turned, skipped, repeated."""
    draw = Random(seed)  # noqa: S311 - repeatable, not secret
    history = History(acks=-1, idempotent=True)
    history.topic["partitions"] = PARTITIONS
    for partition in range(1, PARTITIONS):
        history.add("assignments", partition=partition, at=-5.9)
        for isolation in ("read_uncommitted", "read_committed"):
            history.add("audit_ranges", isolation=isolation, partition=partition, log_start=0, end=-1, complete=True)
    history.worker("writer", 1, started=5, kind="produce", acks=1, idempotent=False, max_in_flight=5)
    log: dict[int, list[Value]] = {partition: [] for partition in range(PARTITIONS)}
    for number in range(RECORDS):
        incarnation, seq = divmod(number, RECORDS // 2)
        log[draw.randrange(PARTITIONS)].append(("writer", incarnation, seq))
    reads: list[tuple[float, Row]] = []
    for partition, values in log.items():
        place = 0
        for value in misordered(values, draw):
            place += draw.choice([1, 1, 1, 1, 2])  # holes, as control records leave them
            reads.extend(written(history, value, partition, place, draw))
    for at, row in sorted(reads, key=lambda each: each[0]):
        history.read(at=at, **row)
    return history


def misordered(values: list[Value], draw: Random) -> list[Value]:
    """The values in the order of their log: mostly as they were sent."""
    order = list(values)
    for place in range(len(order) - 1):
        if draw.random() < 0.02:
            order[place], order[place + 1] = order[place + 1], order[place]
    return [value for value in order for _ in range(2 if draw.random() < 0.02 else 1)]


def written(history: History, value: Value, partition: int, place: int, draw: Random) -> list[tuple[float, Row]]:
    """One record and what went wrong with it; its deliveries, still to be put in order."""
    producer, incarnation, seq = value
    due = -5 + 21 * (incarnation * RECORDS / 2 + seq) / RECORDS
    at = -5 + DELAY + 21 * place / (RECORDS / PARTITIONS * 1.3)
    who: Row = {"producer": producer, "producer_incarnation": incarnation, "seq": seq, "partition": partition}
    who["leader_epoch"] = 1 + place // 40 - (draw.random() < 0.02)
    if not any(row["seq"] == seq and row["incarnation"] == incarnation for row in history.rows["sends"]):
        outcome = draw.choices(["ok", "info", "fail"], [20, 2, 1])[0]
        offset = None if outcome != "ok" else place if draw.random() > 0.02 else place - 1
        history.send(seq, due, incarnation=incarnation, partition=partition, offset=offset, outcome=outcome)
    if draw.random() > 0.03:
        history.audit(place, **who)
    chance = draw.random()
    times = 0 if chance < 0.03 else 2 if chance > 0.98 else 1
    return [(at + 0.01 + again * draw.choice([0.001, 1.5]), {"offset": place, **who}) for again in range(times)]


def plain(history: History) -> dict[str, set[Any]]:
    """The rules in plain Python: by check what identifies each row."""
    sends = {("writer", row["incarnation"], row["seq"]): row for row in history.rows["sends"]}
    audited: set[Value] = set()
    read, places, at = defaultdict(list), defaultdict(set), defaultdict(set)
    for table in ("audit", "reads"):
        for row in history.rows[table]:
            value, place = (row["producer"], row["producer_incarnation"], row["seq"]), (row["partition"], row["offset"])
            places[value].add(place)
            at[place].add(value)
            audited.update({value} if table == "audit" else ())
            if table == "reads":
                read[value].append(place)
    in_log = {value: set(found) for value, found in places.items()}
    for value, row in sends.items():
        if row["outcome"] == "ok":
            places[value].add((row["partition"], row["offset"]))
            at[row["partition"], row["offset"]].add(value)
    written_ok = {value for value, row in sends.items() if row["outcome"] == "ok"}
    return {
        "lost": {v for v in written_ok | set(read) if v not in audited},
        "duplicate_in_log": {v for v, found in places.items() if v in in_log and len(found) > 1},
        "inconsistent_offset": {place for place, values in at.items() if len(values) > 1},
        "send_order": turned(in_log, sends),
        "poll_order": {row["n"] for before, row in steps(history) if row["offset"] <= before["offset"]},
        "poll_skip": {row["n"] for before, row in steps(history) if jumps(history, before, row)},
        "unseen": {v for v in written_ok if v in audited and v not in read},
        "stale_append": {v for v in written_ok if passed(history, sends[v]) and len(at[place_of(sends[v])]) == 1},
        "aborted_read": {v for v, row in sends.items() if row["outcome"] == "fail" and v in in_log},
        "leader_epoch_regression": falling_epochs(history),
    }


def place_of(row: Row) -> tuple[int, int]:
    """Partition and offset."""
    return (row["partition"], row["offset"])


def passed(history: History, send: Row) -> bool:
    """Whether any offset at or beyond the acknowledged one was known before the quarter second in which it was sent."""
    known = [(row, row["at"]) for row in history.rows["reads"]]
    known += [(row, row["completed"]) for row in history.rows["sends"] if row["outcome"] == "ok"]
    mine = ((row["offset"], at) for row, at in known if row["partition"] == send["partition"])
    return any(offset >= send["offset"] and at // CELL < send["invoked"] // CELL for offset, at in mine)


def falling_epochs(history: History) -> set[tuple[int, int]]:
    """Places whose leader epoch is below that of the place seen before."""
    epochs = {place_of(row): row["leader_epoch"] for table in ("audit", "reads") for row in history.rows[table]}
    return {
        later for before, later in pairwise(sorted(epochs)) if before[0] == later[0] and epochs[later] < epochs[before]
    }


def turned(in_log: dict[Value, set[tuple[int, int]]], sends: dict[Value, Row]) -> set[Value]:
    """Values that stand at or before the one their process sent before, by partition: where they were acknowledged."""
    streams = defaultdict(list)
    for value in sorted(in_log):
        row = sends[value]
        partition, offset = place_of(row) if row["outcome"] == "ok" else min(in_log[value])
        streams[value[:2], partition].append((value, offset))
    return {later for rows in streams.values() for (_, before), (later, offset) in pairwise(rows) if offset <= before}


def steps(history: History) -> list[tuple[Row, Row]]:
    """Neighbouring deliveries of a partition."""
    by_partition = defaultdict(list)
    for row in sorted(history.rows["reads"], key=lambda each: each["n"]):
        by_partition[row["partition"]].append(row)
    return [pair for rows in by_partition.values() for pair in pairwise(rows)]


def jumps(history: History, before: Row, row: Row) -> bool:
    """Whether anything that somebody saw lies between two deliveries."""
    seen = {r["offset"] for t in ("audit", "reads") for r in history.rows[t] if r["partition"] == row["partition"]}
    return any(before["offset"] < offset < row["offset"] for offset in seen)


KEYS = {
    "lost": ("producer", "producer_incarnation", "seq"),
    "duplicate_in_log": ("producer", "producer_incarnation", "seq"),
    "inconsistent_offset": ("partition", "offset"),
    "send_order": ("producer", "producer_incarnation", "seq"),
    "unseen": ("producer", "producer_incarnation", "seq"),
    "stale_append": ("producer", "producer_incarnation", "seq"),
    "aborted_read": ("producer", "producer_incarnation", "seq"),
    "leader_epoch_regression": ("partition", "offset"),
}


def found(rundir: RunDir, history: History) -> dict[str, set[Any]]:
    """What the evidence says, in the same terms."""
    rows = {
        name: [json.loads(line) for line in (rundir.evidence / f"{name}.jsonl").read_text().splitlines()]
        for name in (*KEYS, "poll_order", "poll_skip")
    }
    named: dict[str, set[Any]] = {name: {tuple(row[key] for key in KEYS[name]) for row in rows[name]} for name in KEYS}
    named["poll_order"] = {row["n"] for row in rows["poll_order"]}
    by_poll = {row["poll"]: row["n"] for row in history.rows["reads"]}
    named["poll_skip"] = {by_poll[row["poll"]] for row in rows["poll_skip"]}
    return named


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_spark_names_what_plain_python_names(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """The same rows as plain Python."""
    history = chaotic(seed)
    rundir = history.write(tmp_path / "run")
    expected = plain(history)
    assert all(expected.values()), "the run must break every rule"
    analyze(spark, rundir, {name: kind for name, kind in checks().items() if name in expected})
    named = found(rundir, history)
    for name, rows in expected.items():
        assert named[name] == rows, name


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(("seed", "in_memory"), [(1, False), (1, True), (2, False), (2, True)])
def test_many_partitions_say_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, *, in_memory: bool
) -> None:
    """In one partition and in many, by every check, whether the run fits into memory or not: the same bytes."""
    rundir = chaotic(seed).write(tmp_path / "run")
    analyze(spark, rundir)
    first = {path.name: path.read_bytes() for path in (rundir.verdict, *rundir.evidence.iterdir())}
    monkeypatch.setattr(events, "SMALL", 0)
    if not in_memory:
        monkeypatch.setattr(events, "GLANCED", 0)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    try:
        analyze(spark, rundir)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", "134217728")
        tune(spark, small=True)
    assert {path.name: path.read_bytes() for path in (rundir.verdict, *rundir.evidence.iterdir())} == first

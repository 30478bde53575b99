"""A run directory as a real run leaves one, generated: the leader of two partitions is killed for half a minute."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Fault, Finding, Guard, Measure, Objective, Outcome, Row, Severity, Verdict

ZERO = 1_000_000_000_000
"""Monotonic nanoseconds of the timeline's start."""
BASELINE = 5
KILLED, MOVED, WRITABLE, STARTED, GROWN, ELECTED, END = 10.0, 19.2, 21.0, 40.0, 44.0, 50.0, 60.0
"""Seconds since the timeline's start."""
BROKERS = (1, 2, 3)

Columns = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """What is generated."""

    partitions: int = 6
    rate: int = 500
    topic: str = "orders"
    writer: str = "writer"
    reader: str = "reader"
    seed: int = 7


def ns(seconds: Any) -> Any:
    """Nanoseconds of the monotonic clock, from seconds since the timeline's start."""
    return ZERO + (np.asarray(seconds) * 1e9).astype(np.int64)


def write_table(run: RunDir, table: str, columns: Columns) -> None:
    """Write one event table; a scalar stands for every row, and a missing column is empty."""
    schema = SCHEMAS[table]
    rows = max((len(value) for value in columns.values() if isinstance(value, list | np.ndarray)), default=1)
    arrays = []
    for field in schema:
        value = columns.get(field.name)
        values = value if isinstance(value, list | np.ndarray) else [value] * rows
        arrays.append(pa.array(values, field.type, from_pandas=True))
    run.events.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), run.events / f"{table}.parquet", compression="zstd")


def replicas(partition: int) -> list[int]:
    """Assigned replicas, preferred leader first."""
    return [BROKERS[(partition + step) % 3] for step in range(3)]


def sends(shape: Shape) -> Columns:
    """Sends at a steady rate; those to partitions of broker 1 wait from the kill until a new leader serves them."""
    random = np.random.default_rng(shape.seed)
    count = shape.rate * int(END + BASELINE)
    due = np.arange(count) / shape.rate - BASELINE
    partition = np.arange(count) % shape.partitions
    latency = random.lognormal(-6.2, 0.5, count)
    stalled = (partition % 3 == 0) & (due >= KILLED) & (due < WRITABLE)
    done = due + latency
    done[stalled] = WRITABLE + random.uniform(0.05, 0.6, stalled.sum())
    lost = stalled & (due < KILLED + 0.06)
    outcome = np.where(lost, "info", "ok").astype(object)
    error = np.array([None, "_MSG_TIMED_OUT"], dtype=object)[lost.astype(int)]
    offset = np.where(lost, np.nan, np.arange(count) // shape.partitions)
    return {
        "probe": shape.writer, "incarnation": 0, "seq": np.arange(count), "topic": shape.topic,
        "partition": partition, "scheduled": ns(due), "invoked": ns(due + 1e-4), "completed": ns(done),
        "outcome": outcome, "error": error, "offset": pa.array(offset, pa.float64(), from_pandas=True).to_pylist(),
    }  # fmt: skip


def reads(shape: Shape, written: Columns) -> Columns:
    """What was acknowledged, delivered some milliseconds later, and not during the group's rebalance."""
    ok = written["outcome"] == "ok"
    at = np.sort(written["completed"][ok] + 4_000_000)
    pause = (at > ns(12.0)) & (at < ns(15.5))
    at[pause] = ns(15.5) + np.arange(pause.sum()) * 20_000
    count = int(ok.sum())
    return {
        "probe": shape.reader, "incarnation": 0, "group": "readers", "assignment": 0, "poll": np.arange(count) // 50,
        "n": np.arange(count), "topic": shape.topic, "partition": written["partition"][ok],
        "offset": [int(o) for o in np.array(written["offset"], dtype=object)[ok]], "producer": shape.writer,
        "producer_incarnation": 0, "seq": written["seq"][ok],
        "scheduled": written["scheduled"][ok], "intact": True, "leader_epoch": 4, "at": at,
    }  # fmt: skip


def view(partition: int, second: float) -> tuple[int, int, list[int]]:
    """Leader, leader epoch and ISR of a partition at a moment."""
    order = replicas(partition)
    away = MOVED <= second < GROWN
    isr = [b for b in order if not (away and b == 1)]
    if order[0] != 1 or second < MOVED:
        return order[0], 4, isr
    return (order[1], 5, isr) if second < ELECTED else (order[0], 6, isr)


def partitions(shape: Shape) -> Columns:
    """Samples of every partition, five times a second, from every broker that answers."""
    rows: Columns = {name: [] for name in SCHEMAS["partitions"].names}
    for second in np.arange(-BASELINE, END, 0.2):
        for broker in BROKERS:
            if broker == 1 and KILLED <= second < STARTED + 3:
                continue
            for partition in range(shape.partitions):
                leader, epoch, isr = view(partition, second)
                at = int(ns(second + broker / 1000))
                row = (at, broker, shape.topic, partition, leader, epoch, replicas(partition), isr)
                for name, value in zip(rows, row, strict=True):
                    rows[name].append(value)
    return rows


def brokers() -> Columns:
    """Samples of every broker; broker 1 does not answer while it is down, and the controller moves away from it."""
    rows: Columns = {name: [] for name in SCHEMAS["brokers"].names}
    for second in np.arange(-BASELINE, END, 0.2):
        for broker in BROKERS:
            down = broker == 1 and KILLED <= second < STARTED + 3
            alive = [2, 3] if MOVED <= second < STARTED + 3 else [1, 2, 3]
            controller = None if down else (1 if second < MOVED else 3)
            answer = (None, "connection refused") if down else (alive, None)
            row = (broker, int(ns(second)), int(ns(second + 0.003)), controller, *answer)
            for name, value in zip(rows, row, strict=True):
                rows[name].append(value)
    return rows


def write_events(run: RunDir, shape: Shape) -> None:
    """Every event table of the run."""
    written = sends(shape)
    write_table(run, "sends", written)
    write_table(run, "reads", reads(shape, written))
    write_table(run, "partitions", partitions(shape))
    write_table(run, "brokers", brokers())
    seconds = np.arange(-BASELINE, END, 1.0)
    nodes = np.tile([1, 2, 3], len(seconds))
    modes = np.tile(np.array(["follower", "leader", "follower"], dtype=object), len(seconds))
    write_table(run, "zookeepers", {"node": nodes, "at": ns(np.repeat(seconds, 3)), "mode": modes})
    down = np.arange(KILLED + 0.02, STARTED + 2, 1.0)
    write_table(run, "errors", {
        "probe": shape.writer, "incarnation": 0, "at": ns(down), "error": "_TRANSPORT",
        "message": "198.18.0.11:9092/1: Connect to ipv4#198.18.0.11:9092 failed: Connection refused", "fatal": False,
    })  # fmt: skip
    write_table(run, "assignments", {
        "probe": shape.reader, "incarnation": 0, "group": "readers", "topic": shape.topic, "rebalance": [0, 1, 1],
        "at": ns([-4.5, 12.0, 15.4]), "kind": ["assign", "revoke", "assign"], "partition": 0, "assignment": [0, 0, 1],
    })  # fmt: skip
    write_table(run, "phases", {
        "phase": ["warm_up", "baseline", "timeline", "settle", "audit"],
        "began": ns([-6.0, -5.0, 0.0, 50.0, 60.0]), "ended": ns([-5.0, 0.0, 50.0, 60.0, 61.5]),
    })  # fmt: skip
    write_table(run, "incarnations", {
        "probe": [shape.writer, shape.reader], "incarnation": 0, "kind": ["produce", "consume"],
        "group": [None, "readers"], "started": ns([-5.5, -5.5]), "pid": [4001, 4002], "acks": [-1, None],
        "idempotent": [True, None], "max_in_flight": [5, None], "isolation": [None, "read_committed"],
        "commit": [None, "sync"], "client": "2.16.1",
    })  # fmt: skip


def fault(shape: Shape) -> Fault:
    """The kill."""
    at = [int(ns(s)) for s in (KILLED, KILLED + 0.03, STARTED, STARTED + 3.4)]
    return Fault(
        name="kill", step="kill_broker", targets="broker 1 on node1", invoked=at[0], applied=at[1],
        heal_invoked=at[2], healed=at[3], took=True, undone=True,
    )  # fmt: skip


def measures(shape: Shape) -> tuple[Measure, ...]:
    """Some figures of each kind of subject."""

    def one(metric: str, subject: str, value: float | None, unit: str, window: str = "run") -> Measure:
        return Measure(metric=metric, subject=subject, window=window, value=value, unit=unit)

    return (
        one("unavailability", shape.writer, 11.02, "s"),
        one("unavailability", shape.reader, 3.5, "s"),
        one("latency_p99", shape.writer, 0.0064, "s", "baseline"),
        one("latency_p99", shape.writer, 10.4, "s", "kill"),
        one("latency_max", shape.writer, 11.3, "s"),
        one("recovery", "kill", None, "s"),
        one("election", shape.topic, 9.17, "s"),
        one("acknowledged_records", shape.writer, 32480, "records"),
        one("lost_records", "", 0, "records"),
    )


def verdict(shape: Shape | None = None, **changes: Any) -> Verdict:
    """A verdict of that run; ``changes`` replace fields."""
    shape = shape or Shape()
    at = int(ns(END))
    fields: dict[str, Any] = {
        "scenario": "Kill the leader under load",
        "hypothesis": "With acks=all nothing acknowledged is lost, and writing goes on within 20 s.",
        "covers": ("C2", "C3", "C4"),
        "found": Outcome.PASS,
        "verdict": Outcome.PASS,
        "summary": "PASS: of 32,490 acknowledged records none was lost, repeated or out of order.",
        "began": ZERO,
        "wall": 1_790_000_000_000_000_000,
        "duration": (at - ZERO) / 1e9 + 1.5,
        "objectives": (
            objective("unavailability", shape.writer, maximum=20.0, measured=11.02),
            objective("recovery", "kill", maximum=30.0, measured=12.4),
        ),
        "measures": measures(shape),
        "faults": (fault(shape),),
        "findings": outages(shape),
        "checks": {
            "produce_unavailability": "clean", "consume_unavailability": "clean",
            "duplicate_in_log": "clean", "inconsistent_offset": "clean", "lost": "clean", "unseen": "clean",
            "send_order": "clean", "poll_order": "not judged: the probe subscribes, order across rebalances is open",
        },
        "healed": True,
    }  # fmt: skip
    return Verdict(**{**fields, **changes})


def objective(metric: str, subject: str, measured: float | None, **limits: Any) -> Objective:
    """An objective, met or missed as its figures say."""
    low, high = limits.get("minimum"), limits.get("maximum")
    inside = measured is not None and (low is None or measured >= low) and (high is None or measured <= high)
    return Objective(
        metric=metric, subject=subject, window=limits.get("window", "run"), minimum=low, maximum=high,
        measured=measured, unit=limits.get("unit", "s"), met=None if measured is None else inside,
        prediction=limits.get("prediction", False), void=limits.get("void", False),
    )  # fmt: skip


def lost_rows(count: int) -> tuple[Row, ...]:
    """Evidence of lost records."""
    return tuple(
        {"probe": "writer", "incarnation": 0, "seq": 7000 + n, "topic": "orders", "partition": 0, "offset": 1200 + n,
         "completed": int(ns(12 + n / 100))}
        for n in range(count)
    )  # fmt: skip


def lost(severity: Severity, count: int = 6863, reason: str | None = None) -> Finding:
    """A finding of lost records."""
    return Finding(
        check="lost", rule="A4", title=f"{count:,} acknowledged records are not in the log", severity=severity,
        reason=reason, count=count, evidence=lost_rows(20), faults=("kill",),
    )  # fmt: skip


def outage(check: str, who: str, partitions: tuple[int, ...], began: float, ended: float) -> Finding:
    """A finding of outages of one probe or group, at the same time on several partitions."""
    column = {"produce_unavailability": "producer", "consume_unavailability": "reader"}[check]
    evidence: tuple[Row, ...] = tuple(
        {"severity": "information", "reason": None, "began": int(ns(began + p / 1000)), "ended": int(ns(ended)),
         column: who, "topic": "orders", "partition": p, "seconds": ended - began - p / 1000, "censored": False}
        for p in partitions
    )  # fmt: skip
    rule = "D1" if column == "producer" else "D2"
    title = f"{len(partitions)} stretches without progress"
    return Finding(
        check=check, rule=rule, title=title, severity=Severity.INFORMATION, count=len(partitions), evidence=evidence,
        faults=("kill",),
    )  # fmt: skip


def outages(shape: Shape) -> tuple[Finding, ...]:
    """What the checks of unavailability find in that run."""
    mine = tuple(p for p in range(shape.partitions) if p % 3 == 0)
    others = tuple(p for p in range(shape.partitions) if p % 3)
    return (
        outage("produce_unavailability", shape.writer, mine, KILLED, WRITABLE + 0.05),
        outage("consume_unavailability", "readers", others, 12.0, 15.5),
    )


def guard() -> Guard:
    """A guard that failed."""
    what = "kill: broker 1 was already dead before the fault; start it and run the scenario again"
    return Guard(guard="fault_not_verified", what=what)


def snapshot(second: float, shape: Shape) -> dict[str, Any]:
    """The state of the cluster at a moment, as ``cluster/*.json`` holds it."""
    states = [(p, *view(p, second)) for p in range(shape.partitions)]
    return {
        "partitions": [
            {"topic": shape.topic, "partition": p, "leader": leader, "replicas": replicas(p), "isr": isr}
            for p, leader, _, isr in states
        ],
        "controller": 1 if second < MOVED else 3,
        "brokers": [2, 3] if MOVED <= second < STARTED else [1, 2, 3],
        "answering": [2, 3] if KILLED <= second < STARTED else [1, 2, 3],
        "zookeepers": {"1": "follower", "2": "leader", "3": "follower"},
    }


def plan(shape: Shape) -> dict[str, Any]:
    """What was to be run."""
    return {
        "version": 1, "run_id": "r-20260921", "seed": 42, "chaosk": "0.1.0", "kafka": "3.9.2", "librdkafka": "2.16.1",
        "scenario": {
            "name": "Kill the leader under load",
            "topics": {shape.topic: {"partitions": shape.partitions, "config": {"min.insync.replicas": 2}}},
            "probes": {
                shape.writer: {"produce": {"topic": shape.topic, "rate": "500/s", "config": {"acks": "all"}}},
                shape.reader: {"consume": {"topic": shape.topic, "group": "readers"}},
            },
            "timeline": [{"name": "kill", "at": "10s", "for": "30s",
                          "kill_broker": {"target": f"leader({shape.topic}, 0)"}}],
        },
        "inventory": {"name": "lab", "client": {"sasl.password": {"env": "KAFKA_PASSWORD"}}},
    }  # fmt: skip


def write_documents(run: RunDir, what: Verdict, shape: Shape) -> None:
    """Plan, run record, verdict and cluster states."""
    run.root.mkdir(parents=True, exist_ok=True)
    run.cluster.mkdir(exist_ok=True)
    record = {"run_id": "r-20260921", "began": ZERO, "wall": what.wall, "ended": int(ns(END + 1.5)), "healed": True,

              "durations": {"preflight": 1.2, "baseline": 5.0, "timeline": 50.0, "settle": 10.0}}  # fmt: skip
    run.plan.write_text(json.dumps(plan(shape)), encoding="utf-8")
    run.run.write_text(json.dumps(record), encoding="utf-8")
    run.verdict.write_text(what.model_dump_json(indent=1), encoding="utf-8")
    for name, second in (("before", -3.0), ("during", 30.0), ("after", 59.0)):
        (run.cluster / f"{name}.json").write_text(json.dumps(snapshot(second, shape)), encoding="utf-8")


def sample_run(root: Path, what: Verdict | None = None, shape: Shape | None = None) -> RunDir:
    """Write the whole run directory at ``root``."""
    shape = shape or Shape()
    run = RunDir(root)
    write_documents(run, what or verdict(shape), shape)
    write_events(run, shape)
    return run

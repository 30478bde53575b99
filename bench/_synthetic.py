"""Run directories as a run of any length leaves them, made up: with known losses, duplicates, swaps and skips."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from chaosk.probes._tally import Sent, Tally
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.paths import RunDir

SECOND = 1_000_000_000
LENGTH = 60 * SECOND
PRODUCERS, PARTITIONS, CONSUMERS = 4, 12, 3
PLANTED = {"lost": 20, "duplicate_in_log": 15, "send_order": 10, "unseen": 5}
POLLED = 100
"""Records that a poll returns, all at one time."""
AT_ONCE = 1_000_000
"""Rows that are counted at once."""
Longs = NDArray[np.int64]


def written(records: int) -> dict[str, Longs]:
    """Columns of all values in the order of their offsets: producer, seq, partition, offset, due, done."""
    place = np.arange(records, dtype=np.int64)
    due = 5 * SECOND + place * LENGTH // records
    out = (due >= 20 * SECOND) & (due < 31 * SECOND)
    done = np.where(out, 31 * SECOND + (place % 1000) * 1000, due + 2_000_000 + (place * 7919) % 3_000_000)
    group = place // (PRODUCERS * PARTITIONS)
    return {
        "producer": place % PRODUCERS,
        "seq": group * PARTITIONS + (place // PRODUCERS) % PARTITIONS,
        "partition": (place // PRODUCERS) % PARTITIONS,
        "offset": group * PRODUCERS + place % PRODUCERS,
        "due": due,
        "done": done,
    }


def names(prefix: str, numbers: Longs) -> Any:
    """Names like ``writer2`` as plain strings."""
    known = [f"{prefix}{number}" for number in range(int(numbers.max(initial=0)) + 1)]
    return pa.DictionaryArray.from_arrays(numbers.astype(np.int32), known).cast(pa.string())


def write(rundir: RunDir, table: str, rows: int, columns: dict[str, Any]) -> None:
    """Write a table; single values are repeated, what is missing is empty."""
    schema = SCHEMAS[table]
    arrays = []
    for field in schema:
        value: Any = columns.get(field.name)
        many = isinstance(value, np.ndarray | pa.Array)
        array = value if many else pa.repeat(pa.scalar(value, field.type), rows)
        arrays.append((array if isinstance(array, pa.Array) else pa.array(array)).cast(field.type))
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), rundir.events / f"{table}.parquet", compression="zstd")


def generate(root: Path, records: int) -> RunDir:
    """Write the run directory."""
    rundir = RunDir(root)
    rundir.events.mkdir(parents=True)
    all_of = written(records)
    draw = np.random.default_rng(1).permutation(np.arange(records // 10, records * 9 // 10))
    lost, doubled, turned, skipped = np.split(draw[:50], np.cumsum(list(PLANTED.values()))[:-1])
    kept = np.ones(records, dtype=bool)
    kept[lost] = False
    delivered = kept.copy()
    delivered[skipped] = False
    seen = {name: column.copy() for name, column in all_of.items()}
    for one in turned:  # the next record of the same producer and partition takes its place, and the other way round
        other = one + PRODUCERS * PARTITIONS
        for name in ("seq", "due"):
            seen[name][one], seen[name][other] = seen[name][other], seen[name][one]
    acked = all_of["offset"].copy()
    acked[turned], acked[turned + 48] = acked[turned + 48], acked[turned]
    value = {"topic": "orders", "intact": True, "producer_incarnation": 0}
    write(rundir, "sends", records, {
        "probe": names("writer", all_of["producer"]), "incarnation": 0, "seq": all_of["seq"], "topic": "orders",
        "partition": all_of["partition"], "scheduled": all_of["due"], "invoked": all_of["due"],
        "completed": all_of["done"], "outcome": "ok", "offset": acked,
    })  # fmt: skip
    told = tallies({**all_of, "offset": acked}, {name: column[delivered] for name, column in seen.items()})
    consumer = seen["partition"][delivered] % CONSUMERS
    order = np.argsort(consumer, kind="stable")
    rank = np.empty_like(consumer)
    rank[order] = np.arange(len(consumer))
    returned = np.maximum.reduceat(seen["done"][delivered][order], np.arange(0, len(order), POLLED)) + 3_000_000
    write(rundir, "reads", int(delivered.sum()), {
        **value, "probe": names("reader", consumer), "incarnation": 0, "group": "readers", "assignment": 0,
        "poll": rank // POLLED, "n": rank, "partition": seen["partition"][delivered],
        "offset": seen["offset"][delivered], "producer": names("writer", seen["producer"][delivered]),
        "seq": seen["seq"][delivered], "scheduled": seen["due"][delivered], "at": returned[rank // POLLED],
    })  # fmt: skip
    audit(
        rundir, {name: np.concatenate([column[kept], column[doubled]]) for name, column in seen.items()}, len(doubled)
    )
    surroundings(rundir, int(all_of["offset"].max()) + 1 + len(doubled), told)
    return rundir


def tallies(sent: dict[str, Longs], read: dict[str, Longs]) -> list[dict[str, Any]]:
    """Rows of ``tallies``: what the probes would have counted."""
    names = SCHEMAS["tallies"].names
    found = []
    for name, tally in (*counted_sends(sent), *counted_reads(read)):
        rows = zip(*tally.columns().values(), strict=True)
        found += [dict(zip(names, (name, 0, 0, 66 * SECOND, *row), strict=True)) for row in rows]
    return found


def counted_sends(sent: dict[str, Longs]) -> Iterator[tuple[str, Tally]]:
    """By producer what it was told, in the order of time."""
    for number in range(PRODUCERS):
        mine = np.flatnonzero(sent["producer"] == number)
        mine = mine[np.argsort(sent["done"][mine], kind="stable")]
        tally = Tally()
        tally.answers = len(mine)
        for start in range(0, len(mine), AT_ONCE):
            some = mine[start : start + AT_ONCE]
            columns = (sent[name][some] for name in ("partition", "seq", "offset", "due", "done"))
            tally.sent("ok", "orders", Sent(*columns))
        yield f"writer{number}", tally


def counted_reads(read: dict[str, Longs]) -> Iterator[tuple[str, Tally]]:
    """By consumer what it was given."""
    for number in range(CONSUMERS):
        mine = np.flatnonzero(read["partition"] % CONSUMERS == number)
        tally = Tally()
        for start in range(0, len(mine), AT_ONCE):
            some = mine[start : start + AT_ONCE]
            tally.read("orders", read["partition"][some], read["offset"][some])
        yield f"reader{number}", tally


def audit(rundir: RunDir, rows: dict[str, Longs], doubled: int) -> None:
    """The tail audit at both isolation levels; the last rows are repetitions, beyond the end of their partition."""
    count = len(rows["seq"])
    rows["offset"][count - doubled :] = rows["offset"].max() + 1 + np.arange(doubled)
    twice = {name: np.concatenate([column, column]) for name, column in rows.items()}
    levels = pa.DictionaryArray.from_arrays(
        np.repeat(np.array([0, 1], dtype=np.int32), count), ["read_uncommitted", "read_committed"]
    )
    write(rundir, "audit", 2 * count, {
        "isolation": levels.cast(pa.string()), "topic": "orders", "partition": twice["partition"],
        "offset": twice["offset"], "producer": names("writer", twice["producer"]), "producer_incarnation": 0,
        "seq": twice["seq"], "intact": True,
    })  # fmt: skip


def surroundings(rundir: RunDir, end: int, told: list[dict[str, Any]]) -> None:
    """Everything else: documents, processes, phases, one fault, samples of the cluster."""
    writers, readers = [f"writer{n}" for n in range(PRODUCERS)], [f"reader{n}" for n in range(CONSUMERS)]
    probes: dict[str, Any] = {name: {"produce": {"topic": "orders"}} for name in writers}
    probes |= {name: {"consume": {"topic": "orders", "group": "readers"}} for name in readers}
    scenario = {"name": "bench", "hypothesis": "h", "topics": {"orders": {"partitions": PARTITIONS}}, "probes": probes}
    fault = {"name": "kill", "kill_broker": {"target": "broker 0"}}
    rundir.plan.write_text(json.dumps({"scenario": {**scenario, "timeline": [fault]}}), encoding="utf-8")
    record = {"run_id": "b", "began": 10 * SECOND, "wall": 0, "ended": 66 * SECOND, "healed": True}
    rundir.run.write_text(json.dumps(record), encoding="utf-8")
    whole = [
        {"topic": "orders", "partition": n, "log_start": 0, "end": end, "complete": True} for n in range(PARTITIONS)
    ]
    processes = [{"probe": name, "kind": "produce", "acks": -1, "idempotent": True} for name in writers]
    processes += [
        {"probe": name, "kind": "consume", "group": "readers", "isolation": "read_committed", "commit": "sync"}
        for name in readers
    ]
    counts: Counter[str] = Counter()
    for row in told:
        counts[row["probe"]] += row["count"] if row["topic"] else 0
    rows: dict[str, list[dict[str, Any]]] = {
        "incarnations": [{"incarnation": 0, "started": 1, "pid": 1, "client": "x", **row} for row in processes],
        "ends": [
            {"probe": name, "incarnation": 0, "at": 66 * SECOND, "scheduled": 0, "rows": count}
            for name, count in counts.items()
        ],
        "tallies": told,
        "phases": [
            {"phase": "baseline", "began": 5 * SECOND, "ended": 15 * SECOND},
            {"phase": "timeline", "began": 15 * SECOND, "ended": 40 * SECOND},
            {"phase": "settle", "began": 40 * SECOND, "ended": 65 * SECOND},
        ],
        "faults": [
            {"fault": "kill", "step": "kill_broker", "targets": "broker 0", "invoked": 20 * SECOND, "took": True,
             "applied": 20 * SECOND, "heal_invoked": 31 * SECOND, "healed": 32 * SECOND, "undone": True}
        ],
        "audit_ranges": [
            {"isolation": level, **row} for level in ("read_uncommitted", "read_committed") for row in whole
        ],
        "assignments": [
            {"probe": f"reader{n % CONSUMERS}", "incarnation": 0, "group": "readers", "at": 2, "kind": "assign",
             "topic": "orders", "partition": n, "assignment": 0, "rebalance": 0}
            for n in range(PARTITIONS)
        ],
        "fetched": [
            {"probe": f"reader{n % CONSUMERS}", "incarnation": 0, "group": "readers", "topic": "orders", "partition": n,
             "invoked": 3, "completed": 4}
            for n in range(PARTITIONS)
        ],
        "partitions": [
            {"at": at * SECOND // 5, "asked": 1, "topic": "orders", "partition": n, "leader": 1, "leader_epoch": 1,
             "replicas": [0, 1, 2], "isr": [0, 1, 2]}
            for at in range(5 * 66) for n in range(PARTITIONS)
        ],
    }  # fmt: skip
    for name, schema in SCHEMAS.items():
        if name not in ("sends", "reads", "audit"):
            pq.write_table(pa.Table.from_pylist(rows.get(name, []), schema=schema), rundir.events / f"{name}.parquet")

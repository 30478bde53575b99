"""What brokers' files say of transactions is what those who made them know, on a cluster that loses a leader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400), pytest.mark.long]

SCENARIO = """\
name: Transactions for a test
hypothesis: Every transaction is ended once in every partition that it wrote to.
topics:
  orders: {partitions: 3, replication_factor: 3, config: {min.insync.replicas: 2}}
  invoices: {partitions: 2, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 200/s, transaction: {records: 40, abort_every: 4}}}
  billing: {transform: {topic: orders, to: invoices, group: readers, transaction: {records: 30, abort_every: 5}}}
baseline: 3s
settle: 15s
timeline:
  - {name: kill, at: 1s, kill_broker: {target: "leader(orders, 0)"}, for: 12s}
"""

Place = tuple[str, int]


def rows(run: Any, table: str) -> list[dict[str, Any]]:
    """The rows of an event table."""
    path: Path = run.rundir() / "events" / f"{table}.parquet"
    return list(pq.read_table(path).to_pylist())


def ended(run: Any) -> dict[tuple[str, int, int], int]:
    """By topic, partition and offset the marker that ended the transaction which stands there."""
    return {
        (one["topic"], one["partition"], offset): one["marker"]
        for one in rows(run, "stretches")
        for offset in range(one["first"], one["last"] + 1)
        if one["marker"] is not None
    }


def test_every_transaction_has_the_marker_of_how_it_ended(start: Callable[..., Any]) -> None:
    """One commit marker for each committed transaction and partition, one abort marker for each aborted one."""
    run = start(SCENARIO)
    assert run.finish() in (0, 2), run.text  # a busy machine may leave too little to judge by
    verdict = run.read("verdict.json")
    assert verdict["checks"]["late_write"] == "clean", run.text
    assert not [one for one in verdict["findings"] if one["severity"] == "violation"]
    whole = {(one["topic"], one["partition"]) for one in rows(run, "dumps") if one["complete"]}
    assert whole == {("orders", 0), ("orders", 1), ("orders", 2), ("invoices", 0), ("invoices", 1)}
    kinds = {(one["topic"], one["partition"], one["offset"]): one["kind"] for one in rows(run, "markers")}
    places = ended(run)
    outcomes = {one["txn"]: one["outcome"] for one in rows(run, "transactions")}
    of: dict[tuple[str, Place], set[int]] = {}
    for sent in rows(run, "sends"):
        if sent["outcome"] == "ok":
            place = (sent["topic"], sent["partition"])
            of.setdefault((sent["txn"], place), set()).add(places[(*place, sent["offset"])])
    assert {len(markers) for markers in of.values()} == {1}, "a transaction has one marker in each of its partitions"
    told = {(txn, place): kinds[place[0], place[1], min(markers)] for (txn, place), markers in of.items()}
    known = {key: {"committed": "commit", "aborted": "abort"}.get(outcomes[key[0]], told[key]) for key in of}
    assert told == known
    assert len({(*place, *markers) for (_, place), markers in of.items()}) == len(of), "and no marker ends two"
    assert {"commit", "abort"} == set(told.values())
    assert len(of) > 100

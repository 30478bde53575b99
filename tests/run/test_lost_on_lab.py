"""Real losses: what the verdict names as lost is what an independent reader does not find, record by record."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from chaosk.rundir.events.payload import decode

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400), pytest.mark.long]

SCENARIO = Path(__file__).parents[2] / "scenarios" / "network" / "acks1-isolated-leader.yaml"

Record = tuple[str, int, int]
"""Producer, incarnation, sequence number."""


BOOTSTRAP = "198.18.0.11:9092,198.18.0.12:9092,198.18.0.13:9092"
"""The brokers of a lab."""


def in_the_log(bootstrap: str, topic: str, run_id: str) -> list[Record]:
    """Every record of a run that a plain consumer finds in a topic's one partition, from its start to its end."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": "independent", "enable.auto.commit": False})
    try:
        reader.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        _, end = reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
        found: list[Record] = []
        reached, give_up = 0, time.monotonic() + 60
        while reached < end:
            assert time.monotonic() < give_up, f"read up to {reached} of {end}"
            for message in reader.consume(500, timeout=1.0):
                assert message.error() is None, message.error()
                reached = (message.offset() or 0) + 1
                payload = decode(message.value(), run_id)
                assert payload is not None
                found.append((payload.producer, payload.incarnation, payload.seq))
    finally:
        reader.close()
    return found


def test_the_lost_records_are_exactly_those_an_independent_reader_misses(
    start: Callable[..., Any], lab_inventory: Path
) -> None:
    """acks=1 and a leader cut off from its cluster: thousands of acknowledged records are gone, each one named."""
    from chaosk.lab.namespace import inside

    run = start(SCENARIO.read_text("utf-8"), "--set", "isolated=25s")
    assert run.finish() == 0, run.text
    plan = run.read("plan.json")
    there = inside(f"chaosk-{lab_inventory.parent.name}", lambda: in_the_log(BOOTSTRAP, "orders", plan["run_id"]))
    sends = parquet.read_table(run.rundir() / "events" / "sends.parquet").to_pylist()
    acknowledged = {(row["probe"], row["incarnation"], row["seq"]) for row in sends if row["outcome"] == "ok"}
    lines = (run.rundir() / "evidence" / "lost.jsonl").read_text("utf-8").splitlines()
    named = [(row["producer"], row["producer_incarnation"], row["seq"]) for row in map(json.loads, lines)]

    assert len(named) == len(set(named)), "each lost record is named once"
    assert set(named) == acknowledged - set(there)
    assert len(named) > 500, "a leader cut off for 25 s at 200 records a second must have lost many"
    measures = {(m["metric"], m["window"]): m["value"] for m in run.read("verdict.json")["measures"]}
    assert measures["lost_records", "run"] == len(named)

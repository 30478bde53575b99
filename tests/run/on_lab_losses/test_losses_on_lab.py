"""Losses and repetitions that are real: made on a lab, found, named record by record, and put down to their cause."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from run.test_lost_on_lab import BOOTSTRAP, Record, in_the_log

from chaosk.lab.namespace import inside

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400), pytest.mark.long]

SCENARIOS = Path(__file__).parents[3] / "scenarios"


def found(run: Any, check: str) -> dict[str, Any]:
    """The one finding of a check."""
    (finding,) = [each for each in run.read("verdict.json")["findings"] if each["check"] == check]
    return dict(finding)


def evidence(run: Any, check: str) -> list[dict[str, Any]]:
    """Every row of a check's evidence."""
    lines = (run.rundir() / "evidence" / f"{check}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def named(run: Any, check: str) -> list[Record]:
    """The record of every row of a check's evidence."""
    return [(row["producer"], row["producer_incarnation"], row["seq"]) for row in evidence(run, check)]


def rows(run: Any, table: str) -> list[dict[str, Any]]:
    """An event table."""
    read: list[dict[str, Any]] = parquet.read_table(run.rundir() / "events" / f"{table}.parquet").to_pylist()
    return read


def log(run: Any, lab_inventory: Path) -> list[Record]:
    """What a plain consumer finds in the topic's one partition, repetitions included."""
    run_id = run.read("plan.json")["run_id"]
    return inside(f"chaosk-{lab_inventory.parent.name}", lambda: in_the_log(BOOTSTRAP, "orders", run_id))


def test_what_an_unclean_election_costs_is_named(start: Callable[..., Any], lab_inventory: Path) -> None:
    """A4, allowed: what only the dead leader had is gone, and it is exactly what an independent reader misses."""
    run = start((SCENARIOS / "leadership/unclean-election.yaml").read_text("utf-8"))
    assert run.finish() == 0, run.text
    finding = found(run, "lost")
    assert (finding["rule"], finding["severity"]) == ("A4", "allowed")
    assert finding["reason"] == "an unclean election was allowed for the topic"
    assert {"stale", "dead"} & set(finding["faults"])
    acknowledged = {
        (row["probe"], row["incarnation"], row["seq"]) for row in rows(run, "sends") if row["outcome"] == "ok"
    }
    lost = named(run, "lost")
    assert len(lost) == len(set(lost)) == finding["count"] >= 100
    assert set(lost) == acknowledged - set(log(run, lab_inventory))


def test_what_blind_retries_repeat_is_named(start: Callable[..., Any], lab_inventory: Path) -> None:
    """A2, allowed: the records that stand in the log more than once are exactly those an independent reader finds."""
    run = start((SCENARIOS / "brokers/retries-without-idempotence.yaml").read_text("utf-8"))
    assert run.finish() == 0, run.text
    finding = found(run, "duplicate_in_log")
    assert (finding["rule"], finding["severity"], finding["faults"]) == ("A2", "allowed", ["still"])
    assert finding["reason"] == "enable.idempotence is off: a retry may write a record twice"
    doubled = named(run, "duplicate_in_log")
    assert len(doubled) == finding["count"] >= 100
    assert set(doubled) == {record for record, times in Counter(log(run, lab_inventory)).items() if times > 1}


def test_offsets_taken_for_none_are_named_with_every_record_repeated(start: Callable[..., Any]) -> None:
    """B7, B6 and B4, violations and predicted: what was stored, what was found, and exactly what came again."""
    run = start((SCENARIOS / "commits/offsets-restored-from-an-empty-poll.yaml").read_text("utf-8"))
    assert run.finish() == 0, run.text
    for check, rule in (("reset_jump", "B7"), ("commit_regression", "B6")):
        assert (found(run, check)["rule"], found(run, check)["severity"]) == (rule, "violation")
    jumps = evidence(run, "reset_jump")
    assert {(row["kind"], row["incarnation"], row["committed"]) for row in jumps} == {("unrestored", 1, None)}
    assert "freeze" in found(run, "reset_jump")["faults"]
    stored = {row["partition"]: row["committed"] for row in evidence(run, "commit_regression")}
    assert stored.keys() == {row["partition"] for row in jumps}
    repeated = {
        (row["partition"], row["offset"]) for row in evidence(run, "redelivery") if row["severity"] == "violation"
    }
    assert repeated == {(partition, offset) for partition, end in stored.items() for offset in range(end)}


def test_offsets_that_are_waited_for_are_right(start: Callable[..., Any]) -> None:
    """Near miss: the same fault, and the process reads until the end of its store: the run passes."""
    run = start((SCENARIOS / "commits/own-offset-store.yaml").read_text("utf-8"))
    assert run.finish() == 0, run.text
    assert run.read("verdict.json")["verdict"] == "pass"
    restored = [row for row in rows(run, "fetched") if row["incarnation"] == 1]
    assert sorted(row["partition"] for row in restored) == [0, 1]
    assert all(row["offset"] > 0 for row in restored)

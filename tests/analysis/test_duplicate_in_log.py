"""A2: the second place that an acknowledgement names, and what shows that a retry can have made a copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from analysis.asking import asking
from analysis.history import History, Row, ns
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.producer_settings import request_timeouts, without_retries

pytestmark = pytest.mark.spark


@pytest.mark.proves("duplicate_in_log", "fires")
def test_an_acknowledgement_that_names_the_later_place_tells_of_a_duplicate(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A2: the record was seen at 20 alone, and acknowledged at 50."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, offset=50)
    rows = asking(spark, tmp_path, "duplicate_in_log")(history)
    assert [(row["seq"], row["offset"], row["other_offset"]) for row in rows] == [(20, 20, 50)]


def doubled(*, retries: str | None = None, **changed: Any) -> History:
    """Seq 30 of a producer without idempotence, acknowledged within 5 ms at 10 s, is at 30 and 50; nothing is amiss."""
    history = History(records=50, idempotent=False)
    history.entry = None
    history.rows["faults"].clear()
    history.record["entries"] = []
    if retries:
        history.probes["writer"]["produce"]["config"] = {retries: 0}
    history.audit(50, seq=30)
    if changed:
        history.change("sends", {"seq": 30}, **changed)
    return history


def severities(rows: list[Row]) -> list[tuple[int, str]]:
    """Sequence number and severity of each row."""
    return [(row["seq"], row["severity"]) for row in rows]


@pytest.mark.proves("duplicate_in_log", "fires")
@pytest.mark.parametrize("name", ["retries", "message.send.max.retries"])
def test_a_producer_without_retries_writes_nothing_twice(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """A2: whatever else went on: an error of the client, and a fault. A changed leader is another matter, below."""
    history = doubled(retries=name)
    history.add("errors", probe="writer", incarnation=0, at=10, error="_TRANSPORT", message="", fatal=False)
    assert severities(asking(spark, tmp_path, "duplicate_in_log")(history)) == [(30, "violation")]


def test_a_change_of_leader_is_a_retry_without_retries(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss of A2: librdkafka sends again after NOT_LEADER_FOR_PARTITION all the same; open if nobody looked."""
    asked = asking(spark, tmp_path, "duplicate_in_log")
    history = doubled(retries="retries")
    history.elect(12)
    assert severities(asked(history)) == [(30, "allowed")]
    history = doubled(retries="retries")
    history.elect(18)
    assert severities(asked(history)) == [(30, "violation")]
    history.rows["partitions"] = [row for row in history.rows["partitions"] if row["at"] < ns(8)]
    assert severities(asked(history)) == [(30, "unproven")]


@pytest.mark.proves("duplicate_in_log", "no evidence")
def test_a_duplicate_without_any_sign_of_a_retry_is_left_open(spark: SparkSession, tmp_path: Path) -> None:
    """A2: a client that was answered after 5 ms sends nothing again; what happened at other times says nothing."""
    asked = asking(spark, tmp_path, "duplicate_in_log")
    assert severities(asked(doubled())) == [(30, "unproven")]
    history = doubled()
    history.add("errors", probe="writer", incarnation=0, at=16, error="_TRANSPORT", message="", fatal=False)
    history.add("errors", probe="reader", incarnation=0, at=10, error="_TRANSPORT", message="", fatal=False)
    history.add("faults", fault="late", step="kill_broker", targets="broker 1 on node1", invoked=11, applied=11.1,
                heal_invoked=12, healed=13, took=True, undone=True)  # fmt: skip
    history.elect(17)
    assert severities(asked(history)) == [(30, "unproven")]


@pytest.mark.proves("duplicate_in_log", "near miss")
@pytest.mark.parametrize(
    "changed",
    [
        {"completed": ns(41)},
        {"outcome": "info", "offset": None},
        {"outcome": "info", "offset": None, "completed": None},
    ],
    ids=["took as long as a request may", "timed out", "never answered"],
)
def test_a_slow_or_missing_answer_is_a_sign_of_a_retry(spark: SparkSession, tmp_path: Path, changed: Row) -> None:
    """Near miss of A2: a producer sends again what nobody answered for 30 s."""
    assert severities(asking(spark, tmp_path, "duplicate_in_log")(doubled(**changed))) == [(30, "allowed")]


def test_a_request_may_take_as_long_as_the_probe_says(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss of A2: request.timeout.ms is 1 s, the answer came after 1.2 s; by default it would be too soon."""
    asked = asking(spark, tmp_path, "duplicate_in_log")
    history = doubled(completed=ns(11.2))
    assert severities(asked(history)) == [(30, "unproven")]
    history.probes["writer"]["produce"]["config"] = {"request.timeout.ms": 1000}
    assert severities(asked(history)) == [(30, "allowed")]


@pytest.mark.parametrize("sign", ["error", "connection", "failed", "fault", "lasting fault", "leader"])
def test_trouble_about_then_is_a_sign_of_a_retry(spark: SparkSession, tmp_path: Path, sign: str) -> None:
    """Near misses of A2: of the producer itself, of the cluster, and of its leader; each within five seconds."""
    history = doubled()
    who: Row = {"probe": "writer", "incarnation": 0}
    usual: Row = {"step": "kill_broker", "targets": "broker 1 on node1", "took": True, "undone": True}
    if sign == "error":
        history.add("errors", **who, at=10.5, error="_TRANSPORT", message="", fatal=False)
    elif sign == "connection":
        history.add("connections", event="closed", at=9, since=8.9, seen=9.1)
    elif sign == "failed":
        history.change("sends", {"seq": 29}, outcome="info", error="_TIMED_OUT", offset=None)
    elif sign == "fault":
        history.add("faults", fault="kill", invoked=4, applied=4.1, heal_invoked=5, healed=6, **usual)
    elif sign == "lasting fault":
        history.add("faults", fault="kill", invoked=4, applied=4.1, **(usual | {"undone": False}))
    else:
        history.elect(12)
    assert severities(asking(spark, tmp_path, "duplicate_in_log")(history)) == [(30, "allowed")]


def test_retries_may_be_off_in_the_inventory(tmp_path: Path) -> None:
    """A setting of all clients holds for a producer that has none of its own."""
    rundir = History().write(tmp_path / "run")
    document = json.loads(rundir.plan.read_text("utf-8"))
    document["inventory"]["probe_client"] = {"retries": 0, "request.timeout.ms": "2000"}
    rundir.plan.write_text(json.dumps(document), "utf-8")
    case = read_case(rundir)
    assert without_retries(case) == ("reader", "writer")
    assert request_timeouts(case)["writer"] == 2_000_000_000


def retried(*, epochs: tuple[int, int] = (3, 5), unclean: bool = True, kept: bool = False, acked: int = 21) -> History:
    """Seq 30 was read at 25 from the old leader, and is at 21 in the log of the one elected at 10 s, cut at 20.

    ``epochs`` are those of the two copies; ``kept``: both are in the log; ``acked``: the offset that its producer
    knows.
    """
    history = History(records=50)
    if unclean:
        history.elect_uncleanly(9.9)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["offset"] < 20 else 5})
    for table in ("reads", "audit", "sends"):
        history.rows[table] = [row for row in history.rows[table] if row["seq"] < 20 or row["seq"] >= 30]
        history.each(table, lambda row: row | ({"offset": row["offset"] - 9} if row["seq"] >= 30 else {}))
    history.change("sends", {"seq": 30}, offset=acked, completed=ns(12))
    for table in ("audit", "reads"):
        history.change(table, {"seq": 30}, leader_epoch=epochs[1])
    history.read(25, 9.0, seq=30, leader_epoch=epochs[0])
    if kept:
        history.audit(25, seq=30, leader_epoch=epochs[0])
    return history


@pytest.mark.proves("duplicate_in_log", "near miss")
def test_a_new_leader_without_the_batch_appends_the_retry(spark: SparkSession, tmp_path: Path) -> None:
    """A2: the cut had removed the first copy, and with it the new leader's knowledge of the producer."""
    asked = asking(spark, tmp_path, "duplicate_in_log")
    assert severities(asked(retried())) == [(30, "allowed")]
    history = retried()
    history.each("audit_ranges", lambda row: row | {"complete": False})
    assert severities(asked(history)) == [(30, "unproven")]


@pytest.mark.proves("duplicate_in_log", "fires")
@pytest.mark.parametrize(
    "changed",
    [{"unclean": False}, {"kept": True}, {"epochs": (3, 3)}, {"epochs": (5, 5)}, {"acked": 25}],
    ids=["no election", "both are there", "both of the old leader", "both of the new leader", "acknowledged before"],
)
def test_an_unclean_election_excuses_one_copy_in_each_log(
    spark: SparkSession, tmp_path: Path, changed: dict[str, Any]
) -> None:
    """A2, near misses: the copies are of one log, or of one epoch, or the producer had no reason to send again."""
    assert severities(asking(spark, tmp_path, "duplicate_in_log")(retried(**changed))) == [(30, "violation")]

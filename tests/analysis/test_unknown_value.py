"""A10: records that no process of this run can have written, and unreadable ones where a record of ours stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking
from analysis.history import History, Row
from analysis.ways import finding, told

from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
NOBODY: Row = {"producer": None, "producer_incarnation": None, "seq": None, "intact": False}


@pytest.mark.proves("unknown_value", "fires")
def test_a_record_of_a_process_that_never_ran_is_a_violation(judge: Judge) -> None:
    """A10: a whole payload of this run names incarnation 7 of the writer, which nobody started."""
    history = History(records=50)
    history.audit(50, producer_incarnation=7, seq=3)
    verdict = judge(history)
    (row,) = finding(verdict, "unknown_value").evidence
    assert {"kind": "unknown", "offset": 50, "producer_incarnation": 7, "seq": 3, "sightings": 2}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION
    assert told(verdict)["unknown_value"] == 1


@pytest.mark.proves("unknown_value", "near miss")
def test_a_record_that_its_killed_process_did_not_write_down_is_fine(judge: Judge) -> None:
    """Near miss: its process did run, and was killed before it could tell."""
    history = History(records=50)
    history.drop("sends", seq=49)
    history.drop("ends", probe="writer")
    history.record["probes"][1] |= {"ended_by": "step", "exit_status": -9}
    assert told(judge(history)) == {}


@pytest.mark.proves("unknown_value", "fires")
def test_an_unreadable_record_where_ours_was_acknowledged_is_corrupt(judge: Judge) -> None:
    """A10: the reader was given bytes at offset 20 that are not the record which was acknowledged there."""
    history = History(records=50)
    history.change("reads", {"offset": 20}, **NOBODY)
    verdict = judge(history)
    (row,) = finding(verdict, "unknown_value").evidence
    assert {"kind": "corrupt", "offset": 20, "producer": None, "sightings": 1}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION


@pytest.mark.parametrize(("acks", "kind"), [(-1, "corrupt"), (1, "foreign")])
def test_an_acknowledgement_alone_says_that_ours_stood_there(
    spark: SparkSession, tmp_path: Path, acks: int, kind: str
) -> None:
    """A10: nobody was given a whole record at offset 20; with acks=1 another leader may have given the offset away."""
    history = History(records=50, acks=acks, idempotent=False)
    history.drop("audit", offset=20)
    history.change("reads", {"offset": 20}, **NOBODY)
    rows = asking(spark, tmp_path, "unknown_value")(history)
    assert [(row["kind"], row["offset"]) for row in rows] == [(kind, 20)]


@pytest.mark.proves("unknown_value", "no evidence")
def test_records_of_others_are_information(judge: Judge) -> None:
    """Near miss: somebody else writes to the topic; nothing of ours was ever at that offset."""
    history = History(records=50)
    history.read(50, 20.5, **NOBODY)
    history.audit(50, **NOBODY)
    verdict = judge(history)
    assert (told(verdict), told(verdict, "information")["unknown_value"]) == ({}, 1)
    assert verdict.verdict is Outcome.PASS


def test_a_record_in_a_topic_that_it_was_not_sent_to_is_misplaced(spark: SparkSession, tmp_path: Path) -> None:
    """A10: its client never chose a partition before it gave up, so any one of its topic is right, and no other."""
    history = History(records=50)
    history.send(50, 3, outcome="info", error="_MSG_TIMED_OUT", offset=None, partition=None)
    history.audit(50)
    asked = asking(spark, tmp_path, "unknown_value")
    assert asked(history) == []
    history.others["invoices"] = {"partitions": 1, "replication_factor": 3}
    history.change("audit", {"seq": 50}, topic="invoices")
    assert [(row["kind"], row["topic"], row["seq"]) for row in asked(history)] == [("misplaced", "invoices", 50)]

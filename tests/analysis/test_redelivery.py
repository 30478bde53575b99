"""B4: when a record was delivered again."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import asking
from analysis.conftest import Judge
from analysis.history import History, ns
from analysis.test_rules_reading import hand_over, restarted
from analysis.ways import finding, told
from pyspark.sql import SparkSession

from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark


def test_it_lasts_from_the_first_delivery_to_the_last(spark: SparkSession, tmp_path: Path) -> None:
    """B4: record 20 was delivered at 5.01 s, and by the next process at 6.3 s."""
    history = History(records=50)
    history.commit(20, 5.4)
    restarted(history, 6.0, found=20)
    history.read(20, 6.3, incarnation=1)
    hand_over(history, 22)
    (row,) = asking(spark, tmp_path, "redelivery")(history)
    assert (row["offset"], row["deliveries"], row["began"], row["ended"]) == (20, 2, ns(5.01), ns(6.3))


def test_a_term_without_an_answer_is_not_given_the_answer_of_a_later_one(spark: SparkSession, tmp_path: Path) -> None:
    """B4: record 20 is delivered again in a term whose own answer was not recorded.

    The next term's answer comes after the commit of 40. It says nothing about the commits that the earlier term found.
    """
    history = History(records=50)
    history.commit(40, 15.5)
    for assignment, at in ((1, 6.0), (2, 16.0)):
        history.add("assignments", at=at - 0.1, kind="revoke", assignment=assignment - 1)
        history.add("assignments", at=at, assignment=assignment)
    history.add("fetched", offset=40, invoked=16.1, completed=16.2)
    history.read(20, 6.3, assignment=1)
    (row,) = asking(spark, tmp_path, "redelivery")(history)
    assert (row["offset"], row["severity"], row["committed"]) == (20, "information", None)


def replayed(*, acknowledged: float, **row: object) -> History:
    """The reader reads 0 to 29 again at 10.2 s, in a term from 10.1 s without an answer; 30 is committed."""
    history = History(records=50)
    history.commit(30, acknowledged, **row)
    history.add("assignments", at=10.0, kind="revoke")
    history.add("assignments", at=10.1, assignment=1)
    later = [each for each in history.rows["reads"] if each["at"] >= ns(10)]
    history.rows["reads"] = [each for each in history.rows["reads"] if each["at"] < ns(10)]
    for offset in range(30):
        history.read(offset, 10.2 + offset / 1000, assignment=1)
    for each in later:
        history.read(each["offset"], max((each["at"] - ns(0)) / 1e9, 10.3), assignment=1)
    return history


def test_a_question_without_an_answer_excuses_no_replay_of_what_was_committed(judge: Judge) -> None:
    """B4: the client asked again by itself, after the assignment, and the commit had been acknowledged before."""
    verdict = judge(replayed(acknowledged=9.9))
    assert verdict.verdict is Outcome.VIOLATION
    assert told(verdict, "violation") == {"redelivery": 30}
    assert {row["committed"] for row in finding(verdict, "redelivery").evidence} == {30}


def test_a_commit_that_was_acknowledged_after_the_assignment_may_not_be_found(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Near misses: acknowledged too late, never, or by a probe that begins at the log's start when it comes."""
    asked = asking(spark, tmp_path, "redelivery")
    elsewhere = replayed(acknowledged=9.9)
    elsewhere.probes["reader"]["consume"]["start"] = "beginning"
    late, unsure = replayed(acknowledged=10.15), replayed(acknowledged=9.9, outcome="info", completed=None)
    for history in (late, unsure, elsewhere):
        assert {row["severity"] for row in asked(history)} == {"information"}

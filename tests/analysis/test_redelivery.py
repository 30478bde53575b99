"""B4: when a record was delivered again."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import another, asking, passed_on
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


def shared(*, found: int | None, second: str = "ok", apart: bool = True) -> History:
    """Two readers assign themselves the partition in one group: one commits 50 at 6 s, the other 20 at 7 s.

    The latter's next process is given records from 20 on again at 8.3 s; it finds ``found``, or has no answer if None.
    ``second`` is the outcome of the other's commit. Without ``apart`` both commits are on their way at once.
    """
    history = History(records=50)
    another(history)
    for probe in ("reader", "second"):
        history.probes[probe]["consume"]["assign"] = [0]
    history.add("assignments", probe="second", at=-5.9)
    history.add("fetched", probe="second", offset=None, invoked=-5.85, completed=-5.8)
    for offset in range(22):
        history.read(offset, -5 + offset / 2 + 0.02, probe="second")
    history.commit(50, 6.0, completed=6.1 if apart else 7.1)
    history.commit(20, 7.0, probe="second", outcome=second)
    passed_on(history, 8.0, found, how=None, probe="second", incarnation=1)
    if found is None:
        history.rows["fetched"].pop()
    for offset in range(20, 50):
        history.read(offset, 8.3 + offset / 2, probe="second", incarnation=1)
    return history


def severities(rows: list[dict[str, object]]) -> set[object]:
    """Those of records from 20 on."""
    return {row["severity"] for row in rows if int(str(row["offset"])) >= 20}


@pytest.mark.proves("redelivery", "near miss")
@pytest.mark.parametrize("found", [20, None])
def test_readers_that_share_a_group_commit_each_its_own(spark: SparkSession, tmp_path: Path, found: int | None) -> None:
    """B4: the newest commit is the second reader's 20, though 50 is higher: it found that, or was not answered."""
    assert severities(asking(spark, tmp_path, "redelivery")(shared(found=found))) == {"information"}


@pytest.mark.proves("redelivery", "no evidence")
def test_without_an_answer_two_commits_at_once_leave_it_open(spark: SparkSession, tmp_path: Path) -> None:
    """B4: either commit may have been the newest, 50 or 20."""
    assert severities(asking(spark, tmp_path, "redelivery")(shared(found=None, apart=False))) == {"unproven"}


@pytest.mark.proves("redelivery", "fires")
@pytest.mark.parametrize(("found", "second"), [(20, "fail"), (10, "ok"), (None, "fail")])
def test_readers_that_share_a_group_may_lose_a_commit(
    spark: SparkSession, tmp_path: Path, found: int | None, second: str
) -> None:
    """B4, near misses: the commit of 20 failed, so that 50 was the newest; or 10 was found, which nobody committed."""
    assert severities(asking(spark, tmp_path, "redelivery")(shared(found=found, second=second))) == {"violation"}


def answered(*, at: tuple[float, float], kind: str = "async") -> History:
    """The reader commits 20 and then 30, answered at two times; its next term, without an answer, reads from 25 on."""
    history = replayed(acknowledged=9.6, kind=kind)
    history.rows["commits"][0]["completed"] = ns(at[1])
    history.commit(20, 9.5, completed=at[0], kind=kind)
    history.rows["reads"] = [row for row in history.rows["reads"] if row["assignment"] == 0 or row["offset"] >= 25]
    return history


def test_answers_to_asynchronous_commits_come_in_any_order(spark: SparkSession, tmp_path: Path) -> None:
    """B4: 30 was asked for last, and answered first; who begins at 25 began below the newest commit."""
    asked = asking(spark, tmp_path, "redelivery")
    for at in ((9.55, 9.7), (9.8, 9.7)):
        assert severities(asked(answered(at=at))) == {"violation"}


def test_of_asynchronous_commits_the_one_asked_for_last_is_the_newest(spark: SparkSession, tmp_path: Path) -> None:
    """B4, near miss: 20 was asked for after 30, and answered before: who begins at 25 begins beyond it."""
    history = answered(at=(9.8, 9.9))
    history.change("commits", {"offset": 20}, invoked=ns(9.7))
    assert severities(asking(spark, tmp_path, "redelivery")(history)) == {"information"}


def from_the_beginning(*, assignment: int = 0) -> History:
    """A reader that begins at the log's start, and whose second process is never told where that is: it writes no seek.

    30 had been committed, and it found that as well. ``assignment``: of the term in which it reads from 0 on again.
    """
    history = History(records=50)
    history.probes["reader"]["consume"]["start"] = "beginning"
    history.commit(30, 9.9)
    passed_on(history, 10.0, 30)
    if assignment:
        history.add("assignments", at=10.5, incarnation=1, kind="revoke")
        history.add("assignments", at=10.6, incarnation=1, assignment=assignment)
        history.add("fetched", offset=30, invoked=10.61, completed=10.62, incarnation=1)
    for offset in range(50):
        history.read(offset, 10.7 + offset / 100, incarnation=1, assignment=assignment)
    return history


def test_who_begins_at_the_start_of_the_log_goes_back_to_it(spark: SparkSession, tmp_path: Path) -> None:
    """B4: the process was to begin there, whatever was committed, though no row tells where that was."""
    assert severities(asking(spark, tmp_path, "redelivery")(from_the_beginning())) == {"information"}


def test_who_begins_at_the_start_of_the_log_goes_back_once(spark: SparkSession, tmp_path: Path) -> None:
    """B4, near miss: given the partition a second time, the process had to begin at the committed offset."""
    assert "violation" in severities(asking(spark, tmp_path, "redelivery")(from_the_beginning(assignment=1)))


@pytest.mark.parametrize(("other", "severity"), [(True, "information"), (False, "violation")])
def test_a_commit_of_unknown_fate_explains_no_older_offset_of_its_own_member(
    spark: SparkSession, tmp_path: Path, severity: str, *, other: bool
) -> None:
    """B4: 20 had no answer, 30 was asked for after it and acknowledged, and 20 was found: 30 is lost.

    Near miss: another reader of the group asked for 20, after that.
    """
    history = shared(found=20, second="fail")
    history.commit(20, 6.5 if other else 5.5, probe="second" if other else "reader", outcome="info", completed=None)
    assert severities(asking(spark, tmp_path, "redelivery")(history)) == {severity}

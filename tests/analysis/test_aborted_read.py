"""A6: records that were shown although they failed for sure, or their transaction was aborted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking, glances
from analysis.history import History
from analysis.ways import finding, told

from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.mark.proves("aborted_read", "fires")
def test_a_record_that_failed_for_sure_and_is_in_the_log_is_a_violation(judge: Judge) -> None:
    """A6: the client says that the record was never sent, and it was read and audited."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, outcome="fail", error="_PURGE_QUEUE", offset=None)
    verdict = judge(history)
    assert told(verdict) == {"aborted_read": 1}
    (row,) = finding(verdict, "aborted_read").evidence
    assert {"kind": "failed", "seq": 20, "offset": 20, "error": "_PURGE_QUEUE", "txn": None}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION


@pytest.mark.proves("aborted_read", "near miss")
@pytest.mark.parametrize("seen", [True, False])
def test_an_uncertain_record_may_be_there_and_a_failed_one_is_nowhere(judge: Judge, seen: bool) -> None:  # noqa: FBT001
    """Near misses of A6: what timed out may have been written; what failed and nobody saw is as it should be."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, outcome="info" if seen else "fail", error="_MSG_TIMED_OUT", offset=None)
    if not seen:
        history.drop("reads", offset=20)
        history.drop("audit", offset=20)
    assert told(judge(history)) == {}


def in_transaction(outcome: str) -> History:
    """Record 20 was sent in a transaction with that outcome."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, txn="t-1")
    history.add("transactions", txn="t-1", initialized=-5.5, begun=4.9, ending=5.006, ended=5.6, outcome=outcome)
    return history


@pytest.mark.proves("aborted_read", "fires")
def test_an_aborted_record_that_a_careful_reader_was_given_is_a_violation(judge: Judge) -> None:
    """A6: its transaction was aborted, and read_committed shows it."""
    verdict = judge(in_transaction("aborted"))
    (row,) = finding(verdict, "aborted_read").evidence
    assert {"kind": "aborted", "seq": 20, "offset": 20, "txn": "t-1"}.items() <= row.items()
    assert told(verdict) == {"aborted_read": 1}


def test_what_failed_in_an_aborted_transaction_is_told_once(spark: SparkSession, tmp_path: Path) -> None:
    """A6: the send failed for sure and its transaction was aborted: it failed, whatever became of the others."""
    history = in_transaction("aborted")
    history.change("sends", {"seq": 20}, outcome="fail", error="_PURGE_QUEUE", offset=None)
    rows = asking(spark, tmp_path, "aborted_read")(history)
    assert [(row["kind"], row["seq"]) for row in rows] == [("failed", 20)]


@pytest.mark.proves("aborted_read", "no evidence")
@pytest.mark.parametrize("outcome", ["committed", "info"])
def test_a_transaction_that_may_have_committed_may_be_shown(judge: Judge, outcome: str) -> None:
    """Near miss: committed, or undecided and so proven by the reader."""
    assert told(judge(in_transaction(outcome))) == {}


def test_read_uncommitted_may_show_what_was_aborted(judge: Judge) -> None:
    """Near miss: only a careless reader and the audit at read_uncommitted were given it."""
    history = in_transaction("aborted")
    history.change("incarnations", {"probe": "reader"}, isolation="read_uncommitted")
    history.drop("audit", offset=20, isolation="read_committed")
    assert "aborted_read" not in told(judge(history))


def test_what_may_be_shown_is_not_looked_at_twice(tmp_path: Path) -> None:
    """The glance spares what only the careless saw; one aborted record of two that the careful audit found is seen."""
    history = in_transaction("aborted")
    history.change("sends", {"seq": 22}, txn="t-1")
    history.change("incarnations", {"probe": "reader"}, isolation="read_uncommitted")
    for offset in (20, 22):
        history.drop("audit", offset=offset, isolation="read_committed")
    assert not glances(tmp_path / "1", "aborted_read", history)
    history.add("audit", offset=20, seq=20, isolation="read_committed")
    assert glances(tmp_path / "2", "aborted_read", history)

"""C3 and A7: a transaction is there as a whole or not at all, and not before somebody asks to commit it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from analysis.asking import asking
from analysis.history import History, ns
from analysis.transactional import transactional
from analysis.ways import finding, told

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.checks.precommitted_read import PrecommittedRead
from chaosk.analysis.checks.torn_transaction import TornTransaction
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Severity

if TYPE_CHECKING:
    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def torn(outcome: str | None = "committed") -> History:
    """Record 25 is in a partition that nobody reads, and there the audit finds it only at read_uncommitted."""
    history = transactional()
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", partition=1, isolation=isolation, log_start=0, end=30, complete=True)
    history.change("sends", {"seq": 25}, partition=1)
    history.drop("reads", seq=25)
    history.drop("audit", seq=25)
    history.add("audit", partition=1, offset=25, seq=25, isolation="read_uncommitted")
    if outcome is None:
        history.drop("transactions", txn="t-2")
    else:
        history.change("transactions", {"txn": "t-2"}, outcome=outcome)
    return history


@pytest.mark.proves("torn_transaction", "fires")
@pytest.mark.parametrize("outcome", ["committed", "info", None])
def test_a_transaction_of_which_a_part_is_invisible_is_torn(judge: Judge, outcome: str | None) -> None:
    """C3: its other records prove that it was committed, whatever its client knew; the row names the missing one.

    That one is lost to careful readers as well, which is A4's to tell.
    """
    verdict = judge(torn(outcome))
    assert told(verdict)["torn_transaction"] == 1
    row = finding(verdict, "torn_transaction").evidence[0]
    assert (row["txn"], row["outcome"], row["visible"], row["missing"]) == ("t-2", outcome, 9, 1)
    assert (row["seq"], row["partition"], row["offset"]) == (25, 1, 25)


def test_what_only_a_careless_reader_had_is_looked_at(tmp_path: Path) -> None:
    """C3: a reader at read_uncommitted had the missing record, which makes it no less torn: the glance says so."""
    history = torn("committed")
    history.probes["careless"] = {"consume": {"topic": "orders"}}
    history.worker("careless", kind="consume", isolation="read_uncommitted")
    history.read(25, 9.0, probe="careless", group=None, partition=1)
    assert TornTransaction().glance(EventRows(read_case(history.write(tmp_path / "run"))))


@pytest.mark.proves("torn_transaction", "no evidence")
@pytest.mark.parametrize("how", ["unacknowledged", "beyond", "incomplete", "retention", "compacted"])
def test_what_need_not_be_visible_tears_nothing(judge: Judge, how: str) -> None:
    """Near misses: never acknowledged, beyond what the audit could read, not audited, deleted, compacted."""
    history = torn()
    if how == "unacknowledged":
        history.change("sends", {"seq": 25}, outcome="info", offset=None)
    elif how == "compacted":
        history.topic["config"] = {"cleanup.policy": "compact"}
    else:
        changes: dict[str, dict[str, Any]] = {
            "beyond": {"end": 25}, "incomplete": {"complete": False}, "retention": {"log_start": 26},
        }  # fmt: skip
        history.change("audit_ranges", {"partition": 1}, **changes[how])
    assert "torn_transaction" not in told(judge(history))


def test_a_torn_transaction_is_allowed_where_an_unclean_election_was(judge: Judge) -> None:
    """C3: the partition's log was cut back to what some other replica had; that it might be excuses nothing."""
    history = torn()
    history.topic["config"] = {"unclean.leader.election.enable": True}
    assert finding(judge(history), "torn_transaction").severity is Severity.VIOLATION
    history.elect_uncleanly(19)
    assert finding(judge(history), "torn_transaction").severity is Severity.VIOLATION, "in another partition"
    history.each("partitions", lambda row: row | {"partition": 1})
    assert finding(judge(history), "torn_transaction").severity is Severity.ALLOWED


@pytest.mark.proves("torn_transaction", "fires")
@pytest.mark.parametrize(("outcome", "missing"), [("committed", 1), ("info", 0)])
def test_a_committed_transaction_that_is_gone_as_a_whole(judge: Judge, outcome: str, missing: int) -> None:
    """C3: all of its records timed out and are nowhere; its client was told that they are committed, or was not.

    A commit waits for all records, so that a committed transaction has none of uncertain fate.
    """
    history = transactional()
    history.change("transactions", {"txn": "t-2"}, outcome=outcome)
    for seq in range(20, 30):
        history.change("sends", {"seq": seq}, outcome="info", error="_MSG_TIMED_OUT", offset=None)
        history.drop("reads", seq=seq)
        history.drop("audit", seq=seq)
    verdict = judge(history)
    assert told(verdict).get("torn_transaction", 0) == missing
    if missing:
        row = finding(verdict, "torn_transaction").evidence[0]
        assert (row["txn"], row["visible"], row["missing"]) == ("t-2", 0, 10)


@pytest.mark.proves("torn_transaction", "near miss")
def test_an_undecided_transaction_of_which_nothing_is_visible_is_whole(judge: Judge) -> None:
    """Near miss of C3: all or nothing, and this is nothing."""
    history = transactional()
    history.change("transactions", {"txn": "t-2"}, outcome="info")
    for seq in range(20, 30):
        history.drop("reads", seq=seq)
        history.drop("audit", seq=seq, isolation="read_committed")
    assert told(judge(history)) == {}


# --- A7 ---------------------------------------------------------------------------------------------------------------


def early(outcome: str = "committed") -> History:
    """Record 25 was read before its transaction, which ended at 9.5 s, was asked to end."""
    history = transactional()
    (row,) = history.drop("reads", seq=25)
    history.rows["reads"].append(row | {"at": ns(9.0)})
    history.change("transactions", {"txn": "t-2"}, outcome=outcome)
    return history


@pytest.mark.proves("precommitted_read", "fires")
@pytest.mark.parametrize("outcome", ["committed", "info"])
def test_a_record_read_before_its_commit_was_asked_for(judge: Judge, outcome: str) -> None:
    """A7: a reader at read_committed has it while its transaction is still open."""
    verdict = judge(early(outcome))
    assert told(verdict) == {"precommitted_read": 1}
    row = finding(verdict, "precommitted_read").evidence[0]
    assert (row["seq"], row["txn"], row["at"], row["outcome"]) == (25, "t-2", ns(9.0), outcome)


def test_a_careless_reader_may_read_what_is_open(judge: Judge) -> None:
    """Near miss of A7: at read_uncommitted that is what one asks for."""
    history = early()
    history.change("incarnations", {"probe": "reader"}, isolation="read_uncommitted")
    assert told(judge(history)) == {}


@pytest.mark.proves("precommitted_read", "near miss")
def test_a_read_between_the_call_and_its_return_is_right(judge: Judge) -> None:
    """Near miss of A7: the commit takes effect before its caller hears of it."""
    history = early()
    history.change("reads", {"seq": 25}, at=ns(9.505))
    history.change("transactions", {"txn": "t-2"}, ending=ns(9.504), ended=ns(9.6))
    assert told(judge(history)) == {}


@pytest.mark.proves("precommitted_read", "no evidence")
def test_a_transaction_of_a_killed_process_may_have_been_committed_in_time(judge: Judge) -> None:
    """A7 without evidence: the process was killed before it could write down when it asked for the commit."""
    history = early()
    history.drop("transactions", txn="t-2")
    assert "precommitted_read" not in told(judge(history))


@pytest.mark.parametrize("ending", ["info", None])
def test_a_record_of_unknown_fate_that_is_visible_proves_the_commit_as_well(
    spark: SparkSession, tmp_path: Path, ending: str | None
) -> None:
    """C3: of a transaction that nobody knows the end of, only the record that timed out can be read."""
    history = transactional()
    history.change("transactions", {"txn": "t-2"}, outcome="info")
    if ending is None:
        history.drop("transactions", txn="t-2")
    history.change("sends", {"seq": 25}, outcome="info", error="_MSG_TIMED_OUT", offset=None)
    for seq in {*range(20, 30)} - {25}:
        history.drop("reads", seq=seq)
        history.drop("audit", seq=seq, isolation="read_committed")
    (row,) = asking(spark, tmp_path, "torn_transaction")(history)
    assert (row["txn"], row["visible"], row["missing"]) == ("t-2", 1, 9)


def test_transactions_without_a_send_are_no_reason_to_stumble(tmp_path: Path) -> None:
    """A7: an application that was given only records of others wrote nothing, and nothing was read too early."""
    history = History()
    history.add("transactions", txn="t", initialized=-5, begun=1, ending=2, ended=3, outcome="committed")
    history.read(0, 1.5, producer=None, producer_incarnation=None, seq=None, intact=False)
    assert not PrecommittedRead().glance(EventRows(read_case(history.write(tmp_path / "run"))))

"""C1 and C5: what a client may do after another one has taken over its transactional.id, which is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking, glances
from analysis.history import History, ns
from analysis.transactional import successor, transactional
from analysis.ways import finding, guards, told

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.checks.fenced_late import FencedLate
from chaosk.analysis.checks.precommitted_read import PrecommittedRead
from chaosk.analysis.checks.torn_transaction import TornTransaction
from chaosk.analysis.checks.zombie_write import ZombieWrite
from chaosk.analysis.glances.rows import EventRows

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

AFTER = 20.4
"""Seconds: after all that the writer sent."""


def taken_over() -> History:
    """The writer's fifty records, then one of its successor."""
    history = transactional()
    successor(history, 0, AFTER, 50)
    return history


@pytest.mark.parametrize("make", [transactional, taken_over, lambda: History(records=20)])
def test_a_flawless_run_is_not_looked_at_twice(make: type[History], tmp_path: Path) -> None:
    """The glances of the rules about transactions promise that there is nothing."""
    rows = EventRows(read_case(make().write(tmp_path / "run")))
    assert [kind().glance(rows) for kind in (ZombieWrite, FencedLate, TornTransaction, PrecommittedRead)] == [False] * 4


@pytest.mark.proves("fenced_late", "near miss")
@pytest.mark.spark
def test_one_client_after_the_other_is_right(judge: Judge) -> None:
    """Near miss of C1 and C5: the older client had ended all it did when the newer one began."""
    assert told(judge(taken_over())) == {}


@pytest.mark.proves("zombie_write", "near miss")
@pytest.mark.parametrize("turned", [False, True])
def test_who_writes_without_transactions_has_no_successor(tmp_path: Path, *, turned: bool) -> None:
    """Near miss of C1: a record of nobody's transaction, sent after one client had taken over from the other."""
    history = taken_over()
    history.send(100, AFTER + 0.3, offset=51)
    if turned:
        history.rows["transactions"].reverse()
    assert not glances(tmp_path, "zombie_write", history)


def zombie(history: History, outcome: str, *, audited: bool, at: float = AFTER + 0.1) -> None:
    """A record of the older client in a transaction of its own, at offset 51."""
    acked = 51 if outcome == "ok" else None
    history.send(50, at, outcome=outcome, offset=acked, txn="t-late", producer_epoch=0)
    history.add("transactions", txn="t-late", initialized=-5.9, begun=at, ending=AFTER + 0.2, outcome="info")
    if audited:
        history.audit(51, seq=50)
        history.read(51, AFTER + 0.5, seq=50)


@pytest.mark.proves("zombie_write", "fires")
@pytest.mark.spark
@pytest.mark.parametrize(("outcome", "audited"), [("ok", True), ("ok", False), ("info", True)])
def test_a_record_sent_after_the_successor_began_is_a_zombies(judge: Judge, outcome: str, *, audited: bool) -> None:
    """C1: acknowledged, or there at read_committed, though its client was fenced before it was sent."""
    history = taken_over()
    zombie(history, outcome, audited=audited)
    verdict = judge(history)
    assert told(verdict)["zombie_write"] == 1  # where it is not in the log A15 tells of it, too
    row = finding(verdict, "zombie_write").evidence[0]
    assert (row["kind"], row["producer"], row["seq"], row["succeeded"]) == ("late", "writer", 50, ns(AFTER - 0.5))


@pytest.mark.proves("zombie_write", "no evidence")
@pytest.mark.spark
@pytest.mark.parametrize("outcome", ["fail", "info"])
def test_an_attempt_of_a_zombie_that_got_nowhere_is_right(judge: Judge, outcome: str) -> None:
    """Near miss of C1: it tried, and that is nowhere: exactly what fencing is for."""
    history = taken_over()
    zombie(history, outcome, audited=False)
    assert told(judge(history)) == {}


@pytest.mark.spark
@pytest.mark.parametrize("before", [0.1, 0.0])
def test_a_record_behind_the_successors_is_a_zombies_even_if_it_was_sent_before(judge: Judge, before: float) -> None:
    """C1: what the older client left open was aborted before the newer one began, so it cannot stand behind it."""
    history = taken_over()
    zombie(history, "info", audited=True, at=AFTER - 0.5 - before)
    verdict = judge(history)
    assert told(verdict) == {"zombie_write": 1}
    assert finding(verdict, "zombie_write").evidence[0]["kind"] == "overtaken"


@pytest.mark.proves("zombie_write", "near miss")
@pytest.mark.spark
def test_an_aborted_record_behind_the_successors_is_right(judge: Judge, tmp_path: Path) -> None:
    """Near miss of C1: in the log, but not at read_committed: an append raced, and was aborted. A glance sees that."""
    history = taken_over()
    zombie(history, "info", audited=True, at=AFTER - 0.6)
    history.drop("audit", offset=51, isolation="read_committed")
    history.drop("reads", offset=51)
    assert told(judge(history)) == {}
    assert not glances(tmp_path, "zombie_write", history)


@pytest.mark.proves("fenced_late", "fires")
@pytest.mark.spark
def test_a_commit_after_the_successor_began_is_one_too_many(judge: Judge) -> None:
    """C5: the transaction was open when the newer client took over, which aborts it; yet its commit went well."""
    history = taken_over()
    history.change("transactions", {"txn": "t-4"}, ending=ns(AFTER + 0.3), ended=ns(AFTER + 0.4))
    history.each(
        "reads", lambda row: row | {"at": max(row["at"], ns(AFTER + 0.5)) if row["offset"] >= 40 else row["at"]}
    )
    verdict = judge(history)
    assert told(verdict) == {"fenced_late": 1}
    row = finding(verdict, "fenced_late").evidence[0]
    assert (row["txn"], row["producer"], row["records"]) == ("t-4", "writer", 10)


@pytest.mark.proves("fenced_late", "near miss")
@pytest.mark.spark
def test_a_commit_that_was_asked_for_as_the_successor_began_is_in_time(judge: Judge) -> None:
    """Near miss of C5: at the same nanosecond, not after it."""
    history = taken_over()
    history.change("transactions", {"txn": "t-4"}, ending=ns(AFTER - 0.5), ended=ns(AFTER - 0.4))
    history.each("reads", lambda row: row | ({"at": ns(AFTER + 0.5)} if row["offset"] >= 40 else {}))
    assert told(judge(history)) == {}


@pytest.mark.proves("fenced_late", "no evidence")
@pytest.mark.spark
@pytest.mark.parametrize("outcome", ["info", "committed"])
def test_an_undecided_or_an_empty_transaction_is_not_held_against_a_zombie(judge: Judge, outcome: str) -> None:
    """Near miss of C5: nobody knows, or nothing was in it and no broker was asked."""
    history = taken_over()
    history.add("transactions", txn="t-5", initialized=-5.9, begun=20, ending=AFTER + 0.3, outcome=outcome)
    assert told(judge(history)) == {}


@pytest.mark.proves("fenced_late", "near miss")
@pytest.mark.spark
def test_only_what_was_committed_too_late_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """C5 without its glance: in time, of unknown fate, with no acknowledged record in it, and with one."""
    asked = asking(spark, tmp_path, "fenced_late")
    history = taken_over()
    history.change("transactions", {"txn": "t-4"}, ending=ns(AFTER - 0.5), ended=ns(AFTER + 0.4))
    assert asked(history) == []
    history.change("transactions", {"txn": "t-4"}, ending=ns(AFTER + 0.3), outcome="info")
    assert asked(history) == []
    history.change("transactions", {"txn": "t-4"}, outcome="committed")
    history.change("sends", {"txn": "t-4"}, outcome="fail", offset=None)
    assert asked(history) == []
    history.change("sends", {"seq": 45}, outcome="ok", offset=45)
    assert [(row["txn"], row["records"]) for row in asked(history)] == [("t-4", 1)]


@pytest.mark.spark
def test_a_fenced_process_is_not_missed(judge: Judge) -> None:
    """A producer that was fenced sends no more; no guard asks it for progress then, but asks its successor."""
    history = transactional(each=5)
    for seq in range(20, 50):
        for table in ("sends", "reads", "audit"):
            history.drop(table, seq=seq)
    for number in range(4, 10):
        history.drop("transactions", txn=f"t-{number}")
    successor(history, 0, 15, 50)
    history.send(20, 5.0, txn="t-4", outcome="info", offset=None)
    history.add("transactions", txn="t-4", initialized=-5.9, begun=4.9, ending=5.1, ended=5.1, outcome="info")
    history.add("errors", probe="writer", incarnation=0, at=5.1, error="_FENCED", message="fenced", fatal=True)
    assert guards(judge(history)) == set()


def at_once(*, started: float = 11.5, fenced: float = 12.035, acknowledged: bool = False) -> History:
    """Clients ``a`` and ``b`` initialize one id; the answer to ``a``, at 12.0 s, comes after that to ``b``, at 11.9 s.

    ``a`` is fenced at its first record, and ``b`` writes eight records from 12.05 s on.
    """
    history = transactional(50)
    for name in ("a", "b"):
        history.probes[name] = {"produce": {"topic": "orders", "rate": "1/s", "transaction": {"id": "u"}}}
        since = started if name == "a" else 11.5
        history.worker(name, started=since, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
        history.record["probes"].append({"probe": name, "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    fate = {"outcome": "ok", "offset": 70} if acknowledged else {"outcome": "info", "error": "_FENCED", "offset": None}
    history.send(0, 12.02, probe="a", txn="a-0", producer_epoch=0, **fate)
    history.add("transactions", probe="a", txn="a-0", transactional_id="u", initialized=12.0, begun=12.01, ending=12.03,
                ended=12.04, outcome="aborted")  # fmt: skip
    history.add("errors", probe="a", incarnation=0, at=fenced, error="_FENCED", message="fenced", fatal=True)
    for number in range(8):
        at, name = 12.05 + number, f"b-{number}"
        history.send(number, at, probe="b", offset=60 + number, txn=name, producer_epoch=0)
        history.add("transactions", probe="b", txn=name, transactional_id="u", initialized=11.9, begun=at,
                    ending=at + 0.2, ended=at + 0.3, outcome="committed")  # fmt: skip
        history.audit(60 + number, producer="b", seq=number)
    return history


def third(history: History) -> History:
    """One more client initialized the id between, and is gone."""
    history.worker("c", started=11.6, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.add("transactions", probe="c", txn="c-0", transactional_id="u", initialized=12.02, begun=12.03,
                ending=12.04, ended=12.05, outcome="aborted")  # fmt: skip
    return history


@pytest.mark.spark
@pytest.mark.parametrize("check", ["zombie_write", "fenced_late"])
def test_a_client_that_was_fenced_by_the_one_before_is_no_successor(
    spark: SparkSession, tmp_path: Path, check: str
) -> None:
    """Near miss of C1 and C5: both initialized the id at nearly the same time, and the late answer is the first."""
    asked = asking(spark, tmp_path, check)
    assert asked(at_once()) == []


@pytest.mark.spark
@pytest.mark.parametrize(
    "history",
    [at_once(started=11.95), at_once(acknowledged=True), third(at_once())],
    ids=["started later", "acknowledged", "fenced by a third one"],
)
def test_a_client_that_may_have_fenced_the_one_before_is_its_successor(
    spark: SparkSession, tmp_path: Path, history: History
) -> None:
    """C1: it began after the other one's initialization, or could write, or one more client may have fenced it."""
    rows = asking(spark, tmp_path, "zombie_write")(history)
    assert {row["producer"] for row in rows} == {"b"}
    assert len(rows) == 8

"""What a run shows for an excuse, or does not: records that are gone or were never given, and rightly so or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from analysis.conftest import Judge
from analysis.history import History, Row, ns
from analysis.transactional import transactional
from analysis.ways import guards, told

from chaosk.rundir.verdict import Outcome, Verdict

pytestmark = pytest.mark.spark

CHECKS = ("lost", "unseen", "poll_skip", "unknown_value", "torn_transaction", "duplicate_in_log", "commit_skip")
"""Those that are asked here."""


def settings(history: History, at: float = -6, **values: object) -> None:
    """What a broker reported of the topic at a moment."""
    for name, value in values.items():
        history.add("topic_settings", at=at, name=name.replace("_", "."), value=str(value))


def reasons(verdict: Verdict, kind: str) -> set[str]:
    """The reasons that the readers' accounts give for what was ``excused`` or ``not_judged``."""
    return {why for account in verdict.ledger if account.reader for why in getattr(account, kind)}


def without(history: History, table: str, gone: Callable[[Row], bool]) -> None:
    """The history without some rows of a table."""
    history.rows[table] = [row for row in history.rows[table] if not gone(row)]


@pytest.mark.proves("unseen", "no evidence")
def test_a_committed_offset_beyond_the_log_excuses_nothing_that_was_sent_later(judge: Judge) -> None:
    """The group found offset 3 before anything was sent, and nobody had committed it: three records are open."""
    history = History(records=50)
    history.rows["fetched"].clear()
    history.add("fetched", offset=3, invoked=-5.85, completed=-5.8)
    without(history, "reads", lambda row: row["offset"] < 3)
    verdict = judge(history)
    assert (verdict.verdict, guards(verdict)) == (Outcome.INCONCLUSIVE, {"unseen_unproven", "foreign_commit"})
    assert reasons(verdict, "excused") == set()


@pytest.mark.proves("unseen", "no evidence")
def test_an_end_beyond_the_log_excuses_nothing_that_was_sent_later(judge: Judge) -> None:
    """A group that begins at the end was told 3, and the log was empty: what was sent to 0, 1 and 2 then is open."""
    history = History(records=50)
    history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
    history.add("seeks", offset=3, at=-5.75, kind="reset")
    without(history, "reads", lambda row: row["offset"] < 3)
    assert guards(judge(history)) == {"unseen_unproven"}


def test_records_that_waited_before_a_step_ended_the_reader_are_open(judge: Judge) -> None:
    """The reader was given nothing from -4 s on, and a step ended it at 19.9 s: only what came just then is excused."""
    history = History(records=50)
    without(history, "reads", lambda row: row["at"] >= ns(-4))
    history.record["probes"][0] |= {"ended_by": "step"}
    history.change("ends", {"probe": "reader"}, at=ns(19.9))
    verdict = judge(history)
    (account,) = [each for each in verdict.ledger if each.reader]
    assert (sum(account.excused.values()), sum(account.not_judged.values())) == (10, 38)
    assert verdict.verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("healed", "outcome"), [(17.0, "not judged"), (5.1, "violation")])
def test_nobody_need_hold_a_partition_while_a_fault_lasts(judge: Judge, healed: float, outcome: str) -> None:
    """Lost at 4 s and held by nobody until 20 s, with time-outs of 12 s: too long from 5.1 s on, and not from 17 s."""
    history = History(records=50)
    history.probes["reader"]["consume"]["config"] = {"session.timeout.ms": 6_000, "max.poll.interval.ms": 6_000}
    history.each("faults", lambda row: row | {"heal_invoked": ns(healed - 1), "healed": ns(healed)})
    without(history, "reads", lambda row: row["at"] >= ns(4))
    history.add("assignments", at=4.0, kind="lost")
    assert ("unseen" in told(judge(history), "violation")) is (outcome == "violation")


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize("other", [False, True], ids=["a hole", "another record"])
def test_no_election_takes_a_record_from_the_middle_of_a_log(judge: Judge, other: bool) -> None:  # noqa: FBT001
    """acks=1, and another leader at 12 s: that of epoch 3 wrote what stands before offset 20 and behind it.

    Where another record stands there, the acknowledged one gave way to it.
    """
    history = History(records=50, acks=1)
    for table in ("reads", "audit"):
        history.drop(table, offset=20)
    if other:
        history.send(50, 5.01, offset=None, outcome="info")
        history.audit(20, seq=50)
    history.elect(12)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["offset"] < 34 else 4})
    assert ("lost" in told(judge(history))) is not other


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(("sent", "excused"), [(50, True), (7, False)], ids=["large enough", "too small"])
def test_a_size_excuses_what_the_log_had_reached_when_the_record_was_deleted(
    judge: Judge,
    sent: int,
    excused: bool,  # noqa: FBT001
) -> None:
    """retention.bytes are 16 records. The log began at 5 when it had ``sent``, and has 50 in the end."""
    history = History(records=50)
    settings(history, cleanup_policy="delete", retention_ms=-1, retention_bytes=5_000)
    history.each("offsets", lambda row: row | ({"log_start": 5, "log_end": sent} if row["at"] >= ns(-2) else {}))
    without(history, "audit", lambda row: row["offset"] < 5)
    history.each("audit_ranges", lambda row: row | {"log_start": 5})
    assert ("lost" in told(judge(history))) is not excused


@pytest.mark.proves("unknown_value", "fires")
def test_a_record_that_a_process_did_not_send_is_a_violation(judge: Judge) -> None:
    """The writer ended cleanly and tells of fifty records; a whole one of its number 777 is read and audited."""
    history = History(records=50)
    history.read(50, 19.9, seq=777)
    history.audit(50, seq=777)
    verdict = judge(history)
    assert told(verdict) == {"unknown_value": 1}
    (finding,) = [each for each in verdict.findings if each.check == "unknown_value"]
    assert finding.evidence[0]["kind"] == "unsent"


@pytest.mark.proves("unknown_value", "fires")
@pytest.mark.parametrize("sure", [True, False], ids=["acknowledged", "uncertain"])
def test_a_record_in_another_partition_than_it_was_sent_to_is_a_violation(
    judge: Judge,
    sure: bool,  # noqa: FBT001
) -> None:
    """Sent to partition 0 without idempotence, and found in partition 1 alone: no retry of a client goes there."""
    history = History(records=50, idempotent=False)
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=1, complete=True)
    for table in ("partitions", "offsets"):
        history.rows[table] += [row | {"partition": 1} for row in history.rows[table]]
    history.add("assignments", at=-5.9, partition=1)
    history.add("fetched", partition=1, offset=None, invoked=-5.85, completed=-5.8)
    for table in ("reads", "audit"):
        history.drop(table, seq=20)
    history.audit(0, seq=20, partition=1)
    history.read(0, 5.1, seq=20, partition=1)
    if not sure:
        history.change("sends", {"seq": 20}, outcome="info", offset=None)
    verdict = judge(history)
    assert (told(verdict, "violation"), verdict.verdict) == ({"unknown_value": 1}, Outcome.VIOLATION)


@pytest.mark.proves("poll_skip", "near miss")
@pytest.mark.parametrize("kept", [False, True], ids=["gone in the end", "still there"])
def test_who_reads_late_is_not_given_what_compaction_removed(judge: Judge, kept: bool) -> None:  # noqa: FBT001
    """A second group jumps over 11 to 13, which the first one was given: right, unless they are there in the end.

    It comes to 14 at 7 s, when a later record of each of the keys had been sent.
    """
    history = compacting(History(records=50))
    history.probes["slow"] = {"consume": {"topic": "orders", "group": "slow"}}
    history.worker("slow", kind="consume", group="slow", isolation="read_committed", commit="sync")
    history.record["probes"].append({"probe": "slow", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    who: Row = {"probe": "slow", "group": "slow"}
    history.add("assignments", at=-5.9, **who)
    history.add("fetched", offset=None, invoked=-5.85, completed=-5.8, **who)
    for offset in (*range(11), *range(14, 50)):
        history.read(offset, -4.9 + offset / 2 if offset < 14 else max(7, -4.9 + offset / 2), **who)
    for number in range(50):
        history.add("polls", probe="slow", poll=200_000 + number, invoked=-5 + number / 2, completed=-4.9 + number / 2)
    for offset in () if kept else (11, 12, 13):
        history.drop("audit", offset=offset)
    verdict = judge(history)
    assert ("poll_skip" in told(verdict)) is kept
    assert kept or verdict.verdict is Outcome.PASS


def compacting(history: History) -> History:
    """The same of a topic that keeps the latest record of each of ten keys."""
    history.topic["config"]["cleanup.policy"] = "compact"
    history.probes["writer"]["produce"]["keys"] = 10
    settings(history, cleanup_policy="compact", retention_ms=-1, retention_bytes=-1)
    return history


@pytest.mark.proves("lost", "near miss")
def test_compaction_removes_the_records_of_aborted_transactions(judge: Judge) -> None:
    """A reader at read_uncommitted was given two of them, and in the end they are nowhere: nothing was lost."""
    history = compacting(transactional(each=2))
    history.probes["writer"]["produce"]["keys"] = "sequence"
    history.change("incarnations", {"probe": "reader"}, isolation="read_uncommitted")
    history.change("transactions", {"txn": "t-5"}, outcome="aborted")
    for seq in (10, 11):
        history.drop("audit", seq=seq)
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)


@pytest.mark.proves("torn_transaction", "near miss")
def test_a_step_that_compacts_a_topic_tears_no_transaction(judge: Judge) -> None:
    """Brokers reported from 6 s on that the topic is compacted: of a transaction one record was replaced by a later."""
    history = transactional(each=2)
    history.probes["writer"]["produce"]["keys"] = 10
    settings(history, cleanup_policy="delete", retention_ms=-1, retention_bytes=-1)
    settings(history, at=6, cleanup_policy="compact")
    history.change("incarnations", {"probe": "reader"}, isolation="read_uncommitted")
    history.drop("audit", offset=12)
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)


@pytest.mark.proves("torn_transaction", "fires")
def test_a_committed_transaction_has_no_uncertain_record(judge: Judge) -> None:
    """Its client was told that all is committed; one record of it had timed out, and is nowhere."""
    history = transactional(each=2)
    history.change("sends", {"seq": 15}, outcome="info", error="_MSG_TIMED_OUT", offset=None)
    for table in ("reads", "audit"):
        history.drop(table, seq=15)
    assert told(judge(history)) == {"torn_transaction": 1}


@pytest.mark.proves("lost", "no evidence")
def test_an_uncertain_record_at_read_committed_alone_is_open(judge: Judge) -> None:
    """What read_committed shows read_uncommitted shows as well: that pass of the audit lacks rows."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, outcome="info", error="_MSG_TIMED_OUT", offset=None)
    history.drop("audit", seq=20, isolation="read_uncommitted")
    assert guards(judge(history)) == {"lost_unproven"}

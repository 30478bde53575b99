"""A record that left the log after a reader had passed it: its removal excuses the log, and not that reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.asking import Asked, another, asking, reads_of
from analysis.conftest import Judge
from analysis.history import History, ns
from analysis.remade import remade
from analysis.test_ledger import deleted, settings
from analysis.ways import finding, told
from pyspark.sql import SparkSession

from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark


@pytest.fixture
def unseen(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks A5 alone."""
    return asking(spark, tmp_path, "unseen")


def passed(rows: list[dict[str, object]]) -> list[tuple[object, object]]:
    """Sequence number and severity of each row."""
    return [(row["seq"], row["severity"]) for row in rows]


# --- deletion ---------------------------------------------------------------------------------------------------------


def retained(at: float) -> History:
    """Records 0 to 4 are deleted by age from ``at`` on."""
    return deleted(settings(History(records=50), cleanup_policy="delete", retention_ms=1000, retention_bytes=-1), 5, at)


def test_a_deletion_does_not_excuse_who_had_skipped_the_record_before(judge: Judge) -> None:
    """Record 3 was skipped at -2.99 s, and the log still began at 0 until 5 s."""
    history = retained(5)
    history.drop("reads", offset=3)
    verdict = judge(history)
    assert verdict.verdict is Outcome.VIOLATION
    assert told(verdict, "violation") == {"unseen": 1}
    assert finding(verdict, "unseen").evidence[0]["offset"] == 3


def test_a_deletion_excuses_who_came_after_it(unseen: Asked) -> None:
    """Near miss: the start had moved when the reader got beyond record 3, or within the samples' uncertainty."""
    for at in (-3.2, 1.5):
        history = retained(at)
        history.drop("reads", offset=3)
        assert passed(unseen(history)) == []


def test_a_deletion_at_an_unknown_time_excuses(unseen: Asked) -> None:
    """Near miss: no leader ever reported where its log began."""
    history = retained(5)
    history.each("offsets", lambda row: row | {"leader": False})
    history.drop("reads", offset=3)
    assert passed(unseen(history)) == []


def test_a_record_that_was_lost_before_its_place_was_deleted_is_excused_by_that_loss(unseen: Asked) -> None:
    """Near miss: with acks=1 a new leader at -2.9 s lacks record 4, which its own leader alone had."""
    history = History(records=50, acks=1)
    settings(history, cleanup_policy="delete", retention_ms=1000, retention_bytes=-1)
    history.elect(-2.9)
    deleted(history, 5, 5)
    history.drop("reads", offset=4)
    assert passed(unseen(history)) == []


def slow_group(history: History) -> History:
    """A second group reads all records but 3."""
    history.probes["slow"] = {"consume": {"topic": "orders", "group": "slow"}}
    history.worker("slow", kind="consume", group="slow", isolation="read_committed", commit="sync")
    history.record["probes"].append({"probe": "slow", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    who = {"probe": "slow", "group": "slow"}
    history.add("assignments", at=-5.9, **who)
    history.add("fetched", offset=None, invoked=-5.85, completed=-5.8, **who)
    for offset in range(50):
        if offset != 3:
            history.read(offset, -5 + offset / 2 + 0.012, **who)
    return history


def test_a_jump_over_a_record_that_was_deleted_later_is_a_violation(spark: SparkSession, tmp_path: Path) -> None:
    """B1: another group was given record 3, and the log began at 0 until 5 s; near miss: it did until 1 s only."""
    asked = asking(spark, tmp_path, "poll_skip")
    (row,) = asked(slow_group(retained(5)))
    assert (row["probe"], row["before"], row["skipped"], row["severity"]) == ("slow", 2, 3, "violation")
    assert asked(slow_group(retained(1))) == []


def test_a_start_that_moved_later_excuses_no_jump(spark: SparkSession, tmp_path: Path) -> None:
    """B7: a member found 3 at -3.28 s and began at 5, and the log began at 0 until 8 s; near miss: until -1 s."""
    asked = asking(spark, tmp_path, "reset_jump")

    def jump(at: float) -> History:
        history = slow_group(retained(at))
        history.commit(3, -3.45)
        history.add("assignments", at=-3.4, kind="revoke")
        history.add("assignments", at=-3.3, assignment=1)
        history.add("fetched", offset=3, invoked=-3.29, completed=-3.28)
        history.drop("reads", offset=3, probe="reader")
        history.drop("reads", offset=4, probe="reader")
        history.each(
            "reads", lambda row: row | ({"assignment": 1} if row["probe"] == "reader" and row["offset"] >= 5 else {})
        )
        return history

    assert [(row["kind"], row["severity"], row["skipped"]) for row in asked(jump(8))] == [("later", "violation", 4)]
    assert [(row["kind"], row["severity"]) for row in asked(jump(-1))] == [("later", "information")]


# --- compaction -------------------------------------------------------------------------------------------------------


def compacted() -> History:
    """Ten keys in turn; the cleaner has removed record 20, whose key comes again in record 30 at 10 s."""
    history = History(records=50)
    history.probes["writer"]["produce"]["keys"] = 10
    settings(history, cleanup_policy="compact", retention_ms=-1, retention_bytes=-1)
    history.drop("audit", offset=20)
    history.drop("reads", offset=20)
    return history


def test_compaction_does_not_excuse_who_had_skipped_the_latest_record_of_its_key(judge: Judge) -> None:
    """Record 20 was skipped at 5.51 s."""
    verdict = judge(compacted())
    assert verdict.verdict is Outcome.VIOLATION
    assert told(verdict, "violation") == {"unseen": 1}


def test_compaction_excuses_who_came_after_a_later_record_of_the_key(unseen: Asked) -> None:
    """Near misses: the reader came to 21 when 30 had been sent, or an attempt of the key may have been written."""
    history = compacted()
    history.each("reads", lambda row: row | ({"at": max(row["at"], ns(10.2))} if row["offset"] > 20 else {}))
    assert passed(unseen(history)) == []
    history = compacted()
    history.send(60, 5.2, offset=None, outcome="info", completed=15)
    assert passed(unseen(history)) == []


# --- truncation -------------------------------------------------------------------------------------------------------


def truncated() -> History:
    """An unclean election at 12 s cut the log back to 30; the reader had been given all of 30 to 33 before."""
    history = History(records=50)
    history.topic["config"]["min.insync.replicas"] = 1
    history.elect_uncleanly(12)
    for seq in range(30, 34):
        history.drop("audit", seq=seq)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["seq"] < 34 else 5})
    for table in ("sends", "reads", "audit"):
        history.each(table, lambda row: row | {"offset": row["offset"] - 4 * (row["seq"] >= 34)})
    return history


def test_a_truncation_does_not_excuse_who_had_skipped_the_record_in_the_old_log(judge: Judge) -> None:
    """Record 31 was skipped: the reader was given 32 and 33, of the old leader's epoch, and they are cut, too."""
    history = truncated()
    history.drop("reads", seq=31)
    verdict = judge(history)
    assert verdict.verdict is Outcome.VIOLATION
    assert told(verdict, "violation") == {"unseen": 1}


def test_a_truncation_excuses_who_had_not_come_so_far(judge: Judge) -> None:
    """Near miss: the reader was given nothing of what was cut, and went on in the new log."""
    history = truncated()
    for seq in range(31, 34):
        history.drop("reads", seq=seq)
    assert judge(history).verdict is Outcome.PASS


# --- a topic that is made again ---------------------------------------------------------------------------------------


def test_a_deleted_topic_does_not_excuse_who_had_skipped_a_record_of_it(judge: Judge) -> None:
    """Record 40 was sent at -1 s and skipped, and the topic was deleted at 1 s."""
    history = remade()
    another(history, "other", group="others")
    history.probes["other"] = {"consume": {"topic": "orders", "group": "others"}}
    for table in ("assignments", "fetched", "reads"):
        history.rows[table] += [row | {"probe": "other", "group": "others"} for row in history.rows[table]]
    history.drop("reads", seq=40, probe="reader")
    assert told(judge(history), "violation") == {"unseen": 1, "poll_skip": 1}


def test_a_deleted_topic_excuses_who_had_not_come_so_far(unseen: Asked) -> None:
    """Near miss: the reader stopped at record 70, which was sent at 2 s, and went on in the new topic."""
    history = remade()
    for seq in range(71, 80):
        history.drop("reads", seq=seq)
    assert passed(unseen(history)) == []


# --- who went on ------------------------------------------------------------------------------------------------------


def test_a_killed_process_may_have_had_what_was_deleted_later(unseen: Asked) -> None:
    """Without the evidence: a process was killed with record 3 in its hands, and the next one went on at 4."""
    history = retained(5)
    history.drop("reads", offset=3)
    history.drop("ends", probe="reader")
    history.worker("reader", 1, started=-2.9, kind="consume", group="readers", isolation="read_committed")
    history.add("assignments", at=-2.8, incarnation=1)
    history.add("fetched", offset=4, invoked=-2.79, completed=-2.78, incarnation=1)
    reads_of(history, 4, incarnation=1)
    history.each("reads", lambda row: row | {"at": max(row["at"], ns(-2.7))} if row["offset"] >= 4 else row)
    assert passed(unseen(history)) == [(3, "unproven")]

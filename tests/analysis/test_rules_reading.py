"""The rules about reading and committing: each fires on the smallest log that breaks it, and not on its near miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from analysis.history import History, ns
from analysis.ways import finding, guards, measure, told

from chaosk.rundir.verdict import Outcome, Severity

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


def restarted(history: History, at: float, *, killed: bool = False, found: int | None = None, **settings: Any) -> None:
    """The reader's first process ends at ``at`` and a second one takes over at the committed offset ``found``."""
    history.worker(
        "reader", 1, started=at + 0.1, kind="consume", group="readers", isolation="read_committed", **settings
    )
    if killed:
        history.drop("ends", probe="reader", incarnation=0)
        history.record["probes"][0] |= {"ended_by": "step", "exit_status": -9}
    else:
        history.add("assignments", at=at, kind="revoke")
    history.add("assignments", at=at + 0.2, incarnation=1)
    history.add("fetched", incarnation=1, offset=found, invoked=at + 0.21, completed=at + 0.22)


def hand_over(history: History, first: int) -> None:
    """Records from ``first`` on were read by the second process of the reader, once it had the partition."""
    (since,) = [row["at"] for row in history.rows["assignments"] if row["incarnation"] == 1 and row["kind"] == "assign"]
    history.each(
        "reads",
        lambda row: (
            row | ({"incarnation": 1, "at": max(row["at"], since + 50_000_000)} if row["offset"] >= first else {})
        ),
    )


# --- B1: poll_skip ----------------------------------------------------------------------------------------------------


@pytest.mark.proves("poll_skip", "fires")
def test_a_jump_over_a_record_that_others_saw_is_a_skip(judge: Judge) -> None:
    """B1: in one assignment offset 20 is followed by 22, and 21 is in the log: a violation, and unseen (A5) as well."""
    history = History(records=50)
    history.drop("reads", offset=21)
    verdict = judge(history)
    assert told(verdict, "violation") == told(verdict) == {"poll_skip": 1, "unseen": 1}
    row = finding(verdict, "poll_skip").evidence[0]
    assert (row["before"], row["skipped"], row["offset"]) == (20, 21, 22)


@pytest.mark.proves("poll_skip", "near miss")
def test_a_hole_in_the_offsets_is_no_skip(judge: Judge) -> None:
    """Near miss of B1: nobody ever saw a record at 21; it holds a control record, or an aborted one."""
    history = History(records=50)
    for table in ("sends", "reads", "audit"):
        history.drop(table, seq=21)
    assert told(judge(history)) == {}


def test_a_seek_is_no_skip(judge: Judge) -> None:
    """Near miss of B1: the consumer sought in between; what it leaves out is its own choice."""
    history = History(records=50)
    gone = history.drop("reads", offset=21)[0]
    history.rows["seeks"].append(
        {
            "probe": "reader",
            "incarnation": 0,
            "topic": "orders",
            "partition": 0,
            "offset": 22,
            "at": gone["at"],
            "kind": "seek",
        }
    )
    verdict = judge(history)
    assert told(verdict) == {}
    assert guards(verdict) == {"unseen_unproven"}


@pytest.mark.proves("poll_skip", "near miss")
def test_where_a_consumer_sought_there_may_be_no_record(judge: Judge) -> None:
    """Near miss of B1: it sought 10 and was given 12 next, and nobody ever saw a record at 10 and 11."""
    history = History(records=50)
    for table in ("sends", "reads", "audit"):
        for seq in (10, 11):
            history.drop(table, seq=seq)
    history.add("seeks", offset=10, at=5.2)
    history.each(
        "reads", lambda row: row | ({"n": row["n"] + 9, "poll": row["poll"] + 9} if row["offset"] > 20 else {})
    )
    for offset in range(12, 21):
        history.read(offset, 5.3, n=offset + 9, poll=offset + 9)
    assert told(judge(history), "violation") == {}


def test_two_readers_that_diverge_are_told_once_and_need_no_audit(judge: Judge) -> None:
    """B1 and A12 without a complete audit: after offset 20 one reader is given 21 and the other 22, which jumped."""
    history = History(records=50)
    history.worker("other", kind="consume", isolation="read_committed", commit="none")
    history.add("assignments", probe="other", group=None, at=20.1)
    for row in list(history.rows["reads"]):
        history.read(row["offset"], 20.5 + row["offset"] / 1000, probe="other", group=None)
    history.drop("reads", offset=21, probe="reader")
    history.rows["audit"].clear()
    history.each("audit_ranges", lambda row: row | {"complete": False, "why": "timed out"})
    assert told(judge(history)) == {"poll_skip": 1}


def test_a_skip_of_what_was_kept_counts_from_below_the_log_start_too(judge: Judge) -> None:
    """B1: retention deleted up to 20 after it was read, the next one that was delivered is 22: 21 was never deleted."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] >= 21]
    history.each("audit_ranges", lambda row: row | {"log_start": 21})
    verdict = judge(history)
    assert told(verdict) == {"poll_skip": 1, "unseen": 1}
    row = finding(verdict, "poll_skip").evidence[0]
    assert (row["before"], row["skipped"], row["offset"]) == (20, 21, 22)


def test_a_jump_below_the_log_start_is_no_skip(judge: Judge) -> None:
    """Near miss of B1: what lies between may have been deleted before the consumer came by."""
    history = History(records=50)
    history.read(21, 5.6, probe="other", group=None)
    history.worker("other", kind="consume", isolation="read_committed")
    history.add("assignments", probe="other", group=None, at=5.5)
    history.drop("reads", offset=21, probe="reader")
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] >= 22]
    history.each("audit_ranges", lambda row: row | {"log_start": 22})
    history.each("offsets", lambda row: row | ({"log_start": 22} if row["at"] >= ns(5.8) else {}))
    assert told(judge(history)) == {}


def test_an_aborted_record_is_no_skip_for_a_careful_reader(judge: Judge) -> None:
    """Near miss of B1: only read_uncommitted shows the record, and the reader reads read_committed."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.drop("audit", offset=21, isolation="read_committed")
    history.change("sends", {"seq": 21}, outcome="info", offset=None, txn="t", producer_epoch=0)
    history.add("transactions", txn="t", initialized=-5.9, begun=5, ending=5.1, ended=5.2, outcome="aborted")
    assert told(judge(history)) == {}


@pytest.mark.proves("poll_skip", "no evidence")
def test_a_jump_across_assignments_is_not_a_skip(judge: Judge) -> None:
    """Near miss of B1: between the two deliveries the partition was given anew; that is B3's matter."""
    history = History(records=50)
    history.drop("reads", offset=21)
    restarted(history, 6.0, found=22)
    hand_over(history, 22)
    verdict = judge(history)
    assert "poll_skip" not in told(verdict)
    assert told(verdict) == {"unseen": 1}


# --- B2: poll_order ---------------------------------------------------------------------------------------------------


@pytest.mark.proves("poll_order", "fires")
def test_going_back_without_a_seek_is_a_violation(judge: Judge) -> None:
    """B2: 20, 21, 20 in one assignment; the record given twice is told as redelivery."""
    history = History(records=50)
    history.read(49, 19.9)
    verdict = judge(history)
    assert told(verdict, "violation") == told(verdict) == {"poll_order": 1}
    assert told(verdict, "information")["redelivery"] == 1


@pytest.mark.proves("poll_order", "near miss")
def test_going_back_by_a_seek_is_not(judge: Judge) -> None:
    """Near miss of B2: the consumer sought back."""
    history = History(records=50)
    history.add("seeks", offset=45, at=19.8)
    history.read(45, 19.9)
    assert told(judge(history)) == {}


@pytest.mark.proves("poll_order", "no evidence")
def test_going_back_across_assignments_is_not_judged(judge: Judge) -> None:
    """B2 without evidence: between the two deliveries the partition was given anew, perhaps from an older commit."""
    history = History(records=50)
    restarted(history, 6.0, found=20)
    hand_over(history, 20)
    for offset in (20, 21):
        history.read(offset, 5.5)
    assert told(judge(history)) == {}


# --- A5: unseen -------------------------------------------------------------------------------------------------------


@pytest.mark.proves("unseen", "fires")
def test_a_record_that_a_group_passed_over_is_unseen(judge: Judge) -> None:
    """A5: acknowledged, in the log, held from before until the end, later ones given: a violation."""
    history = History(records=50)
    history.drop("reads", offset=21)
    restarted(history, 6.0, found=22)
    hand_over(history, 22)
    verdict = judge(history)
    assert told(verdict) == {"unseen": 1}
    assert finding(verdict, "unseen").evidence[0]["offset"] == 21
    assert measure(verdict, "unseen_records", "readers") == 1


@pytest.mark.proves("unseen", "no evidence")
def test_a_reader_that_has_not_come_so_far_leaves_it_open(judge: Judge) -> None:
    """Near miss of A5: the last records were not delivered, nor any later one: INCONCLUSIVE."""
    history = History(records=50)
    for offset in (48, 49):
        history.drop("reads", offset=offset)
    verdict = judge(history)
    assert (told(verdict), guards(verdict)) == ({}, {"unseen_unproven"})
    assert verdict.verdict is Outcome.INCONCLUSIVE
    assert measure(verdict, "unseen_records", "readers") == 0


@pytest.mark.proves("unseen", "near miss")
def test_a_record_written_before_the_group_came_is_not_owed(judge: Judge) -> None:
    """Near miss of A5: the group begins at the end, and was given the partition after the record was written."""
    history = History(records=50)
    history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
    history.drop("reads", offset=0)
    history.rows["assignments"].clear()
    history.add("assignments", at=-4.9)
    assert told(judge(history)) == {}


@pytest.mark.proves("unseen", "fires")
def test_a_group_is_owed_what_was_there_before_it(judge: Judge) -> None:
    """A5: the group came after the record, found nothing committed, and begins at the log's start."""
    history = History(records=50)
    history.drop("reads", offset=0)
    history.rows["assignments"].clear()
    history.add("assignments", at=-4.9)
    assert told(judge(history)) == {"unseen": 1}


def test_a_partition_that_the_group_gave_up_is_owed_all_the_same(judge: Judge) -> None:
    """A5: no member held the partition in the end; what was passed is a violation, what was not reached is open."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.change("reads", {"offset": 22}, assignment=1)
    history.add("assignments", at=15, kind="revoke")
    for offset in range(40, 50):
        history.drop("reads", offset=offset)
    verdict = judge(history)
    assert finding(verdict, "unseen").count == 1
    assert "unseen_unproven" in guards(verdict)


def test_giving_up_at_the_end_of_the_run_counts_as_held(judge: Judge) -> None:
    """A5: a clean end gives the partitions up after the settling; the group still held them until the end."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.add("assignments", at=20.9, kind="revoke")
    assert told(judge(history)) == {"poll_skip": 1, "unseen": 1}


def test_what_a_killed_process_may_have_had_is_open(judge: Judge) -> None:
    """Near miss of A5 and B3: the process was killed with deliveries that it had not yet written down: INCONCLUSIVE.

    Its commit of them may have come through; nobody can say whether the group had them.
    """
    history = History(records=50)
    for offset in (21, 22):
        history.drop("reads", offset=offset)
    history.commit(23, 6.1)
    restarted(history, 6.2, killed=True, found=23)
    hand_over(history, 23)
    verdict = judge(history)
    assert told(verdict) == {}
    assert guards(verdict) == {"unseen_unproven", "commit_skip_unproven", "commit_ahead_unproven"}


def test_what_was_passed_over_before_the_killed_process_is_not_open(judge: Judge) -> None:
    """A5 with a killed process: a record that its own log shows it jumped over stays a violation."""
    history = History(records=50)
    history.drop("reads", offset=10)
    restarted(history, 6.2, killed=True, found=23)
    hand_over(history, 23)
    assert told(judge(history)) == {"poll_skip": 1, "unseen": 1}


def test_two_groups_are_judged_each_by_itself(judge: Judge) -> None:
    """A5 per group: one group had the record, the other not."""
    history = History(records=50)
    history.probes["other"] = {"consume": {"topic": "orders", "group": "others"}}
    history.record["probes"].append({"probe": "other", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("other", kind="consume", group="others", isolation="read_committed", commit="none")
    history.add("assignments", probe="other", group="others", at=-5.9)
    history.add("polls", probe="other", poll=0, invoked=2, completed=2)
    for offset in range(50):
        if offset != 30:
            history.read(offset, -4.9 + offset / 2, probe="other", group="others")
    verdict = judge(history)
    assert {row["group"] for row in finding(verdict, "unseen").evidence} == {"others"}
    assert measure(verdict, "unseen_records", "others") == 1
    assert measure(verdict, "unseen_records", "readers") == 0


# --- B3: commit_skip --------------------------------------------------------------------------------------------------


@pytest.mark.proves("commit_skip", "fires")
def test_a_record_that_the_group_committed_past_is_lost_to_it(judge: Judge) -> None:
    """B3: no member ever had offset 21, which the group has committed; it needs no order and no acknowledgement.

    Written by a producer that was killed before it could write down the send, so that A5 has nothing to say.
    """
    history = History(records=50)
    history.change("sends", {"seq": 21}, outcome="info", offset=None)
    history.drop("reads", offset=21)
    restarted(history, 6.0, found=22)
    hand_over(history, 22)
    history.commit(50, 20.4, incarnation=1)
    verdict = judge(history)
    assert told(verdict) == {"commit_skip": 1}
    assert finding(verdict, "commit_skip").evidence[0].items() >= {"offset": 21, "committed": 50, "seq": 21}.items()


@pytest.mark.proves("commit_skip", "near miss")
def test_what_lies_above_the_committed_offset_is_not_skipped(judge: Judge) -> None:
    """Near miss of B3: the group has not committed so far; the offset that is committed is the next to be read."""
    history = History(records=50)
    history.change("sends", {"seq": 21}, outcome="info", offset=None)
    history.drop("reads", offset=21)
    restarted(history, 6.0, found=22)
    hand_over(history, 22)
    history.commit(21, 5.5)
    assert told(judge(history)) == {}


def test_the_clusters_word_on_the_committed_offset_counts_first(judge: Judge) -> None:
    """B3: the commit's answer was never seen, but after the run the cluster says that the group has committed it."""
    history = History(records=50)
    history.change("sends", {"seq": 21}, outcome="info", offset=None)
    history.drop("reads", offset=21)
    restarted(history, 6.0, found=22)
    hand_over(history, 22)
    history.commit(50, 20.4, incarnation=1, outcome="info", completed=None)
    history.add("groups", offset=50)
    assert told(judge(history)) == {"commit_skip": 1}


def test_automatic_commits_may_run_ahead_of_a_killed_process(judge: Judge) -> None:
    """B3 with automatic commits: allowed for what a killed process may have polled and not processed."""
    history = History(records=50)
    history.change("sends", {"seq": 21}, outcome="info", offset=None)
    history.drop("reads", offset=21)
    history.commit(22, 5.9, kind="auto")
    restarted(history, 6.0, killed=True, found=22)
    hand_over(history, 22)
    verdict = judge(history)
    assert finding(verdict, "commit_skip").severity is Severity.ALLOWED


@pytest.mark.proves("commit_skip", "no evidence")
def test_a_commit_of_which_nobody_knows_whether_it_was_stored_skips_nothing(judge: Judge) -> None:
    """B3 without evidence: the answer to the commit never came, and the cluster was not asked afterwards."""
    history = History(records=50)
    history.change("sends", {"seq": 21}, outcome="info", offset=None)
    history.drop("reads", offset=21)
    restarted(history, 6.0, found=22)
    hand_over(history, 22)
    history.commit(50, 20.4, incarnation=1, outcome="info", completed=None)
    assert told(judge(history)) == {}


def test_offsets_before_the_groups_first_position_are_not_owed(judge: Judge) -> None:
    """Near miss of B3: records of an earlier run below the offset that the group began at."""
    history = History()
    history.rows["fetched"].clear()
    history.add("fetched", offset=10, invoked=-5.85, completed=-5.8)
    for offset in range(10):
        history.audit(offset, producer=None, producer_incarnation=None, seq=None, intact=False)
    for number in range(40):
        history.flow(number, -5 + number * 0.6, offset=10 + number)
    history.commit(50, 20.4)
    assert told(judge(history)) == {}


def test_a_leftover_that_the_group_committed_past_counts(judge: Judge) -> None:
    """B3 goes by offsets: also a record of nobody's that lies between what the group read."""
    history = History(records=50)
    history.change("sends", {"seq": 21}, outcome="info", offset=None)
    history.drop("reads", offset=21)
    history.drop("audit", offset=21)
    history.audit(21, producer=None, producer_incarnation=None, seq=None, intact=False)
    restarted(history, 6.0, found=22)
    hand_over(history, 22)
    history.commit(50, 20.4, incarnation=1)
    assert told(judge(history)) == {"commit_skip": 1}


# --- B4: redelivery ---------------------------------------------------------------------------------------------------


@pytest.mark.proves("redelivery", "near miss")
def test_what_was_not_committed_is_delivered_again_and_that_is_normal(judge: Judge) -> None:
    """B4: a new member begins at the committed offset 20 and reads 20 and 21 again: information, two records."""
    history = History(records=50)
    history.commit(20, 5.4)
    restarted(history, 6.0, found=20)
    for offset in (20, 21):
        history.read(offset, 6.3, incarnation=1)
    hand_over(history, 22)
    history.each("reads", lambda row: row | ({"n": 1000 + row["offset"]} if row["incarnation"] else {}))
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)
    assert finding(verdict, "redelivery").severity is Severity.INFORMATION
    assert measure(verdict, "redelivered_records", "readers") == 2


@pytest.mark.proves("redelivery", "fires")
def test_redelivery_below_an_acknowledged_commit_is_a_lost_commit(judge: Judge) -> None:
    """B4, excess: offset 22 was committed and acknowledged before the new member asked, and it is given 20 again."""
    history = History(records=50)
    history.commit(22, 5.6)
    restarted(history, 6.0, found=20)
    for offset in (20, 21):
        history.read(offset, 6.3, incarnation=1)
    hand_over(history, 22)
    history.each("reads", lambda row: row | ({"n": 1000 + row["offset"]} if row["incarnation"] else {}))
    verdict = judge(history)
    assert told(verdict) == {"redelivery": 2, "commit_regression": 1}
    assert finding(verdict, "redelivery").evidence[0]["committed"] == 22


@pytest.mark.proves("redelivery", "no evidence")
@pytest.mark.parametrize("commit", [{"outcome": "info", "completed": None}, {"outcome": "fail"}, {"completed": 6.5}])
def test_a_commit_that_was_not_acknowledged_in_time_excuses_redelivery(judge: Judge, commit: dict[str, object]) -> None:
    """Near miss of B4's excess: the commit's answer was unknown, an error, or came after the new member had asked."""
    history = History(records=50)
    history.commit(22, 5.6, **commit)
    restarted(history, 6.0, found=20)
    for offset in (20, 21):
        history.read(offset, 6.3, incarnation=1)
    hand_over(history, 22)
    history.each("reads", lambda row: row | ({"n": 1000 + row["offset"]} if row["incarnation"] else {}))
    assert told(judge(history)) == {}


def test_a_consumer_without_a_group_may_read_again(judge: Judge) -> None:
    """Near miss of B4: without a group nothing is committed, so nothing is delivered *again*."""
    history = History(records=50)
    history.probes["reader"]["consume"] = {"topic": "orders", "assign": "all"}
    history.each(
        "incarnations", lambda row: row | {"group": None, "commit": "none"} if row["probe"] == "reader" else row
    )
    for table in ("reads", "assignments"):
        history.each(table, lambda row: row | {"group": None})
    history.rows["fetched"].clear()
    verdict = judge(history)
    assert (told(verdict), guards(verdict)) == ({}, set())

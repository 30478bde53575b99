"""The rules about logs: each fires on the smallest log that breaks it, alone, and not on its near miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History, ns
from analysis.ways import finding, guards, measure, told

from chaosk.rundir.verdict import Outcome, Severity

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


def test_a_run_without_a_flaw_passes(judge: Judge) -> None:
    """All sent, read and audited: nothing is found, no guard, and the sentence says how much that rests on."""
    verdict = judge(History(records=50), "unseen")
    assert (verdict.verdict, told(verdict), guards(verdict)) == (Outcome.PASS, {}, set())
    assert "50 acknowledged records" in verdict.summary
    assert measure(verdict, "lost_records", "orders") == 0
    assert measure(verdict, "acknowledged_records", "writer") == 50


# --- A4: lost ---------------------------------------------------------------------------------------------------------


@pytest.mark.proves("lost", "fires")
def test_an_acknowledged_record_that_nobody_has_is_lost(judge: Judge) -> None:
    """A4: acknowledged with acks=all, in no reader's hands and not in the log: a violation that names the record."""
    history = History(records=50)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    verdict = judge(history)
    assert told(verdict) == {"lost": 1}
    lost = finding(verdict, "lost")
    assert (lost.severity, lost.rule, lost.title) == (Severity.VIOLATION, "A4", "1 record lost")
    assert {"kind": "lost", "acknowledged": True, "seq": 20, "offset": 20, "topic": "orders"}.items() <= lost.evidence[
        0
    ].items()
    assert verdict.verdict is Outcome.VIOLATION
    assert measure(verdict, "lost_records", "orders") == 1


def test_the_faults_that_a_lost_record_overlaps_are_named(judge: Judge) -> None:
    """A record sent while the fault was in place points at it; one sent after it does not."""
    history = History(records=50)
    for offset in (13, 40):  # due at 1.5 s, in the fault, and at 15 s, long after it
        history.drop("reads", offset=offset)
        history.drop("audit", offset=offset)
    verdict = judge(history)
    assert finding(verdict, "lost").faults == ("kill",)
    assert measure(verdict, "lost_records", "orders", "kill") == 1
    assert measure(verdict, "lost_records", "orders", "after_heal") == 1
    assert measure(verdict, "lost_records", "orders", "run") == 2


@pytest.mark.proves("lost", "near miss")
@pytest.mark.parametrize("outcome", ["fail", "info"])
def test_a_record_that_was_never_acknowledged_is_not_lost(judge: Judge, outcome: str) -> None:
    """Near miss of A4: a send that failed, or whose fate is unknown, owes nobody anything."""
    history = History(records=50)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    history.change("sends", {"seq": 20}, outcome=outcome, error="_MSG_TIMED_OUT", offset=None)
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)


def test_a_loss_with_acks_1_is_allowed_and_counted(judge: Judge) -> None:
    """A4 with acks=1: the leader alone had it, and another was elected; told, and not held against the cluster."""
    history = History(records=50, acks=1, idempotent=False)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    history.elect(6.0)
    verdict = judge(history)
    assert finding(verdict, "lost").severity is Severity.ALLOWED
    assert "acks is not all" in (finding(verdict, "lost").reason or "")
    assert verdict.verdict is Outcome.PASS
    assert "1 record lost" in verdict.summary
    assert measure(verdict, "lost_records", "orders") == 1


def test_a_loss_with_acks_1_needs_another_leader(judge: Judge) -> None:
    """A4 with acks=1: the one leader that acknowledged it led all the time, so nothing excuses that it is gone."""
    history = History(records=50, acks=1, idempotent=False)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    assert finding(judge(history), "lost").severity is Severity.VIOLATION


@pytest.mark.parametrize(("until", "severity"), [(5.5, Severity.ALLOWED), (-0.5, Severity.VIOLATION)])
def test_a_deposed_leader_acknowledges_what_is_lost(judge: Judge, until: float, severity: Severity) -> None:
    """A4 with acks=1: another was elected six seconds before, and the old one named itself as leader until after that.

    Or it had stopped doing so long before the record was sent: then it was the new leader's, and nothing excuses it.
    """
    history = History(records=50, acks=1, idempotent=False)
    history.drop("reads", offset=20)  # acknowledged at 5 s
    history.drop("audit", offset=20)
    history.elect(-1.0)
    for at in range(-10, int(until * 10), 2):
        history.add("partitions", at=at / 10, asked=1, leader=1, leader_epoch=3, replicas=[0, 1, 2], isr=[1])
    assert finding(judge(history), "lost").severity is severity


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("how", ["setting", "entry"])
def test_a_loss_is_allowed_where_an_unclean_election_was_seen(judge: Judge, how: str, *, seen: bool) -> None:
    """A4 with an unclean election, allowed by the topic's setting or asked for by an entry: even with acks=all.

    That it may be is no excuse where nobody saw one.
    """
    history = History(records=50)
    if how == "setting":
        history.topic["config"] = {"unclean.leader.election.enable": True}
    else:
        history.entry = {"name": "kill", "elect_leader": {"topic": "orders", "election": "unclean"}}
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    if seen:
        history.elect_uncleanly(6.0, allowed=how == "setting")
    verdict = judge(history)
    assert finding(verdict, "lost").severity is (Severity.ALLOWED if seen else Severity.VIOLATION)


def test_a_record_that_a_reader_had_and_the_log_forgot_is_truncated(judge: Judge) -> None:
    """A4, truncated-after-read: the reader had it, the log does not; even without an acknowledgement, even with acks=1.

    What was shown to a reader lay below the high watermark.
    """
    history = History(records=50, acks=1, idempotent=False)
    history.drop("audit", offset=20)
    history.change("sends", {"seq": 20}, outcome="info", offset=None)
    verdict = judge(history)
    assert told(verdict) == {"lost": 1}
    row = finding(verdict, "lost").evidence[0]
    assert (row["kind"], row["acknowledged"], row["offset"]) == ("truncated_after_read", False, 20)
    assert verdict.verdict is Outcome.VIOLATION
    assert measure(verdict, "lost_records", "orders") == 0  # it was never acknowledged


@pytest.mark.proves("lost", "near miss")
def test_a_record_below_the_log_start_is_retention_not_loss(judge: Judge) -> None:
    """Near miss of A4: the log start moved past it while the run went on, and the topic keeps seconds.

    A reader that passed one of them right after it was written was owed it all the same (B1).
    """
    history = History(records=50)
    for name, value in (("cleanup.policy", "delete"), ("retention.ms", "2000"), ("retention.bytes", "-1")):
        history.add("topic_settings", at=-6, name=name, value=value)
    for offset in range(5):
        history.drop("audit", offset=offset)
    history.each("audit_ranges", lambda row: row | {"log_start": 5})
    assert told(judge(history)) == {}
    history.drop("reads", offset=3)
    assert told(judge(history)) == {"unseen": 1}


def test_a_record_without_a_known_offset_is_lost_where_nothing_was_deleted(judge: Judge) -> None:
    """A4: an acknowledgement without an offset; the log start never moved, so deletion is ruled out."""
    history = History(records=50)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    history.change("sends", {"seq": 20}, offset=None)
    assert told(judge(history)) == {"lost": 1}


def test_a_record_without_a_known_offset_leaves_it_open_where_some_were_deleted(judge: Judge) -> None:
    """Near miss of A4: with records deleted from the log's start, nobody can say; INCONCLUSIVE."""
    history = History(records=50)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    history.change("sends", {"seq": 20}, offset=None)
    history.each("audit_ranges", lambda row: row | {"log_start": 1})
    history.drop("audit", offset=0)
    verdict = judge(history)
    assert (told(verdict), guards(verdict)) == ({}, {"lost_unproven"})
    assert verdict.verdict is Outcome.INCONCLUSIVE


def test_a_compacted_topic_leaves_loss_open(judge: Judge) -> None:
    """Near miss of A4: compaction removes records rightly, so a missing one proves nothing."""
    history = History(records=50)
    history.topic["config"] = {"cleanup.policy": "compact"}
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    assert guards(judge(history)) == {"lost_unproven"}


@pytest.mark.proves("lost", "no evidence")
def test_an_incomplete_audit_proves_no_loss(judge: Judge) -> None:
    """Evidence missing: what an incomplete audit did not find is not lost; the run is INCONCLUSIVE."""
    history = History(records=50, acks=1, idempotent=False)
    history.drop("reads", offset=20)
    history.drop("audit", offset=20)
    history.change("audit_ranges", {"isolation": "read_committed"}, complete=False, why="timed out")
    verdict = judge(history)
    assert "lost" not in told(verdict)
    assert {"audit_incomplete", "lost_unproven"} <= guards(verdict)


# --- A2: duplicate_in_log ---------------------------------------------------------------------------------------------


@pytest.mark.proves("duplicate_in_log", "fires")
def test_a_record_at_two_offsets_is_a_duplicate(judge: Judge) -> None:
    """A2: one value, two places, although the producer is idempotent: a violation that names both."""
    history = History(records=50)
    history.audit(50, seq=20)
    history.read(50, 20.3, seq=20)
    verdict = judge(history)
    assert told(verdict) == {"duplicate_in_log": 1}
    row = finding(verdict, "duplicate_in_log").evidence[0]
    assert (row["seq"], row["offset"], row["other_offset"]) == (20, 20, 50)
    assert measure(verdict, "duplicate_records", "orders") == 1
    assert finding(verdict, "duplicate_in_log").suspects


def test_a_record_in_two_partitions_is_a_duplicate(judge: Judge) -> None:
    """A2: the same value in two partitions counts as well; no retry takes a record there, so A10 tells it, too."""
    history = History(records=50)
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=-1, complete=True)
    history.audit(0, seq=20, partition=1)
    verdict = judge(history)
    assert told(verdict, "violation") == {"duplicate_in_log": 1, "unknown_value": 1}
    assert finding(verdict, "duplicate_in_log").evidence[0]["other_partition"] == 1


def test_a_duplicate_without_idempotence_is_allowed(judge: Judge) -> None:
    """A2 with idempotence off: a retry may write twice; counted, allowed."""
    history = History(records=50, idempotent=False)
    history.audit(50, seq=20)
    history.read(50, 20.3, seq=20)
    verdict = judge(history)
    assert finding(verdict, "duplicate_in_log").severity is Severity.ALLOWED
    assert verdict.verdict is Outcome.PASS
    assert measure(verdict, "duplicate_records", "orders") == 1


@pytest.mark.proves("duplicate_in_log", "no evidence")
def test_a_duplicate_of_a_producer_of_unknown_settings_is_left_open(judge: Judge) -> None:
    """A2 without evidence: nobody wrote down whether it was idempotent, so a retry may or may not write twice."""
    history = History(records=50)
    history.audit(50, seq=20)
    history.read(50, 20.3, seq=20)
    history.change("incarnations", {"probe": "writer"}, idempotent=None)
    verdict = judge(history)
    assert told(verdict) == {}
    assert guards(verdict) == {"duplicate_in_log_unproven"}


@pytest.mark.proves("duplicate_in_log", "near miss")
def test_the_same_sequence_number_of_another_process_is_another_record(judge: Judge) -> None:
    """Near miss of A2: a producer that was started again counts from 0 again; its records are others."""
    history = History(records=50)
    history.worker("writer", 1, started=19, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.send(20, 20.1, incarnation=1, offset=50)
    history.read(50, 20.2, seq=20, producer_incarnation=1)
    history.audit(50, seq=20, producer_incarnation=1)
    assert told(judge(history)) == {}


# --- A1: inconsistent_offset ------------------------------------------------------------------------------------------


@pytest.mark.proves("inconsistent_offset", "fires")
@pytest.mark.parametrize("unclean", [False, True])
def test_two_records_read_at_one_offset_are_inconsistent(judge: Judge, *, unclean: bool) -> None:
    """A1: the reader had one record at an offset, the audit finds another there; allowed after an unclean election."""
    history = History(records=50)
    history.topic["config"]["unclean.leader.election.enable"] = True
    if unclean:
        history.elect_uncleanly(19.9)
    history.send(100, 20, offset=None, outcome="info", completed=20.5)
    history.change("reads", {"offset": 49}, seq=100)
    verdict = judge(history)
    assert told(verdict, "allowed" if unclean else "violation")["inconsistent_offset"] == 1
    row = finding(verdict, "inconsistent_offset").evidence[0]
    assert (row["offset"], row["one"], row["other"]) == (49, "writer/0/49", "writer/0/100")


def test_an_acknowledged_offset_that_holds_another_record_is_inconsistent(judge: Judge) -> None:
    """A1, acked-offset mismatch: acks=all named offset 48 for a record, and the log holds it elsewhere."""
    history = History(records=50)
    history.change("sends", {"seq": 49}, offset=48)
    verdict = judge(history)
    assert told(verdict)["inconsistent_offset"] == 1


def test_reused_offsets_after_a_loss_with_acks_1_are_allowed(judge: Judge) -> None:
    """A1 known from acknowledgements with acks=1 alone: the log was cut back and gave its offsets again.

    So it was where another leader was elected, and nowhere else.
    """
    history = History(records=50, acks=1, idempotent=False)
    history.send(100, 5, offset=20)  # acknowledged at an offset where the log holds another record
    assert told(judge(history), "violation")["inconsistent_offset"] == 1
    history.elect(6.0)
    verdict = judge(history)
    assert told(verdict, "allowed") == {"inconsistent_offset": 1, "lost": 1}
    assert verdict.verdict is Outcome.PASS


@pytest.mark.proves("inconsistent_offset", "near miss")
def test_the_same_record_seen_by_many_is_consistent(judge: Judge) -> None:
    """Near miss of A1: an uncertain send whose record is in the log, seen by reader and audit alike."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, outcome="info", error="_MSG_TIMED_OUT")
    assert told(judge(history)) == {}


@pytest.mark.proves("inconsistent_offset", "no evidence")
def test_an_uncertain_send_counts_with_its_offset_where_its_record_was_seen(judge: Judge) -> None:
    """A1: the record was seen, so the send happened, and the offset it named holds another record."""
    history = History(records=50)
    history.change("sends", {"seq": 20}, outcome="info", offset=21)
    assert told(judge(history), "violation") == {"inconsistent_offset": 1}


@pytest.mark.parametrize("outcome", ["fail", "info"])
def test_a_send_that_met_an_error_names_no_place(judge: Judge, outcome: str) -> None:
    """A1, A2: librdkafka counts the records of a refused batch up from -1, so that all but the first look placed.

    The second one of the batch was written after all, by a retry: it is in the log once, at 20.
    """
    history = History(records=50)
    for number in range(3):
        history.send(100 + number, 20, offset=number - 1, outcome=outcome, error="_MSG_TIMED_OUT")
    if outcome == "info":
        history.change("sends", {"seq": 20}, outcome="info", error="_MSG_TIMED_OUT", offset=0)
    verdict = judge(history)
    assert (told(verdict), verdict.guards) == ({}, ())


@pytest.mark.parametrize("twin", [True, False])
def test_another_record_of_its_transaction_proves_an_uncertain_send(judge: Judge, *, twin: bool) -> None:
    """A1: nobody saw the record, but others of its transaction: so the offset that it named counts, and holds another.

    Where nobody saw anything of that transaction, nothing is proven.
    """
    history = History(records=50)
    history.send(100, 20, offset=21, outcome="info", txn="t-1", producer_epoch=0)
    history.add("transactions", txn="t-1", initialized=-5.9, begun=19.4, ending=20.1, ended=20.2, outcome="info")
    if twin:
        history.change("sends", {"seq": 49}, txn="t-1", producer_epoch=0)
        history.change("reads", {"offset": 49}, at=ns(20.3))
    assert told(judge(history), "violation") == ({"inconsistent_offset": 1} if twin else {})


def test_without_answers_nobody_names_an_offset(judge: Judge) -> None:
    """A1, A2, A11 with acks=0: brokers answer nothing, and what the client makes up is no place in a log."""
    history = History(records=50, acks=0, idempotent=False)
    history.each("sends", lambda row: row | {"offset": row["seq"] % 7})
    verdict = judge(history)
    assert ({finding.check for finding in verdict.findings}, verdict.guards) == (set(), ())


# --- A8: send_order ---------------------------------------------------------------------------------------------------


def swap(history: History, one: int, other: int) -> None:
    """Let two records, sent at the same moment, stand in each other's place."""
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"seq": {one: other, other: one}.get(row["offset"], row["offset"])})
    history.each("sends", lambda row: row | {"offset": {one: other, other: one}.get(row["seq"], row["seq"])})
    (first,) = (row for row in history.rows["sends"] if row["seq"] == one)
    history.change("sends", {"seq": other}, scheduled=first["scheduled"], invoked=first["invoked"])


@pytest.mark.proves("send_order", "fires")
def test_a_record_that_stands_before_an_earlier_one_is_out_of_order(judge: Judge) -> None:
    """A8: idempotent producer, and two records have changed places."""
    history = History(records=50)
    swap(history, 20, 21)
    verdict = judge(history)
    assert told(verdict) == {"send_order": 1}
    row = finding(verdict, "send_order").evidence[0]
    assert (row["seq"], row["offset"], row["earlier_seq"], row["earlier_offset"]) == (21, 20, 20, 21)
    assert measure(verdict, "reordered_records", "orders") == 1


@pytest.mark.parametrize(("in_flight", "severity"), [(5, Severity.ALLOWED), (1, Severity.VIOLATION)])
def test_overtaking_is_allowed_with_several_requests_in_flight(
    judge: Judge, in_flight: int, severity: Severity
) -> None:
    """A8 without idempotence: allowed with max.in.flight 5, a violation with 1."""
    history = History(records=50, idempotent=False, in_flight=in_flight)
    swap(history, 20, 21)
    assert finding(judge(history), "send_order").severity is severity


@pytest.mark.proves("send_order", "near miss")
def test_a_late_arrival_that_was_reported_as_uncertain_breaks_no_order(judge: Judge) -> None:
    """Near miss of A8: the earlier record timed out, so nobody was promised its place: information."""
    history = History(records=50)
    swap(history, 20, 21)
    history.change("sends", {"seq": 20}, outcome="info", offset=None)
    verdict = judge(history)
    assert told(verdict) == {}
    assert told(verdict, "information")["send_order"] == 1
    assert measure(verdict, "reordered_records", "orders") == 0


@pytest.mark.proves("send_order", "no evidence")
def test_the_place_of_a_lost_record_orders_nothing(judge: Judge) -> None:
    """Near miss of A8: acks=1, max.in.flight 1; lost records were acknowledged at offsets that were given again."""
    history = History(records=50, acks=1, idempotent=False, in_flight=1)
    for seq in range(100, 105):
        history.send(seq, 20 + seq / 1000, offset=60 + seq - 100)
    history.flow(105, 20.5, offset=50)
    history.elect(20.4)
    assert told(judge(history)) == {"lost (allowed)": 5, "stale_append (allowed)": 1}


def test_order_is_judged_by_partition(judge: Judge) -> None:
    """Near miss of A8: records of two partitions have no order between them."""
    history = History()
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=-1, complete=True)
    history.add("assignments", at=-5.9, partition=1)
    for number in range(40):
        history.flow(number, -5 + number * 0.6, partition=number % 2, offset=100 - number % 2 * 90 + number // 2)
    history.each("audit_ranges", lambda row: row | {"log_start": 10 if row["partition"] else 100})
    assert told(judge(history)) == {}


def test_times_are_seconds_of_the_timeline() -> None:
    """The histories' clock: zero is the begin of the timeline."""
    assert ns(1.5) - ns(0) == 1_500_000_000

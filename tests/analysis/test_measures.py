"""The figures: each against what the made-up run says it must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History, Row, ns
from analysis.ways import finding, guards, measure, told

from chaosk.rundir.verdict import Outcome, Severity

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


def stalled(history: History, began: float, ended: float) -> None:
    """Sends due in a stretch were acknowledged at its end, and delivered 10 ms later, all at once."""

    def shift(row: Row) -> Row:
        column = "completed" if "completed" in row else "at"
        late = 10_000_000 if column == "at" else 0
        return row | ({column: ns(ended) + late} if ns(began) <= row[column] < ns(ended) else {})

    history.each("sends", shift)
    history.each("reads", shift)


@pytest.mark.proves("latency", "fires")
def test_latency_counts_from_when_a_record_was_due(judge: Judge) -> None:
    """D4: sent two seconds late by a client that stalled, acknowledged at once: two seconds of latency."""
    history = History(records=100)
    history.change("sends", {"seq": 50}, invoked=ns(9.5), completed=ns(9.505))  # it was due at 7.5 s
    verdict = judge(history)
    assert measure(verdict, "latency_max", "writer") == pytest.approx(2.005)
    assert measure(verdict, "latency_max", "writer", "baseline") == pytest.approx(0.005)
    assert measure(verdict, "latency_p50", "writer") == pytest.approx(0.005, rel=0.001)
    assert measure(verdict, "latency_p99", "writer") == pytest.approx(0.005, rel=0.001)  # 99 of 100
    assert measure(verdict, "latency_p99", "writer", "after_heal") == pytest.approx(2.005, rel=0.001)  # 1 of 56


@pytest.mark.proves("latency", "fires")
@pytest.mark.proves("end_to_end", "fires")
def test_percentiles_are_shares_of_the_records(judge: Judge) -> None:
    """D4: acknowledged after 1, 2, 3 ... 100 ms, and delivered after twice that."""
    history = History(records=100)
    for number, (send, read) in enumerate(zip(history.rows["sends"], history.rows["reads"], strict=True), 1):
        send["completed"] = send["scheduled"] + number * 1_000_000
        read["at"] = send["scheduled"] + number * 2_000_000
    verdict = judge(history)
    assert measure(verdict, "latency_p50", "writer") == pytest.approx(0.050, rel=0.001)
    assert measure(verdict, "latency_p99", "writer") == pytest.approx(0.099, rel=0.001)
    assert measure(verdict, "end_to_end_p99", "reader") == pytest.approx(0.198, rel=0.001)
    assert measure(verdict, "end_to_end_max", "reader") == pytest.approx(0.200)


def survived(every: int) -> History:
    """Ten sends a second; of those that were due from 1.1 s to 6 s one in ``every`` timed out after 10 s."""
    history = History(records=250)
    for seq in range(61, 110):
        if seq % every == 0:
            at = -5 + seq / 10
            history.change("sends", {"seq": seq}, outcome="info", error="_MSG_TIMED_OUT", offset=None,
                           completed=ns(at + 10))  # fmt: skip
            history.drop("audit", seq=seq)
            history.drop("reads", seq=seq)
    left = sorted({row["offset"] for row in history.rows["audit"]})
    moved = {offset: number for number, offset in enumerate(left)} | {None: None}
    for table in ("sends", "reads", "audit"):
        history.each(table, lambda row: row | {"offset": moved[row["offset"]]})
    return history


@pytest.mark.proves("latency", "near miss")
@pytest.mark.parametrize(
    ("every", "metric", "outcome"),
    [
        (2, "latency_p99", Outcome.DEGRADED),
        (2, "latency_max", Outcome.DEGRADED),
        (3, "latency_p50", Outcome.PASS),
        (1_000, "latency_max", Outcome.PASS),
    ],
)
def test_the_latency_of_those_that_survived_is_not_that_of_all(
    judge: Judge, every: int, metric: str, outcome: Outcome
) -> None:
    """D4: every second send of the fault timed out, so 99 % of them took 10 s at least; the median of all is known."""
    history = survived(every)
    history.expect = {metric: {"max": "50ms", "during": "kill"}}
    assert judge(history).verdict is outcome


@pytest.mark.proves("latency", "no evidence")
def test_a_bound_beyond_the_time_that_failed_sends_waited_is_open(judge: Judge) -> None:
    """D4: they were given up after 10 s, and might have taken 20 s."""
    history = survived(2)
    history.expect = {"latency_p99": {"max": "20s", "during": "kill"}}
    verdict = judge(history)
    assert (verdict.verdict, guards(verdict)) == (Outcome.INCONCLUSIVE, {"objective_unmeasured"})
    assert measure(verdict, "latency_p99", "writer", "kill") == pytest.approx(10, rel=0.001)


@pytest.mark.proves("end_to_end", "fires")
@pytest.mark.parametrize("lost", [(31, 32, 33), ()], ids=["lost", "all delivered"])
def test_a_record_that_is_never_delivered_has_no_end_to_end_latency_that_keeps_a_bound(
    judge: Judge, lost: tuple[int, ...]
) -> None:
    """D4: with acks=1 the end of the log was lost with its leader, and that is allowed."""
    history = History(records=50, acks=1)
    history.elect(12)
    for seq in lost:
        history.drop("audit", seq=seq)
        history.drop("reads", seq=seq)
    for table in ("sends", "reads", "audit"):
        history.each(table, lambda row: row | {"offset": row["offset"] - len(lost) * (row["seq"] > 33)})
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["seq"] < 34 else 4})
    history.expect = {"end_to_end_max": {"max": "100ms"}}
    assert judge(history).verdict is (Outcome.DEGRADED if lost else Outcome.PASS)


@pytest.mark.proves("end_to_end", "near miss")
def test_what_a_reader_is_not_owed_has_no_latency(judge: Judge) -> None:
    """D4: it began at 10, the end as it was then; nobody waits for the ten records before that."""
    history = History(records=50)
    history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
    history.change("assignments", {}, at=ns(-0.3))
    history.change("fetched", {}, invoked=ns(-0.25), completed=ns(-0.2))
    history.add("seeks", offset=10, at=-0.1, kind="reset")
    for offset in range(10):
        history.drop("reads", offset=offset)
    history.expect = {"end_to_end_max": {"max": "100ms"}}
    (objective,) = judge(history).objectives
    assert objective.met
    assert objective.measured == pytest.approx(0.010)


@pytest.mark.proves("end_to_end", "fires")
def test_end_to_end_counts_the_first_delivery(judge: Judge) -> None:
    """D4: from when it was due to its first delivery; being given again later does not count."""
    history = History(records=100)
    history.add("seeks", offset=99, at=19.85)
    history.read(99, 19.95)
    verdict = judge(history)
    assert measure(verdict, "end_to_end_max", "reader") == pytest.approx(0.010)
    assert measure(verdict, "end_to_end_p99", "reader") == pytest.approx(0.010, rel=0.001)


@pytest.mark.proves("outcomes", "fires")
def test_outcomes_are_counted_by_when_records_were_due(judge: Judge) -> None:
    """Acknowledged, failed and uncertain, in the run and in each window; rates by the windows' lengths."""
    history = History(records=100)  # four a second
    for seq, outcome in ((30, "fail"), (31, "info"), (90, "fail")):
        history.change("sends", {"seq": seq}, outcome=outcome, offset=None)
        history.drop("reads", offset=seq)
        history.drop("audit", offset=seq)
    verdict = judge(history)
    assert measure(verdict, "acknowledged_records", "writer") == 97
    assert measure(verdict, "failed_records", "writer") == 2
    assert measure(verdict, "failed_records", "writer", "kill") == 1
    assert measure(verdict, "uncertain_records", "writer", "after_heal") == 0
    assert measure(verdict, "rate", "writer", "baseline") == 4
    assert measure(verdict, "rate", "reader", "baseline") == 4
    assert measure(verdict, "rate", "writer", "kill") == 3.469  # 17 in 4.9 s, to three places
    assert told(verdict) == {}


@pytest.mark.proves("outcomes", "no evidence")
def test_a_window_without_any_time_has_no_rate(judge: Judge) -> None:
    """D3: the fault was undone only as the run ended, so nothing came after it."""
    history = History(records=50)
    history.change("faults", {"fault": "kill"}, healed=ns(20))
    verdict = judge(history)
    assert measure(verdict, "rate", "writer", "after_heal") is None
    assert measure(verdict, "rate", "writer") == 2


# --- D1, D2 -----------------------------------------------------------------------------------------------------------


@pytest.mark.proves("produce_unavailability", "fires")
def test_a_stretch_without_acknowledgements_is_unavailability(judge: Judge) -> None:
    """D1 and D2: 2.5 s in which sends waited; the reader waits as long, and 5 ms more until the first is there."""
    history = History(records=250)
    stalled(history, 1.1, 3.6)
    verdict = judge(history, "produce_unavailability", "consume_unavailability")
    assert measure(verdict, "unavailability", "writer") == pytest.approx(2.5, abs=0.11)
    assert measure(verdict, "unavailability", "writer", "kill") == measure(verdict, "unavailability", "writer")
    assert measure(verdict, "unavailability", "writer", "baseline") == 0
    outage = finding(verdict, "produce_unavailability")
    assert (outage.severity, outage.faults, outage.evidence[0]["censored"]) == (Severity.INFORMATION, ("kill",), False)
    assert outage.evidence[0]["seconds"] == pytest.approx(2.5, abs=0.11)
    assert told(verdict, "information") == {"produce_unavailability": 1}  # each record was acknowledged only at 3.6 s
    assert measure(verdict, "unavailability", "reader") == 0


@pytest.mark.proves("consume_unavailability", "fires")
def test_records_that_wait_to_be_read_are_unavailability_of_the_reader(judge: Judge) -> None:
    """D2: acknowledged all the time, delivered only at the end of the stretch."""
    history = History(records=250)
    history.each("reads", lambda row: row | ({"at": ns(3.6)} if ns(1.1) <= row["at"] < ns(3.6) else {}))
    verdict = judge(history, "produce_unavailability", "consume_unavailability")
    assert measure(verdict, "unavailability", "writer") == 0
    assert measure(verdict, "unavailability", "reader") == pytest.approx(2.5, abs=0.11)
    assert measure(verdict, "unavailable_total", "reader") == measure(verdict, "unavailability", "reader")
    outage = finding(verdict, "consume_unavailability").evidence[0]
    assert outage["seconds"] == pytest.approx(measure(verdict, "unavailability", "reader"))


@pytest.mark.proves("produce_unavailability", "near miss")
def test_a_producer_with_nothing_to_send_is_not_kept_from_sending(judge: Judge) -> None:
    """Near miss of D1 and D2: nothing was due for two and a half seconds."""
    history = History(records=250)
    for table, column in (("sends", "scheduled"), ("reads", "at")):
        history.rows[table] = [row for row in history.rows[table] if not ns(1.1) <= row[column] < ns(3.6)]
    kept = {row["offset"] for row in history.rows["reads"]}
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] in kept]
    history.rows["sends"] = [row for row in history.rows["sends"] if row["seq"] in kept]
    verdict = judge(history, "produce_unavailability", "consume_unavailability")
    assert told(verdict, "information") == {}
    assert verdict.verdict is Outcome.PASS


def test_a_window_in_which_nothing_was_to_be_sent_has_no_unavailability(judge: Judge) -> None:
    """D1: the named wait from 7 s to 10 s passed without a send, so that nobody knows what would have become of one."""
    history = History(records=50)
    history.add("faults", fault="calm", step="wait", targets="", invoked=7, applied=10, took=True, undone=True)
    for table in ("sends", "reads", "audit"):
        history.rows[table] = [row for row in history.rows[table] if not 24 <= row["seq"] < 30]
    history.expect = {"unavailability": {"writer": {"max": "1s", "during": "calm"}}}
    verdict = judge(history, "produce_unavailability")
    assert measure(verdict, "unavailability", "writer", "calm") is None
    assert "objective_unmeasured" in guards(verdict)


def test_a_producer_that_sends_seldom_is_kept_from_sending_as_any_other(judge: Judge) -> None:
    """D1: one record a second. That nothing is acknowledged between two of them is no reason to overlook 3.1 s."""
    history = History(records=25)
    stalled(history, 1.1, 5.1)
    verdict = judge(history, "produce_unavailability")
    assert measure(verdict, "unavailability", "writer") == pytest.approx(3.1)
    assert measure(verdict, "unavailability", "writer", "baseline") == 0


def test_a_producer_that_always_waits_is_not_kept_from_sending(judge: Judge) -> None:
    """Near miss of D1: in the baseline, too, each record waited 0.4 s, two a second; 3.5 s are ordinary then."""
    history = History(records=50)
    history.each("sends", lambda row: row | {"completed": row["scheduled"] + 400_000_000})
    history.each("reads", lambda row: row | {"at": row["at"] + 400_000_000})
    stalled(history, 1.1, 4.6)
    verdict = judge(history, "produce_unavailability")
    assert measure(verdict, "unavailability", "writer") == 0


def test_sends_that_failed_meanwhile_are_named_with_their_errors(judge: Judge) -> None:
    """D1: the outage's row says what became of the sends in it."""
    history = History(records=250)
    for row in [row for row in history.rows["sends"] if ns(1.1) <= row["completed"] < ns(3.6)]:
        history.drop("reads", offset=row["seq"])
        history.drop("audit", offset=row["seq"])
        error = "_MSG_TIMED_OUT" if row["seq"] % 2 else "NOT_LEADER_FOR_PARTITION"
        outcome = "info" if row["seq"] % 2 else "fail"
        history.change("sends", {"seq": row["seq"]}, outcome=outcome, error=error, offset=None)
    verdict = judge(history, "produce_unavailability")
    row = finding(verdict, "produce_unavailability").evidence[0]
    assert sum(int(str(row[outcome])) for outcome in ("failed", "uncertain")) == 25
    assert row["errors"] == "NOT_LEADER_FOR_PARTITION, _MSG_TIMED_OUT"


@pytest.mark.proves("produce_unavailability", "no evidence")
def test_an_outage_that_never_ended_is_censored(judge: Judge) -> None:
    """D1: all sends from 12 s on failed: it lasted at least until the last of them; an objective on it is open."""
    history = History(records=250)
    history.expect = {"unavailability": {"writer": "20s"}}
    for row in [row for row in history.rows["sends"] if row["scheduled"] >= ns(12)]:
        history.drop("reads", offset=row["seq"])
        history.drop("audit", offset=row["seq"])
        history.change("sends", {"seq": row["seq"]}, outcome="fail", partition=None, offset=None)
    verdict = judge(history, "produce_unavailability")
    assert finding(verdict, "produce_unavailability").evidence[0]["censored"] is True
    assert measure(verdict, "unavailability", "writer") == pytest.approx(8, abs=0.21)
    assert guards(verdict) == {"objective_unmeasured"}


def test_records_that_were_never_read_are_an_outage_of_the_reader(judge: Judge) -> None:
    """D2: nothing was delivered from 12 s on, until the readers were told to end at 21 s."""
    history = History(records=250)
    history.rows["reads"] = [row for row in history.rows["reads"] if row["at"] < ns(12)]
    verdict = judge(history, "consume_unavailability")
    assert measure(verdict, "unavailability", "reader") == pytest.approx(9, abs=0.21)
    assert finding(verdict, "consume_unavailability").evidence[0]["censored"] is True


def test_a_partition_that_is_out_counts_though_others_go_on(judge: Judge) -> None:
    """D1 by partition: one of two is out for three seconds."""
    history = History()
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=-1, complete=True)
    history.add("assignments", at=-5.9, partition=1)
    for number in range(250):
        history.flow(number, -5 + number / 10, offset=number // 2, partition=number % 2)
    for row in [row for row in history.rows["sends"] if row["partition"] and ns(2) <= row["completed"] < ns(5)]:
        history.change("sends", {"seq": row["seq"]}, completed=ns(5))
    verdict = judge(history, "produce_unavailability")
    assert measure(verdict, "unavailability", "writer") == pytest.approx(3, abs=0.21)


def test_a_slow_trickle_is_not_out_between_two_records(judge: Judge) -> None:
    """Near miss of D1: one record every 1.25 s; gaps of that length are its baseline."""
    verdict = judge(History(records=20), "produce_unavailability", "consume_unavailability")
    assert told(verdict, "information") == {}


# --- D5, D6, D7 -------------------------------------------------------------------------------------------------------


@pytest.mark.proves("recovery", "fires")
def test_recovery_counts_from_the_undo_and_from_the_fault(judge: Judge) -> None:
    """D5: healed at 6 s, but sends wait until 8.5 s; the fault took effect at 1.1 s."""
    history = History(records=1000)
    stalled(history, 6.2, 8.5)
    verdict = judge(history, "recovery")
    assert measure(verdict, "recovery", "kill") == pytest.approx(2.5, abs=0.3)
    assert measure(verdict, "recovery_from_fault", "kill") == pytest.approx(0, abs=0.3)


@pytest.mark.proves("recovery", "near miss")
def test_missing_replicas_are_not_recovered(judge: Judge) -> None:
    """D5: the probes felt nothing; the ISR was whole again only at 9 s."""
    history = History(records=1000)
    history.each("partitions", lambda row: row | ({"isr": [0, 2]} if ns(1) < row["at"] < ns(9) else {}))
    verdict = judge(history, "recovery")
    assert measure(verdict, "recovery", "kill") == pytest.approx(3, abs=0.3)
    assert measure(verdict, "recovery_from_fault", "kill") == pytest.approx(7.9, abs=0.3)


@pytest.mark.proves("recovery", "no evidence")
def test_what_had_not_recovered_when_the_run_ended_is_censored(judge: Judge) -> None:
    """D5: an objective on it is missed if it lasted longer already, else open."""
    history = History(records=1000)
    history.expect = {"recovery": {"kill": {"max": "10s"}}}
    history.each("partitions", lambda row: row | ({"isr": [0, 2]} if ns(1) < row["at"] else {}))
    verdict = judge(history, "recovery")
    (figure,) = [m for m in verdict.measures if m.metric == "recovery"]
    assert (figure.value, figure.censored) == (14, True)
    assert verdict.verdict is Outcome.DEGRADED


@pytest.mark.proves("election", "fires")
def test_election_time_is_from_the_last_sign_of_the_old_leader(judge: Judge) -> None:
    """D6: broker 1 answered as leader until 1.0 s; broker 2 is first named at 3.4 s."""
    history = History(records=50)
    history.each("partitions", lambda row: row | ({"leader": 2, "leader_epoch": 4} if row["at"] >= ns(3.3) else {}))
    history.rows["offsets"] = [row for row in history.rows["offsets"] if row["at"] <= ns(1.1)]
    verdict = judge(history, "election")
    row = finding(verdict, "election").evidence[0]
    assert (row["from_leader"], row["to_leader"], row["epoch"]) == (1, 2, 4)
    assert measure(verdict, "election", "orders") == pytest.approx(2.4, abs=0.01)
    assert measure(verdict, "election", "orders", "kill") == pytest.approx(2.4, abs=0.01)
    assert measure(verdict, "election", "orders", "baseline") is None


def test_a_partition_that_had_no_leader_in_between(judge: Judge) -> None:
    """D6: the same leader comes back with a new epoch after a while without any."""
    history = History(records=50)
    history.each("partitions", _leaderless)
    history.rows["offsets"] = [row for row in history.rows["offsets"] if row["at"] <= ns(1.1) or row["at"] >= ns(5)]
    verdict = judge(history, "election")
    row = finding(verdict, "election").evidence[0]
    assert (row["from_leader"], row["to_leader"], row["epoch"]) == (1, 1, 5)
    assert measure(verdict, "election", "orders") == pytest.approx(4, abs=0.01)


def _leaderless(row: Row) -> Row:
    if row["at"] <= ns(1.1):
        return row
    return row | ({"leader": -1, "leader_epoch": 4} if row["at"] < ns(4.9) else {"leader_epoch": 5})


@pytest.mark.proves("election", "near miss")
def test_without_a_change_there_was_no_election(judge: Judge) -> None:
    """D6: an objective on what did not happen cannot be judged."""
    history = History(records=50)
    history.expect = {"election": "10s"}
    assert guards(judge(history, "election")) == {"objective_unmeasured"}


@pytest.mark.proves("election", "no evidence")
def test_a_leader_of_an_unknown_epoch_is_no_election(judge: Judge) -> None:
    """Near miss of D6: a broker named another leader, and did not say since which epoch."""
    history = History(records=50)
    history.add("partitions", at=3, asked=2, leader=2, leader_epoch=None, replicas=[0, 1, 2], isr=[0, 1, 2])
    verdict = judge(history, "election")
    assert measure(verdict, "election", "orders") is None


@pytest.mark.proves("rebalances", "fires")
def test_rebalances_are_counted_from_the_first_loss_to_the_last_gain(judge: Judge) -> None:
    """D7: two members, an eager rebalance at 3 s that took 1.5 s; joining and leaving at the ends do not count."""
    history = History(records=50)
    history.probes["other"] = {"consume": {"topic": "orders", "group": "readers"}}
    history.record["probes"].append({"probe": "other", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("other", kind="consume", group="readers", isolation="read_committed", commit="sync")
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=-1, complete=True)
    history.add("assignments", probe="other", partition=1, at=-5.8)
    for at, kind, number in ((3.0, "revoke", 1), (4.0, "assign", 1), (20.5, "revoke", 2)):
        history.add("assignments", at=at, kind=kind, rebalance=number, assignment=number)
    for at, kind, number in ((3.2, "lost", 1), (4.5, "assign", 1), (20.6, "revoke", 2)):
        history.add("assignments", probe="other", partition=1, at=at, kind=kind, rebalance=number, assignment=number)
    verdict = judge(history, "rebalances")
    assert measure(verdict, "rebalances", "readers") == 1
    assert measure(verdict, "rebalance_time", "readers") == pytest.approx(1.5)
    row = finding(verdict, "rebalances").evidence[0]
    assert (row["members"], row["taken"], row["given"]) == (2, 2, 2)
    assert measure(verdict, "rebalances", "readers", "after_heal") == 0


@pytest.mark.proves("rebalances", "near miss")
def test_the_first_assignment_is_no_rebalance(judge: Judge) -> None:
    """Near miss of D7."""
    verdict = judge(History(records=50), "rebalances")
    assert measure(verdict, "rebalances", "readers") == 0
    assert told(verdict, "information") == {}

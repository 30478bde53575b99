"""Histories that were made up against the verdict, each with what must be said of it."""

from __future__ import annotations

import pytest
from analysis.conftest import Judge
from analysis.history import ORIGIN, History, Row, ns
from analysis.tallying import tallies
from analysis.transactional import piped, transactional

from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark
EVERY_CHECK = True
"""Whatever check it is that finds them wrong."""


def lost(history: History, *offsets: int) -> History:
    """The history without these records in the log, and in anybody's hands."""
    for offset in offsets:
        history.drop("audit", offset=offset)
        history.drop("reads", offset=offset)
    return history


def then(history: History, **entry: Row) -> History:
    """The history with one more entry, ``lax``, that set something from 9.2 s to 9.9 s."""
    plan = history.plan

    def longer() -> Row:
        document = plan()
        document["scenario"]["timeline"].append({"name": "lax", "at": "9s", **entry})
        return document

    history.plan = longer  # type: ignore[method-assign] # there is one entry otherwise
    history.record["entries"].append({"entry": "lax", "status": "done"})
    history.add("faults", fault="lax", step="set_topic_config", targets="orders", invoked=9, applied=9.2,
                heal_invoked=9.8, healed=9.9, took=True, undone=True)  # fmt: skip
    return history


def epochs(history: History, first: int, epoch: int) -> None:
    """Records from ``first`` on are of leader epoch ``epoch``, and those before it of 3."""
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["offset"] < first else epoch})


def test_an_isr_that_one_broker_alone_names_is_no_witness(judge: Judge) -> None:
    """Broker 0 names broker 1 alone from 5 s on, the leader itself and broker 2 name all three until 12 s.

    Then broker 2 leads. That it was not in sync is one broker's word against two, and two records are gone.
    """
    history = History(records=50)
    history.topic["config"]["unclean.leader.election.enable"] = True
    rows, history.rows["partitions"] = history.rows["partitions"], []
    for row in rows:
        for asked in (0, 1, 2) if row["at"] < ns(12) else (0, 2):
            own = {"isr": [1] if asked == 0 and row["at"] >= ns(5) else [0, 1, 2]}
            after = {"leader": 2, "leader_epoch": 4, "isr": [0, 2]}
            history.rows["partitions"].append(row | {"asked": asked} | (own if row["at"] < ns(12) else after))
    history.each("offsets", lambda row: row | ({"asked": 2} if row["at"] >= ns(12) else {}))
    epochs(history, 34, 4)
    assert judge(lost(history, 32, 33)).verdict is not Outcome.PASS


def deposed(told: int) -> History:
    """A leader that told a high watermark of ``told`` at most, then another one is elected, and offset 49 is gone."""
    history = History(records=50, acks=1)
    history.each("partitions", lambda row: row | {"asked": 1})

    def sampled(row: Row) -> Row:
        end = min(50, max(0, (row["at"] - ns(-5)) // 500_000_000 + 1))
        return row | {"log_end": end, "high_watermark": min(end, told), "last_stable": min(end, told)}

    history.each("offsets", sampled)
    history.elect(20.5)
    history.each("offsets", lambda row: row | ({"log_end": 49, "high_watermark": 49} if row["at"] >= ns(20.5) else {}))
    return lost(history, 49)


def test_a_high_watermark_beyond_a_record_proves_that_all_in_sync_had_it(judge: Judge) -> None:
    """acks=1: the leader told a high watermark of 50 for a second, another one is elected, and offset 49 is gone."""
    assert judge(deposed(told=50)).verdict is Outcome.VIOLATION


def test_a_high_watermark_at_a_record_excuses_its_loss(judge: Judge) -> None:
    """Near miss: it stood at 49, so that offset 49 was the leader's alone."""
    assert judge(deposed(told=49)).verdict is Outcome.PASS


@pytest.mark.parametrize(
    ("shared", "outcome"),
    [((), Outcome.PASS), ((20.2,), Outcome.PASS), ((-4.0,), Outcome.PASS), (None, Outcome.VIOLATION)],
)
def test_a_high_watermark_of_a_leader_alone_in_sync_proves_nothing(
    judge: Judge, shared: tuple[float, ...] | None, outcome: Outcome
) -> None:
    """acks=1: offset 49 was sent at 19.5 s; the leader was alone in sync since 0 s, but for a sample, or all the time.

    ``shared``: times at which all three are named; None: always from 5 s on.
    """
    history = deposed(told=50)
    alone = {row["at"]: ns(0) <= row["at"] < ns(20.5) for row in history.rows["partitions"]}
    if shared is None:
        alone = {at: here and at < ns(5) for at, here in alone.items()}
    alone |= dict.fromkeys(map(ns, shared or ()), False)
    history.each("partitions", lambda row: row | ({"isr": [1]} if alone[row["at"]] else {}))
    assert judge(history).verdict is outcome


def test_inputs_of_an_aborted_transaction_that_are_never_read_again_are_not_delivered(judge: Judge) -> None:
    """The pipe's last transaction was aborted at 20 s, and its ten inputs were given to it in no other one."""
    history = piped()
    history.change("transactions", {"txn": "p-4"}, outcome="aborted")
    for seq in range(40, 50):
        history.drop("audit", producer="pipe", seq=seq, isolation="read_committed")
    history.change("groups", {"group": "pipes"}, offset=40)
    assert judge(history).verdict is not Outcome.PASS


def test_a_producer_without_any_answer_has_no_latency_that_keeps_a_bound(judge: Judge) -> None:
    """All of ``other``'s sends during the kill timed out: no 99 % of all probes' records took less than 50 ms."""
    history = History(records=50)
    history.probes["other"] = {"produce": {"topic": "orders", "rate": "2/s"}}
    history.worker("other", kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.record["probes"].append({"probe": "other", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    for number in range(50):
        at = -4.8 + number / 2
        history.send(number, at, probe="other")
        if 1.1 <= at < 6:
            history.rows["sends"][-1] |= {"outcome": "info", "offset": None, "completed": ns(at + 30)}
    history.rows["reads"].clear()
    history.rows["audit"].clear()
    answered = [row for row in history.rows["sends"] if row["outcome"] == "ok"]
    for offset, row in enumerate(sorted(answered, key=lambda row: int(row["invoked"]))):
        row["offset"] = offset
        who = {"producer": row["probe"], "seq": row["seq"]}
        history.read(offset, (row["completed"] - ORIGIN) / 1e9 + 0.01, **who)
        history.audit(offset, **who)
    history.expect = {"latency_p99": {"max": "50ms", "during": "kill"}}
    assert judge(history).verdict is not Outcome.PASS


def test_a_row_that_stands_twice_in_its_file_is_no_violation(judge: Judge) -> None:
    """One delivery is there twice, the same in every column, and its process says that it wrote fifty."""
    history = History(records=50)
    history.counts_itself = False
    history.rows["tallies"] = list(tallies(history.rows, [("reader", 0), ("writer", 0)], ns(21)))
    history.each("ends", lambda row: row | {"rows": 50})
    history.rows["reads"].append(dict(history.rows["reads"][20]))
    assert judge(history).verdict is Outcome.INCONCLUSIVE


def test_a_predicted_loss_predicts_nothing_of_another_partition(judge: Judge) -> None:
    """A record of partition 0 is lost as predicted; in partition 1 nothing is, and its leader epochs go down."""
    history = History(records=50)
    history.topic["partitions"] = 2
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=3, complete=True)
    for table in ("partitions", "offsets"):
        history.rows[table] += [row | {"partition": 1} for row in history.rows[table]]
    history.add("assignments", at=-5.9, partition=1)
    history.add("fetched", partition=1, offset=None, invoked=-5.85, completed=-5.8)
    for number in range(3):
        history.flow(50 + number, 3 + number, offset=number, partition=1)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": (5, 4, 4)[row["offset"]] if row["partition"] else 3})
    history.drop("audit", seq=20)
    history.drop("reads", seq=20)
    history.expect = {"lost_records": {"orders": {"min": 1}}, "verdict": "violation"}
    assert judge(history).verdict is Outcome.VIOLATION


@pytest.mark.parametrize(("first", "verdict"), [(5, Outcome.VIOLATION), (44, Outcome.PASS)], ids=["below", "above"])
def test_a_predicted_loss_predicts_nothing_below_it(judge: Judge, first: int, verdict: Outcome) -> None:
    """Offset 40 is lost as predicted. Leader epochs go down at 6, long before that, or at 45, as after a cut."""
    history = lost(History(records=50), 40)
    history.expect = {"lost_records": {"orders": {"min": 1}}, "verdict": "violation"}
    for table in ("reads", "audit"):
        history.each(
            table,
            lambda row: row | {"leader_epoch": 2 if row["offset"] == first + 1 else 3 if row["offset"] < first else 7},
        )
    found = judge(history)
    assert found.verdict is verdict
    (regression,) = [each for each in found.findings if each.check == "leader_epoch_regression"]
    assert regression.evidence[0]["offset"] == first + 1


def given_again(*, kind: str = "sync") -> History:
    """The group had committed 30, its member is given the partition again, finds 5 and reads 5 to 29 once more."""
    history = History(records=50)
    history.commit(30, 9.9, kind=kind)
    history.add("assignments", at=10.0, kind="revoke")
    history.add("assignments", at=10.1, assignment=1, rebalance=1)
    history.add("fetched", offset=5, invoked=10.12, completed=10.15)
    later = [row for row in history.rows["reads"] if row["at"] >= ns(10)]
    history.rows["reads"] = [row for row in history.rows["reads"] if row["at"] < ns(10)]
    for seq in range(5, 30):
        history.read(seq, 10.2 + seq / 1000, assignment=1)
    history.rows["reads"] += [row | {"assignment": 1, "at": max(row["at"], ns(10.3))} for row in later]
    for number, row in enumerate(sorted(history.rows["reads"], key=lambda row: (row["at"], row["n"]))):
        row |= {"n": number, "poll": number}
    history.expect = {"redelivered_records": {"readers": {"min": 1}}, "verdict": "violation"}
    return history


@pytest.mark.parametrize(
    ("kind", "rules", "verdict"),
    [
        ("sync", {}, Outcome.VIOLATION),
        ("sync", {"rules": {"B6": ["readers"]}}, Outcome.PASS),
        ("topic", {}, Outcome.PASS),
    ],
    ids=["lost by the cluster", "predicted by its rule", "restored wrongly by the application"],
)  # fmt: skip
def test_predicted_redeliveries_predict_no_lost_commit(judge: Judge, kind: str, rules: Row, verdict: Outcome) -> None:
    """That records are given again may be the application's doing; that an acknowledged commit is gone is not."""
    history = given_again(kind=kind)
    history.expect |= rules
    found = judge(history)
    assert {each.check for each in found.findings} >= {"redelivery", "commit_regression"}
    assert found.verdict is verdict


def test_an_unclean_election_before_it_was_allowed_excuses_nothing(judge: Judge) -> None:
    """A broker that was not in sync was elected at 5 s; the topic allowed that from 9 s on."""
    history = History(records=50)
    history.elect_uncleanly(5, allowed=False)
    epochs(history, 20, 5)
    config: Row = {"topic": "orders", "config": {"unclean.leader.election.enable": "true"}}
    then(history, set_topic_config=config)
    assert judge(lost(history, 18, 19)).verdict is not Outcome.PASS


def test_a_minimum_that_was_lowered_later_excuses_nothing(judge: Judge) -> None:
    """One of three replicas lost its power at 1 s, with min.insync.replicas of 2, so that another one had the record.

    From 9 s on the minimum was 1.
    """
    history = History(records=50)
    history.change("faults", {"fault": "kill"}, step="power_off", targets="host node1")
    history.add("faults", fault="shrunk", step="stop_broker", targets="broker 1 on node2, broker 2 on node3",
                invoked=0.2, applied=0.3, heal_invoked=5.2, healed=6, took=True, undone=True)  # fmt: skip
    then(history, set_topic_config={"topic": "orders", "config": {"min.insync.replicas": 1}})
    assert judge(lost(history, 11)).verdict is not Outcome.PASS


def test_who_seeks_back_is_given_what_stands_there(judge: Judge) -> None:
    """The reader sought 10 at 5.2 s and was given 15 next: 10 to 14 were passed over, though it had had them before."""
    history = History(records=50)
    history.add("seeks", offset=10, at=5.2)
    later = [row for row in history.rows["reads"] if row["offset"] > 20]
    history.rows["reads"] = [row for row in history.rows["reads"] if row["offset"] <= 20]
    for offset in range(15, 21):
        history.read(offset, 5.3)
    history.rows["reads"] += [row | {"n": row["n"] + 6, "poll": row["poll"] + 6} for row in later]
    assert judge(history).verdict is not Outcome.PASS


def test_a_group_whose_members_begin_at_different_ends_is_excused_nothing_by_that(judge: Judge) -> None:
    """Nobody told where the group began: one member would have begun at the end, the other one, which read, at 0."""
    history = History(records=50)
    history.probes["other"] = {
        "consume": {"topic": "orders", "group": "readers", "config": {"auto.offset.reset": "latest"}}
    }
    history.worker("other", kind="consume", group="readers", isolation="read_committed", commit="sync")
    history.record["probes"].append({"probe": "other", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.drop("fetched", offset=None)
    for offset in range(10):
        history.drop("reads", offset=offset)
    history.change("assignments", {}, at=ns(0.3))
    assert judge(history).verdict is not Outcome.PASS


def test_an_offset_that_is_committed_beyond_the_log_is_no_pass(judge: Judge) -> None:
    """The group has committed 60, and the log ends at 50: what comes next it will not be given."""
    history = History(records=50)
    history.add("groups", offset=60)
    assert judge(history).verdict is not Outcome.PASS


def test_a_committed_transaction_of_which_nothing_is_visible_is_no_pass(judge: Judge) -> None:
    """Its records were acknowledged and its commit was, too; careful readers are shown none of them."""
    history = transactional()
    for seq in range(20, 30):
        history.drop("audit", seq=seq, isolation="read_committed")
        history.drop("reads", seq=seq)
    verdict = judge(history)
    assert verdict.verdict is Outcome.VIOLATION
    assert {each.rule for each in verdict.findings if each.severity == "violation"} & {"A4", "C3"}


@pytest.mark.parametrize("outcome", ["ok", "info"])
def test_a_last_stable_offset_below_the_high_watermark_is_no_pass(judge: Judge, outcome: str) -> None:
    """When the audit read, it stood at 40 of 50: what is beyond was acknowledged and delivered, or nobody knows."""
    history = History(records=50)
    history.rows["audit"] = [
        row for row in history.rows["audit"] if row["isolation"] == "read_uncommitted" or row["offset"] < 40
    ]
    history.each("audit_ranges", lambda row: row | {"end": 40 if row["isolation"] == "read_committed" else 50})
    history.rows["reads"] = [row for row in history.rows["reads"] if row["offset"] < 40]
    history.each("sends", lambda row: row | ({"outcome": outcome} if row["seq"] >= 40 else {}))
    assert judge(history).verdict is Outcome.INCONCLUSIVE


def test_an_open_transaction_of_somebody_else_is_no_pass(judge: Judge) -> None:
    """When the audit read, the last stable offset stood at 50, before ten records of a transaction of others'."""
    history = History(records=50)
    for offset in range(50, 60):
        history.add("audit", offset=offset, isolation="read_uncommitted", producer=None, producer_incarnation=None,
                    seq=None, intact=False)  # fmt: skip
    history.each("audit_ranges", lambda row: row | {"end": 50 if row["isolation"] == "read_committed" else 60})
    assert judge(history).verdict is not Outcome.PASS


def test_without_answers_copies_are_found_where_they_were_read(judge: Judge) -> None:
    """acks=0: nobody was told an offset; the audit and the reader have one record twice, and its producer retries."""
    history = History(records=50, acks=0, idempotent=False)
    history.each("sends", lambda row: row | {"offset": None})
    history.read(50, 19.99, seq=20)
    history.audit(50, seq=20)
    found = [each for each in judge(history).findings if each.check == "duplicate_in_log"]
    assert [each.count for each in found] == [1]
    assert {found[0].evidence[0]["offset"], found[0].evidence[0]["other_offset"]} == {20, 50}

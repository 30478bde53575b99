"""Losses beside a truncation or an election that did not cause them, each with the near miss that it did cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from analysis.asking import Asked, asking
from analysis.history import History, Row, ns
from analysis.test_late_write import late
from analysis.transactional import piped
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CUT = 30
"""The first offset that the unclean election at 12 s removed."""
Ask = Callable[[str, History], list[Row]]


@pytest.fixture
def ask(spark: SparkSession, tmp_path: Path) -> Ask:
    """Asks a history one check."""
    asked: dict[str, Asked] = {}

    def rows(check: str, history: History) -> list[Row]:
        if check not in asked:
            asked[check] = asking(spark, tmp_path / check, check)
        return asked[check](history)

    return rows


def severities(rows: list[Row]) -> dict[int, str]:
    """By offset, or by sequence number without one, the severity of each row."""
    return {row["seq"] if row["offset"] is None else row["offset"]: row["severity"] for row in rows}


def gone(history: History, *seqs: int) -> History:
    """The history without these records in the log and in the reader's hands."""
    for table in ("audit", "reads"):
        for seq in seqs:
            history.drop(table, seq=seq)
    return renumbered(history)


def renumbered(history: History) -> History:
    """The reader's deliveries and polls numbered by time."""
    mine = sorted((row for row in history.rows["reads"] if row["probe"] == "reader"), key=lambda row: int(row["at"]))
    for number, row in enumerate(mine):
        row["n"] = row["poll"] = number
    return history


def epochs(history: History, first: int, epoch: int) -> None:
    """Records from number ``first`` on are of leader epoch ``epoch``, and those before it of 3."""
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["seq"] < first else epoch})


def shifted(history: History, first: int, by: int) -> None:
    """Records from number ``first`` on stand ``by`` offsets further."""
    for table in ("sends", "reads", "audit"):
        history.each(table, lambda row: row | _moved(row, by) if row["seq"] >= first else row)


def _moved(row: Row, by: int) -> Row:
    return {"offset": None if row["offset"] is None else row["offset"] + by}


def unclean(**settings: Any) -> History:
    """An unclean election at 12 s: offsets 30 to 33 are cut, and the records from number 34 on take their place."""
    history = History(records=50, **settings)
    history.topic["config"]["min.insync.replicas"] = 1
    history.elect_uncleanly(12)
    for seq in range(CUT, 34):
        history.drop("audit", seq=seq)
    epochs(history, 34, 5)
    shifted(history, 34, -4)
    return history


def alone(lost: int, at: float = 12, first: int = 34) -> History:
    """acks=1, another leader at ``at``, whose records begin with ``first``; one record is gone."""
    history = History(records=50, acks=1)
    gone(history, lost)
    history.elect(at)
    epochs(history, first, 4)
    return history


def second_group(history: History, *, reads_from: int) -> None:
    """The group's partition is assigned again at 14 s; the reader goes on from offset ``reads_from``."""
    later = [row for row in history.rows["reads"] if row["at"] >= ns(14)]
    history.rows["reads"] = [row for row in history.rows["reads"] if row["at"] < ns(14)]
    history.add("assignments", at=14.0, kind="revoke")
    history.add("assignments", at=14.1, assignment=1, rebalance=1)
    for seq in [*range(reads_from, CUT), *range(34, 38)]:
        history.read(seq if seq < CUT else seq - 4, 14.2 + seq / 1000, seq=seq, assignment=1,
                     leader_epoch=3 if seq < CUT else 5)  # fmt: skip
    history.rows["reads"] += [row | {"assignment": 1, "at": max(row["at"], ns(14.3))} for row in later]
    renumbered(history)


def test_an_unclean_election_excuses_what_it_cut(ask: Ask) -> None:
    """Near miss of all below: the records of the old leader from the truncation on."""
    assert severities(ask("lost", unclean())) == dict.fromkeys(range(CUT, 34), "allowed")


@pytest.mark.proves("lost", "fires")
def test_an_unclean_election_leaves_no_hole_between_records_of_the_new_leader(ask: Ask) -> None:
    """Record 40 was to be at offset 36, where the new leader's log has none and goes on."""
    assert severities(ask("lost", gone(unclean(), 40)))[36] == "violation"


@pytest.mark.proves("lost", "fires")
def test_a_hole_soon_after_an_unclean_election_is_not_of_it(ask: Ask) -> None:
    """Broker 2 leads from 6 s on, and its records begin with number 20; number 24, of 7 s, is gone."""
    history = History(records=50)
    history.elect_uncleanly(5)
    epochs(history, 20, 5)
    assert severities(ask("lost", gone(history, 24))) == {24: "violation"}


@pytest.mark.proves("lost", "fires")
def test_a_clean_election_after_an_unclean_one_may_lose_nothing(ask: Ask) -> None:
    """Broker 0 follows from 14 s on and leads from 16 s on; 40 and 41, acknowledged by all in sync, are gone."""
    history = unclean()
    joined, elected = {"isr": [2, 0]}, {"leader": 0, "leader_epoch": 6, "isr": [0, 2]}
    history.each("partitions", lambda row: row | (elected if row["at"] >= ns(16) else {}))
    history.each("partitions", lambda row: row | (joined if ns(14) <= row["at"] < ns(16) else {}))
    history.each("offsets", lambda row: row | ({"asked": 0} if row["at"] >= ns(16) else {}))
    gone(history, 40, 41)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | ({"leader_epoch": 6} if row["seq"] >= 42 else {}))
    shifted(history, 42, -2)
    found = severities(ask("lost", history))
    assert (found[36], found[37], found[CUT]) == ("violation", "violation", "allowed")


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(("seq", "severity"), [(5, "violation"), (32, "allowed")])
def test_a_record_without_an_offset_stands_between_its_neighbours(ask: Ask, seq: int, severity: str) -> None:
    """The acknowledgement named no offset: the records before and after it do, and tell whether it was cut."""
    history = unclean()
    if seq == 5:
        gone(history, 5)
        shifted(history, 6, -1)
    else:
        history.drop("reads", seq=seq)
        renumbered(history)
    history.change("sends", {"seq": seq}, offset=None)
    assert {row["seq"]: row["severity"] for row in ask("lost", history)}[seq] == severity


@pytest.mark.proves("lost", "no evidence")
def test_a_record_without_an_offset_or_an_order_is_open(ask: Ask) -> None:
    """A retry without idempotence may come after later records: where the record stood is not known."""
    history = gone(unclean(idempotent=False), 5)
    shifted(history, 6, -1)
    history.change("sends", {"seq": 5}, offset=None)
    assert {row["seq"]: row["severity"] for row in ask("lost", history)}[5] == "unproven"


def transactional_elsewhere(history: History) -> None:
    """Another probe writes to ``invoices`` in transactions."""
    another_topic(history)
    history.probes["other"] = {"produce": {"topic": "invoices", "rate": "2/s", "transaction": {"records": 10}}}
    history.worker("other", kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.record["probes"].append({"probe": "other", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    for seq in range(50):
        at, offset = -5 + seq / 2, seq + seq // 10
        history.send(seq, at, probe="other", topic="invoices", txn=f"o-{seq // 10}", producer_epoch=0, offset=offset)
        history.audit(offset, seq=seq, producer="other", topic="invoices")
    for number in range(5):
        began = -5 + number * 5
        history.add("transactions", probe="other", txn=f"o-{number}", initialized=-5.9, begun=began, ending=began + 4.6,
                    ended=began + 4.7, outcome="committed")  # fmt: skip


def another_topic(history: History) -> None:
    """A second topic, ``invoices``, audited at both levels."""
    history.others["invoices"] = {"partitions": 1, "replication_factor": 3}
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", topic="invoices", isolation=isolation, log_start=0, end=-1, complete=True)


def foreign_elsewhere(history: History) -> None:
    """A foreign record in ``invoices``."""
    another_topic(history)
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit", topic="invoices", offset=0, isolation=isolation, intact=False, producer=None,
                    producer_incarnation=None, seq=None)  # fmt: skip


def compacted(history: History) -> None:
    """The topic is compacted, and each record has a key of its own."""
    history.probes["writer"]["produce"]["keys"] = "sequence"
    for name, value in {"cleanup.policy": "compact", "retention.ms": "-1", "retention.bytes": "-1"}.items():
        history.add("topic_settings", at=-6, name=name, value=value)


def nothing(history: History) -> None:
    """Nothing more."""


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize("more", [nothing, transactional_elsewhere, foreign_elsewhere, compacted])
def test_acks_1_is_no_excuse_for_a_hole(ask: Ask, more: Callable[[History], None]) -> None:
    """The old leader's records stand on both sides of number 20: transactions elsewhere, or keys, change nothing."""
    history = alone(20)
    more(history)
    assert severities(ask("lost", history)) == {20: "violation"}


@pytest.mark.proves("lost", "near miss")
def test_compaction_may_have_removed_what_replaced_a_record(ask: Ask) -> None:
    """Near miss: number 33 was the old leader's, its offset and the next are the new leader's, and those are empty."""
    history = alone(33)
    compacted(history)
    shifted(history, 34, -2)
    for table in ("sends", "reads", "audit"):
        history.each(table, lambda row: row | ({"offset": row["offset"] + 2} if row["seq"] >= 35 else {}))
    assert severities(ask("lost", history))[33] == "allowed"


@pytest.mark.proves("lost", "fires")
def test_a_leader_that_is_elected_again_truncates_nothing(ask: Ask) -> None:
    """acks=1; broker 1 leads in epoch 3 and from 20.2 s on in epoch 4, and the last record is gone."""
    history = gone(History(records=50, acks=1), 49)
    history.each("partitions", lambda row: row | ({"leader_epoch": 4} if row["at"] >= ns(20.2) else {}))
    epochs(history, 60, 4)
    assert severities(ask("lost", history)) == {49: "violation"}


@pytest.mark.proves("lost", "near miss")
@pytest.mark.parametrize("how", ["an epoch that nobody saw", "its host lost its power"])
def test_a_leader_that_is_elected_again_may_have_lost_the_end(ask: Ask, how: str) -> None:
    """Near miss: another leader may have been in between, or the leader's own host lost what was on no disk."""
    history = gone(History(records=50, acks=1), 49)
    epoch = 5 if how == "an epoch that nobody saw" else 4
    history.each("partitions", lambda row: row | ({"leader_epoch": epoch} if row["at"] >= ns(20.2) else {}))
    if epoch == 4:
        history.change("faults", {"fault": "kill"}, step="power_off", targets="host node2")
    epochs(history, 60, 4)
    assert severities(ask("lost", history)) == {49: "allowed"}


@pytest.mark.proves("lost", "fires")
def test_an_election_before_the_producers_own_acknowledgements_excuses_nothing(ask: Ask) -> None:
    """acks=1; the new leader, elected at 15 s, had acknowledged ten records to the writer before the last one."""
    assert severities(ask("lost", alone(49, at=15, first=40))) == {49: "violation"}


@pytest.mark.proves("lost", "near miss")
@pytest.mark.parametrize("how", ["not acknowledged yet", "the old leader named itself"])
def test_the_old_leader_may_have_acknowledged_shortly_after_an_election(ask: Ask, how: str) -> None:
    """Near miss: no record of the new leader had been acknowledged to the writer, or the old one was still at work."""
    if how == "not acknowledged yet":
        history = alone(49, at=15, first=60)
    else:
        history = alone(49, at=15, first=40)
        for tenth in range(152, 200, 2):
            history.add("partitions", at=tenth / 10, asked=1, leader=1, leader_epoch=3, replicas=[0, 1, 2], isr=[1])
    assert severities(ask("lost", history)) == {49: "allowed"}


@pytest.mark.proves("commit_regression", "fires")
@pytest.mark.proves("redelivery", "fires")
@pytest.mark.parametrize(("found", "severity"), [(10, "violation"), (CUT + 1, "allowed")])
def test_a_truncation_does_not_set_commits_back_to_before_it(ask: Ask, found: int, severity: str) -> None:
    """34 was committed at 11.8 s, and the log is cut at 30: the next member may find 31, and not 10."""
    history = unclean()
    history.commit(20, 5.2)
    history.commit(34, 11.8)
    second_group(history, reads_from=10 if found == 10 else CUT)
    history.add("fetched", offset=found, invoked=14.12, completed=14.15)
    assert [row["severity"] for row in ask("commit_regression", history)] == [severity]
    assert {row["severity"] for row in ask("redelivery", history)} == {severity}


@pytest.mark.proves("redelivery", "near miss")
def test_a_reset_after_a_truncation_gives_the_records_again(ask: Ask) -> None:
    """Near miss: the member found 34, where the log had ended already, and began at 10 by its reset policy."""
    history = unclean()
    history.commit(34, 11.8)
    second_group(history, reads_from=10)
    history.add("fetched", offset=34, invoked=14.12, completed=14.15)
    assert {row["severity"] for row in ask("redelivery", history)} == {"allowed"}


@pytest.mark.proves("commit_ahead", "fires")
@pytest.mark.parametrize(("committed", "severity"), [(500, "violation"), (48, "allowed")])
def test_a_truncation_excuses_no_commit_beyond_any_log(ask: Ask, committed: int, severity: str) -> None:
    """The group's committed offset is beyond the log's end, 46; a broker had reported an end of 48, none of 500."""
    history = unclean()
    history.each("offsets", lambda row: row | ({"log_end": 48} if ns(11) < row["at"] < ns(12) else {}))
    history.add("groups", offset=committed)
    assert [row["severity"] for row in ask("commit_ahead", history)] == [severity]


def pipe_with_cut(partition: int) -> History:
    """Broker 2 leads a partition of ``invoices`` uncleanly from 19 s on; the output of input 45 is gone."""
    history = piped()
    history.others["invoices"] = {
        "partitions": 2, "replication_factor": 3, "config": {"unclean.leader.election.enable": True}
    }  # fmt: skip
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", topic="invoices", partition=1, isolation=isolation, log_start=0, end=0,
                    complete=True)  # fmt: skip
    for row in _elected_uncleanly(18):
        history.add("partitions", topic="invoices", partition=partition, **row)
    history.each("audit", lambda row: row | {"leader_epoch": 3})
    history.drop("audit", producer="pipe", seq=45)
    for row in history.rows["audit"]:
        if row["producer"] == "pipe" and row["seq"] > 45:
            row["leader_epoch"] = 5
    return history


def _elected_uncleanly(at: float) -> Iterator[Row]:
    for tenth in range(-60, 220, 2):
        before = tenth / 10 < at
        isr = [0, 1, 2] if tenth / 10 < at - 3 else [1] if before else [2]
        yield {"at": tenth / 10, "asked": 0, "leader": 1 if before else 2, "leader_epoch": 3 if before else 5,
               "replicas": [0, 1, 2], "isr": isr}  # fmt: skip


@pytest.mark.proves("eos", "fires")
@pytest.mark.parametrize(("partition", "severity"), [(1, "violation"), (0, "allowed")])
def test_a_truncation_of_another_partition_excuses_no_missing_output(ask: Ask, partition: int, severity: str) -> None:
    """The output was acknowledged in partition 0 at offset 45, which is the first one that is gone there."""
    assert [row["severity"] for row in ask("eos", pipe_with_cut(partition))] == [severity]


@pytest.mark.proves("eos", "fires")
def test_a_truncation_excuses_no_output_that_was_never_made(ask: Ask) -> None:
    """The pipe ended cleanly, and made no output of input 45."""
    history = pipe_with_cut(1)
    history.drop("outputs", seq=45)
    history.drop("sends", probe="pipe", seq=45)
    assert [row["severity"] for row in ask("eos", history)] == ["violation"]


def late_beside_a_cut(kept: int) -> History:
    """A late record at offset 66, and an unclean election at 20.4 s that left the offsets below ``kept``."""
    history = late()
    history.elect_uncleanly(20.4)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["offset"] < kept else 5})
    return history


@pytest.mark.proves("late_write", "fires")
@pytest.mark.parametrize(("kept", "severity"), [(70, "violation"), (60, "allowed")])
def test_a_truncation_behind_the_marker_excuses_no_late_record(ask: Ask, kept: int, severity: str) -> None:
    """The marker at 64, which ended the transaction, and the record behind it stand before the truncation, or not."""
    assert [row["severity"] for row in ask("late_write", late_beside_a_cut(kept))] == [severity]


@pytest.mark.proves("unseen", "no evidence")
def test_a_reader_that_keeps_its_position_after_a_truncation_is_open(ask: Ask) -> None:
    """The reader had had 33 and went on from 34: what the new leader wrote to 30 to 33 it was never given."""
    history = unclean()
    history.rows["reads"] = [row for row in history.rows["reads"] if not 34 <= row["seq"] <= 37]
    renumbered(history)
    assert severities(ask("unseen", history)) == dict.fromkeys(range(CUT, 34), "unproven")


def dark(*, entry: Row, step: str, targets: str) -> History:
    """Broker 1's host loses its power at 1 s; another entry from 0.5 s on concerns brokers 0 and 2."""
    history = History(records=50)
    history.topic["config"]["min.insync.replicas"] = 1
    history.entry = {"name": "kill", "at": "1s", "power_off": {"target": "host(node2)"}, "for": "4s"}
    history.change("faults", {"fault": "kill"}, step="power_off", targets="host node2")
    history.beside.append({"name": "nap", "at": "0.5s", "for": "5s", **entry})
    history.record["entries"].append({"entry": "nap", "status": "done"})
    history.add("faults", fault="nap", step=step, targets=targets, invoked=0.4, applied=0.5, heal_invoked=5.2,
                healed=5.9, took=True, undone=True)  # fmt: skip
    history.rows["partitions"] = [row for row in history.rows["partitions"] if not ns(1) <= row["at"] < ns(6)]
    return history


def paused(leader: int = 2, *, isr: list[int] | None = None, since: float = -9) -> History:
    """Brokers 0 and 2 are paused; ``leader`` leads after that, and the ISR before was ``isr`` since a time."""
    history = dark(
        entry={"pause_broker": {"target": "broker(0, 2)"}}, step="pause_broker",
        targets="broker 0 on node1, broker 2 on node3",
    )  # fmt: skip
    after = {"leader": leader, "leader_epoch": 5, "isr": [leader]}
    history.each("partitions", lambda row: row | (after if row["at"] >= ns(6) else {}))
    if isr is not None:
        history.each("partitions", lambda row: row | ({"isr": isr} if ns(since) <= row["at"] < ns(1) else {}))
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["seq"] < 12 else 5})
    return gone(history, *range(6, 12))


@pytest.mark.proves("lost", "fires")
def test_a_loss_of_power_excuses_nothing_that_the_new_leader_had(ask: Ask) -> None:
    """All three were in sync when 6 to 11 were acknowledged, up to 0.5 s; broker 2, only paused, leads after that.

    The last samples of the ISR, of 0.8 s, may be a second old.
    """
    found = severities(ask("lost", paused()))
    assert found == {**dict.fromkeys(range(6, 10), "violation"), 10: "unproven", 11: "unproven"}


@pytest.mark.proves("lost", "near miss")
@pytest.mark.parametrize(("leader", "isr"), [(1, None), (2, [1])], ids=["it leads again", "it was alone in sync"])
def test_a_loss_of_power_excuses_what_the_new_leader_had_not(ask: Ask, leader: int, isr: list[int] | None) -> None:
    """Near miss: the broker that lost the records leads again, or was alone in sync when they were acknowledged."""
    assert set(severities(ask("lost", paused(leader, isr=isr))).values()) == {"allowed"}


@pytest.mark.proves("lost", "no evidence")
def test_a_loss_of_power_without_a_sample_of_the_isr_is_open(ask: Ask) -> None:
    """No sample before it names a replica in sync."""
    assert set(severities(ask("lost", paused(isr=[]))).values()) == {"unproven"}


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(("side", "severity"), [("probes", "violation"), ("everyone else", "allowed")])
def test_brokers_that_are_cut_off_from_clients_alone_are_not_away(ask: Ask, side: str, severity: str) -> None:
    """Brokers 0 and 2 are cut off from the probes alone, and followed; or from all, so that broker 1 was alone."""
    history = dark(
        entry={"cut_network": {"between": ["broker(0, 2)", side]}}, step="cut_network",
        targets="broker 0 on node1, broker 2 on node3",
    )  # fmt: skip
    history.each("partitions", lambda row: row | ({"leader_epoch": 5, "isr": [1]} if row["at"] >= ns(6) else {}))
    history.drop("audit", offset=11)
    assert severities(ask("lost", history)) == {11: severity}

"""Logs that were cut back: who saw it, what that excuses, and what no reader did wrong then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking
from analysis.history import History, ns
from analysis.ways import told
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.events import Events
from chaosk.analysis.frames.truncations import UNCLEAN, UNSEEN, Truncation, truncations
from chaosk.analysis.spark import tune
from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]

CUT = 25
"""The first offset that is cut."""


def present(*, seen: bool = True) -> History:
    """Kafka's own test of truncation with a reader present: 40 records were acknowledged, read and committed by 14.5 s.

    Then a replica leads that has the first 25; the reader goes back to where the log ends now, and reads on. Ten
    records more are written there.
    """
    history = History(records=50)
    for table in ("sends", "reads"):
        time = "at" if table == "reads" else "invoked"
        history.rows[table] = [row for row in history.rows[table] if row[time] < ns(15)]
    history.rows["audit"].clear()
    history.each("reads", lambda row: row | {"leader_epoch": 3})
    for offset in range(CUT):
        history.audit(offset, leader_epoch=3)
    for number in range(10):
        history.send(40 + number, 16 + number / 10, offset=CUT + number)
        history.read(CUT + number, 16.01 + number / 10, seq=40 + number, leader_epoch=5)
        history.audit(CUT + number, seq=40 + number, leader_epoch=5)
    for offset, at in ((40, 14.9), (CUT + 5, 17.0), (CUT + 10, 18.0)):
        history.commit(offset, at)
    history.topic["config"]["unclean.leader.election.enable"] = True
    if seen:
        history.elect_uncleanly(15)
    return history


def found(spark: SparkSession, folder: Path, history: History) -> tuple[Truncation, ...]:
    """What is known of the logs of a run."""
    tune(spark, small=True)
    events = Events(spark, read_case(history.write(folder / "run")))
    try:
        return events.once(truncations)
    finally:
        events.release()


def test_an_unclean_election_that_was_seen_is_a_witness(spark: SparkSession, tmp_path: Path) -> None:
    """Broker 2 leads and was not in the ISR, which was broker 1; the audit shows where the log was cut."""
    (cut,) = found(spark, tmp_path, present())
    assert (cut.topic, cut.partition, cut.cut_at, cut.epoch, cut.why) == ("orders", 0, CUT, 5, UNCLEAN)
    assert ns(15) < cut.since <= ns(16.3)
    assert cut.seen


@pytest.mark.parametrize("allowed", [True, False])
def test_a_setting_is_no_witness_nor_is_an_election_that_was_not_allowed(
    spark: SparkSession, tmp_path: Path, *, allowed: bool
) -> None:
    """Without an election that was seen nothing was cut; one that the topic does not allow excuses nothing."""
    history = present(seen=not allowed)
    history.topic["config"]["unclean.leader.election.enable"] = allowed
    assert found(spark, tmp_path, history) == ()


def test_a_leader_out_of_the_isr_is_none(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: broker 2 was in sync before broker 1 went."""
    history = present()
    history.each("partitions", lambda row: row | ({"isr": [1, 2]} if row["isr"] == [1] else {}))
    assert found(spark, tmp_path, history) == ()


def test_a_preferred_leader_that_is_back_is_none(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss: broker 1 had joined the ISR again when it was elected, between two samples: both are named then."""
    history = History(records=50)
    history.topic["config"]["unclean.leader.election.enable"] = True
    back = {"leader": 0, "leader_epoch": 4, "isr": [1, 0]}
    history.each("partitions", lambda row: row | (back if row["at"] >= ns(10) else {"isr": [1]}))
    assert found(spark, tmp_path, history) == ()


@pytest.mark.parametrize("read", [True, False])
def test_an_election_that_nobody_saw_is_proven_by_what_had_been_read(
    spark: SparkSession, tmp_path: Path, *, read: bool
) -> None:
    """An epoch is missing in the samples: open, unless a reader had what another leader overwrote later."""
    history = present()
    history.each("partitions", lambda row: row | ({"isr": [1, 2]} if row["isr"] == [1] else {}))
    history.rows["partitions"] = [row for row in history.rows["partitions"] if row["leader"] >= 0]
    if not read:
        history.rows["reads"] = [row for row in history.rows["reads"] if row["leader_epoch"] == 5]
    (cut,) = found(spark, tmp_path, history)
    assert (cut.cut_at, cut.why) == (CUT, UNCLEAN if read else UNSEEN)


@pytest.mark.proves("poll_order", "near miss")
@pytest.mark.proves("commit_regression", "near miss")
def test_a_reader_that_was_present_did_nothing_wrong(judge: Judge) -> None:
    """One step back and commits that go back are of the same cut as the records that are gone: allowed together."""
    verdict = judge(present())
    assert told(verdict, "violation") == {}
    assert {"lost", "inconsistent_offset", "poll_order", "commit_regression"} <= set(told(verdict, "allowed"))
    assert verdict.verdict is Outcome.PASS


def test_without_a_witness_the_same_is_a_violation(judge: Judge) -> None:
    """The same rows, and no unclean election in the watcher's samples."""
    verdict = judge(present(seen=False))
    assert {"inconsistent_offset", "poll_order", "commit_regression"} <= set(told(verdict, "violation"))


def test_what_was_not_cut_is_not_excused(spark: SparkSession, tmp_path: Path) -> None:
    """B2 in the part of the log that was kept: the reader went back from 20 to 19."""
    history = present()
    history.change("reads", {"offset": 20}, n=19)
    history.change("reads", {"offset": 19, "leader_epoch": 3}, n=20)
    history.rows["reads"].sort(key=lambda row: int(row["n"]))
    rows = asking(spark, tmp_path, "poll_order")(history)
    assert sorted((row["before"], row["offset"], row["severity"]) for row in rows) == [
        (20, 19, "violation"), (39, CUT, "allowed"),
    ]  # fmt: skip


def holed(invoked: float, epoch: int | None) -> History:
    """The reader went from 19 to 21 at 5.5 s; at 20 the audit has a record that was sent at ``invoked``."""
    history = History(records=50)
    history.drop("reads", offset=20)
    history.change("sends", {"seq": 20}, invoked=ns(invoked), scheduled=ns(invoked), completed=ns(invoked + 0.1))
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": None if epoch is None else 3})
    history.each("audit", lambda row: row | ({"leader_epoch": epoch} if row["offset"] == 20 else {}))
    return history


@pytest.mark.proves("poll_skip", "near miss")
@pytest.mark.parametrize(("invoked", "epoch"), [(18.0, None), (5.0, 5)], ids=["sent later", "of a later leader"])
def test_a_record_that_was_not_there_yet_was_not_skipped(
    spark: SparkSession, tmp_path: Path, invoked: float, epoch: int | None
) -> None:
    """Near miss of B1: the reader passed the offset before that record was written there."""
    asked = asking(spark, tmp_path, "poll_skip")
    assert asked(holed(invoked, epoch)) == []
    assert [row["skipped"] for row in asked(holed(5.0, 3))] == [20], "the same, of a record that was there"


@pytest.mark.proves("redelivery", "near miss")
def test_another_record_at_the_same_offset_is_delivered_once(judge: Judge) -> None:
    """Near miss of B4: the offsets from 25 on were delivered twice, and were other records the second time."""
    verdict = judge(present())
    assert "redelivery" not in {finding.check for finding in verdict.findings}


def darkened(targets: str) -> History:
    """The same cut by no election: at 15 s these hosts lose their power, and broker 1 leads again with 25 records."""
    history = present(seen=False)
    history.topic["config"] = {"min.insync.replicas": 2}
    history.entry = {"name": "kill", "at": "15s", "power_off": {"target": "host(broker(0, 1, 2))"}, "for": "500ms"}
    history.change("faults", {"fault": "kill"}, step="power_off", targets=targets, invoked=ns(14.95), applied=ns(15),
                   heal_invoked=ns(15.5), healed=ns(15.9))  # fmt: skip
    for table in ("partitions", "offsets"):
        rows = history.rows[table]
        history.rows[table] = [row for row in rows if not ns(15) <= row["at"] < ns(15.9)]
    history.each("partitions", lambda row: row | ({"leader_epoch": 5} if row["at"] >= ns(15.9) else {}))
    return history


@pytest.mark.proves("poll_order", "near miss")
@pytest.mark.proves("commit_regression", "near miss")
@pytest.mark.parametrize("dark", [3, 1])
def test_a_loss_of_power_of_all_replicas_excuses_a_reader_as_well(judge: Judge, dark: int) -> None:
    """What was on no disk was read and committed before: allowed together, but not where two of three went on."""
    verdict = judge(darkened(", ".join(f"host node{n + 1}" for n in range(dark))))
    rules = {"lost", "inconsistent_offset", "poll_order", "commit_regression"}
    severity, other = ("allowed", "violation") if dark == 3 else ("violation", "allowed")
    assert rules <= set(told(verdict, severity))
    assert not rules & set(told(verdict, other))

"""C4 and B11: an application that reads, writes and commits in transactions does each input once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking
from analysis.history import History, Row, ns
from analysis.transactional import once, piped
from analysis.ways import finding, guards, told

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.checks.abort_rewind import AbortRewind
from chaosk.analysis.checks.eos import Eos
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Severity

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from analysis.conftest import Judge
    from pyspark.sql import SparkSession


def aborted(outcome: str = "aborted") -> History:
    """The transaction p-2 (offsets 20 to 29) was aborted, and its inputs were done again in one that follows it."""
    history = piped()
    for row in history.drop("reads", probe="pipe", txn="p-2"):
        history.rows["reads"].append(row | {"n": row["n"]})
    later = [row for row in history.rows["reads"] if row["probe"] == "pipe" and row["offset"] >= 30]
    for row in later:
        history.rows["reads"].remove(row)
    history.change("transactions", {"txn": "p-2"}, outcome=outcome)
    for seq in range(20, 30):
        history.drop("audit", producer="pipe", seq=seq, isolation="read_committed")
    history.add("seeks", probe="pipe", offset=20, at=10.05)
    for number in range(20, 30):
        once(history, number, 10.1 + number / 1000, "p-2b", 80 + number)
    history.add("transactions", probe="pipe", txn="p-2b", transactional_id="pipe", initialized=-5.9, begun=10.1,
                ending=10.3, ended=10.35, outcome="committed")  # fmt: skip
    for table, who in (("sends", "probe"), ("audit", "producer"), ("outputs", "probe")):
        history.rows[table] = [_behind(row, who, table) for row in history.rows[table]]
    for row in later:
        history.rows["reads"].append(
            row | {"n": row["n"] + 10, "at": max(row["at"], ns(10.4)), "poll": row["poll"] + 200}
        )
    return history


def _behind(row: Row, who: str, table: str) -> Row:
    """The row, if it is of an output that was written after p-2b, behind what that wrote."""
    if row[who] != "pipe" or not 30 <= row["seq"] < 80:
        return row
    return row | {"seq": row["seq"] + 100} | ({"offset": row["offset"] + 100} if table != "outputs" else {})


@pytest.mark.parametrize("make", [piped, History])
def test_a_flawless_run_is_not_looked_at_twice(make: type[History], tmp_path: Path) -> None:
    """The glances promise that there is nothing."""
    rows = EventRows(read_case(make().write(tmp_path / "run")))
    assert [kind().glance(rows) for kind in (Eos, AbortRewind)] == [False, False]


def test_an_abort_and_a_rewind_are_not_looked_at_twice(tmp_path: Path) -> None:
    """Neither where a transaction was aborted and its inputs were done again."""
    rows = EventRows(read_case(aborted().write(tmp_path / "run")))
    assert [kind().glance(rows) for kind in (Eos, AbortRewind)] == [False, False]


def test_an_output_that_only_a_reader_had_is_looked_at(tmp_path: Path) -> None:
    """C4: a reader at read_committed had a second output of an input, the audit has it not: the glance sees it."""
    history = piped()
    history.add("outputs", probe="pipe", incarnation=0, seq=50, topic="orders", partition=0, offset=7, at=19.8)
    history.send(50, 19.8, probe="pipe", topic="invoices", txn="p-4", producer_epoch=0)
    history.read(50, 19.9, producer="pipe", topic="invoices")
    assert Eos().glance(EventRows(read_case(history.write(tmp_path / "run"))))


def test_what_another_partition_begins_with_follows_no_abort(tmp_path: Path) -> None:
    """The last transaction of a partition was aborted; the next one that the application read is of another."""
    history = piped()
    history.change("transactions", {"txn": "p-4"}, outcome="aborted")
    history.read(45, 20.1, probe="pipe", group="pipes", partition=1, txn="p-5")
    history.read(40, 20.1, probe="pipe", group="pipes", txn="p-5")
    rows = EventRows(read_case(history.write(tmp_path / "run")))
    assert not AbortRewind().glance(rows)


@pytest.mark.proves("eos", "fires")
@pytest.mark.spark
def test_an_input_that_was_done_twice(judge: Judge) -> None:
    """C4: two outputs of one input can be read at read_committed."""
    history = piped()
    history.add("outputs", probe="pipe", incarnation=0, seq=50, topic="orders", partition=0, offset=7, at=19.8)
    history.send(50, 19.8, probe="pipe", topic="invoices", txn="p-4", producer_epoch=0)
    history.audit(50, producer="pipe", topic="invoices", seq=50)
    verdict = judge(history)
    assert told(verdict) == {"eos": 1}
    row = finding(verdict, "eos").evidence[0]
    assert (row["kind"], row["group"], row["offset"], row["outputs"]) == ("repeated", "pipes", 7, 2)


@pytest.mark.proves("eos", "fires")
@pytest.mark.spark
def test_outputs_of_a_group_that_has_committed_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """C4: fifty outputs can be read, and the cluster says that the group has no committed offset at all."""
    history = piped()
    history.change("groups", {"group": "pipes"}, offset=None)
    rows = asking(spark, tmp_path, "eos")(history)
    assert {(row["kind"], row["severity"], row["committed"]) for row in rows} == {("uncommitted", "violation", None)}
    assert len(rows) == 50
    history.drop("groups", group="pipes")
    assert asking(spark, tmp_path / "untold", "eos")(history) == [], "nobody told of the group"


@pytest.mark.proves("eos", "fires")
@pytest.mark.spark
def test_inputs_that_were_committed_and_have_no_output(judge: Judge) -> None:
    """C4: the transaction was aborted, and yet the group's offset is past its inputs."""
    history = piped()
    history.change("transactions", {"txn": "p-4"}, outcome="aborted")
    for seq in range(40, 50):
        history.drop("audit", producer="pipe", seq=seq, isolation="read_committed")
    verdict = judge(history)
    assert told(verdict) == {"eos": 10}
    assert finding(verdict, "eos").evidence[0]["kind"] == "missing"


@pytest.mark.proves("eos", "no evidence")
@pytest.mark.spark
def test_outputs_whose_inputs_were_not_committed(judge: Judge) -> None:
    """C4 and C3: the outputs of a transaction are there, and the offsets that it was to commit are not."""
    history = piped()
    history.change("groups", {"group": "pipes"}, offset=40)
    verdict = judge(history)
    assert told(verdict) == {"eos": 10}
    assert finding(verdict, "eos").evidence[0]["kind"] == "uncommitted"


@pytest.mark.proves("eos", "fires")
@pytest.mark.spark
@pytest.mark.parametrize("written", [False, True])
def test_an_input_of_which_no_row_tells_an_output(judge: Judge, *, written: bool) -> None:
    """C4: input 7 was polled and committed past, and nobody wrote down an output of it.

    Where the log has one of which nobody knows what it was made of, that may be it, and the question stays open.
    """
    history = piped()
    history.drop("outputs", probe="pipe", offset=7)
    if not written:
        history.drop("sends", probe="pipe", seq=7)
        history.drop("audit", producer="pipe", seq=7)
    verdict = judge(history)
    if written:
        assert (told(verdict), "eos_unproven" in guards(verdict)) == ({}, True)
        return
    assert told(verdict) == {"eos": 1}
    row = finding(verdict, "eos").evidence[0]
    assert (row["kind"], row["offset"], row["outputs"], row["attempts"]) == ("missing", 7, 0, 0)


@pytest.mark.spark
@pytest.mark.parametrize(("to", "outcome"), [(25, "aborted"), (15, "aborted"), (29, "info")])
def test_the_step_out_of_an_abort_is_left_to_one_rule(judge: Judge, to: int, outcome: str) -> None:
    """B1 and B2 leave the last record of what was not committed and the next one to B11: without a seek, too."""
    history = aborted(outcome)
    history.drop("seeks", offset=20)
    rows = sorted(history.drop("reads", txn="p-2b"), key=lambda row: int(row["n"]))
    before = [] if to >= 20 else [rows[0] | {"offset": to, "seq": to}]
    history.rows["reads"].extend(before or [row for row in rows if row["offset"] >= to])
    found = {each.check for each in judge(history).findings if each.severity is Severity.VIOLATION}
    assert "abort_rewind" in found
    ahead = {"poll_skip"} if to >= 20 else set()  # what went back jumps over what it read before, to the next one
    assert not found & {"poll_order", *ahead}


@pytest.mark.proves("eos", "no evidence")
@pytest.mark.spark
@pytest.mark.parametrize("how", ["uncommitted", "incomplete", "deleted", "stranger"])
def test_what_is_not_proven_to_be_missing(judge: Judge, how: str) -> None:
    """Near misses: not committed past; and where the evidence is short, the question stays open."""
    history = piped()
    history.change("transactions", {"txn": "p-4"}, outcome="info")
    for seq in range(40, 50):
        history.drop("audit", producer="pipe", seq=seq, isolation="read_committed")
    if how == "uncommitted":
        history.change("groups", {"group": "pipes"}, offset=40)
    elif how == "incomplete":
        history.change("audit_ranges", {"topic": "invoices"}, complete=False)
    elif how == "deleted":
        history.change("audit_ranges", {"topic": "invoices"}, log_start=1)
    else:
        history.audit(60, producer="pipe", topic="invoices", seq=60)
    verdict = judge(history)
    assert told(verdict) == ({"unknown_value": 1} if how == "stranger" else {})  # a record that nobody sent is A10's
    assert ("eos_unproven" in guards(verdict)) is (how != "uncommitted")


# --- B11 --------------------------------------------------------------------------------------------------------------


@pytest.mark.proves("abort_rewind", "fires")
@pytest.mark.spark
@pytest.mark.parametrize(
    ("to", "kind", "outcome"), [(25, "advance", "aborted"), (15, "further", "aborted"), (29, "advance", "info")]
)
def test_it_reads_on_elsewhere_after_an_abort(judge: Judge, to: int, kind: str, outcome: str) -> None:
    """B11: it goes on in the middle of what was aborted, or goes back beyond it; B1 and B2 do not judge a seek.

    After a transaction of unknown fate its last input is neither its begin nor what follows it.
    """
    history = aborted(outcome)
    rows = sorted(history.drop("reads", txn="p-2b"), key=lambda row: int(row["n"]))
    kept = [row for row in rows if row["offset"] >= to]
    before = [] if to >= 20 else [rows[0] | {"offset": to, "seq": to}]
    history.rows["reads"].extend(kept if to >= 20 else [*before, *kept[1:]])
    verdict = judge(history)
    assert finding(verdict, "abort_rewind").count == 1
    row = finding(verdict, "abort_rewind").evidence[0]
    assert (row["kind"], row["txn"], row["first"], row["last"], row["next"]) == (kind, "p-2", 20, 29, to)


@pytest.mark.proves("abort_rewind", "fires")
@pytest.mark.spark
def test_each_partition_has_a_begin_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    """B11: what was aborted began at 40 in one partition and at 10 in the other, where it goes on at 40."""
    history = piped()
    history.change("transactions", {"txn": "p-4"}, outcome="aborted")
    for offset, txn, at in ((10, "p-4", 20.1), (40, "p-5", 20.2)):
        history.read(offset, at, probe="pipe", group="pipes", partition=2, txn=txn)
    left, row = asking(spark, tmp_path, "abort_rewind")(history)
    assert (left["severity"], left["kind"], left["partition"], left["first"]) == ("unproven", "left", 0, 40)
    assert (row["kind"], row["partition"], row["first"], row["next"]) == ("advance", 2, 10, 40)
    assert (row["began"], row["ended"]) == (ns(20.1), ns(20.2))


@pytest.mark.proves("eos", "near miss")
@pytest.mark.proves("abort_rewind", "near miss")
@pytest.mark.spark
@pytest.mark.parametrize("outcome", ["aborted", "info"])
def test_it_reads_on_where_the_transaction_began(judge: Judge, outcome: str) -> None:
    """Near miss of B11 and C4: what was not committed was done again, from its begin on."""
    assert told(judge(aborted(outcome))) == {}


@pytest.mark.proves("abort_rewind", "no evidence")
@pytest.mark.spark
def test_after_an_undecided_transaction_what_follows_is_right_as_well(judge: Judge) -> None:
    """Near miss of B11: it had been committed after all, and the application learned so from the group's offset."""
    history = piped()
    history.change("transactions", {"txn": "p-2"}, outcome="info")
    assert told(judge(history)) == {}


@pytest.mark.proves("abort_rewind", "near miss")
@pytest.mark.spark
@pytest.mark.parametrize("how", ["successor", "ended", "fenced"])
def test_who_is_gone_need_not_be_given_its_inputs_again(spark: SparkSession, tmp_path: Path, how: str) -> None:
    """Near misses of B11: another member was given what had been aborted, or a step had ended the application.

    ``fenced``: the other member had been given it before, and the one that it fenced read on.
    """
    history = piped()
    history.change("transactions", {"txn": "p-4"}, outcome="aborted")
    if how == "ended":
        next(end for end in history.record["probes"] if end["probe"] == "pipe")["ended_by"] = "step"
    else:
        history.worker("pipe", 1, started=20.1, kind="transform", group="pipes", isolation="read_committed",
                       commit="none", acks=-1, idempotent=True, max_in_flight=5)  # fmt: skip
        history.add("assignments", probe="pipe", incarnation=1, group="pipes", at=20.2)
        history.add("transactions", probe="pipe", incarnation=1, txn="p-5", transactional_id="pipe", initialized=14,
                    begun=15, ending=20.5, ended=20.6, outcome="committed")  # fmt: skip
        for offset in range(40, 50):
            at = 15.0 if how == "fenced" else 20.3
            history.read(offset, at, probe="pipe", incarnation=1, group="pipes", txn="p-5")
    assert asking(spark, tmp_path, "abort_rewind")(history) == []


@pytest.mark.proves("abort_rewind", "near miss")
@pytest.mark.spark
def test_an_input_that_was_aborted_need_not_be_read(spark: SparkSession, tmp_path: Path) -> None:
    """Near miss of B11: after an undecided transaction it goes on behind a record that only the careless can see."""
    history = piped()
    history.change("transactions", {"txn": "p-2"}, outcome="info")
    history.drop("reads", offset=30)
    history.drop("audit", offset=30, topic="orders", isolation="read_committed")
    assert asking(spark, tmp_path, "abort_rewind")(history) == []


@pytest.mark.spark
def test_a_dead_letter_of_another_member_is_no_output(spark: SparkSession, tmp_path: Path) -> None:
    """C4: input 20 was read, its output aborted, and then a consumer of the same group put it aside and went on."""
    history = piped()
    history.others["letters"] = {"partitions": 1, "replication_factor": 3}
    failing = {"share": 0.1, "handling": "dead_letter", "topic": "letters"}
    history.probes["side"] = {"consume": {"topic": "orders", "group": "pipes", "failing": failing}}
    history.worker("side", kind="consume", group="pipes", isolation="read_committed", commit="sync")
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", topic="letters", isolation=isolation, log_start=0, end=-1, complete=True)
    history.drop("audit", producer="pipe", seq=20)
    history.drop("outputs", seq=20)
    who: Row = {"probe": "side", "incarnation": 0, "topic": "orders", "partition": 0, "offset": 20}
    history.add("outputs", **who, seq=0, at=20.1)
    history.send(0, 20.1, probe="side", topic="letters")
    history.audit(0, producer="side", topic="letters")
    rows = asking(spark, tmp_path, "eos")(history)
    assert [(row["kind"], row["offset"], row["severity"]) for row in rows] == [("missing", 20, "violation")]


def test_a_process_without_a_row_of_its_start_is_in_no_group(tmp_path: Path) -> None:
    """Nothing stumbles over it, and what it wrote is taken for no output of another's."""
    history = piped()
    history.rows["incarnations"].clear()
    assert not Eos().glance(EventRows(read_case(history.write(tmp_path / "run"))))

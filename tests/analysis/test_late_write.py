"""C2: a record that stands behind the marker that ended its transaction, or in another transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking, glances
from analysis.history import History
from analysis.transactional import transactional
from analysis.ways import finding, guards, told
from pyspark.sql import SparkSession

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from analysis.asking import Asked
    from analysis.conftest import Judge

EACH = 10
LAST = 59


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks the check."""
    return asking(spark, tmp_path, "late_write")


def marked(records: int = LAST + 1) -> History:
    """Transactions of ten records; each has a marker behind it, and what brokers' files say of that was fetched."""
    history = transactional(records, EACH)
    for table in ("sends", "reads", "audit"):
        history.each(table, lambda row: row | {"offset": row["offset"] + row["seq"] // EACH})
    for first in range(0, records + records // EACH, EACH + 1):
        ended(history, first, first + EACH - 1, first + EACH)
    history.add("dumps", broker=1, log_start=0, end=records + records // EACH, complete=True)
    return history


def ended(history: History, first: int, last: int, marker: int, producer: int = 7) -> None:
    """What a producer wrote in a transaction, and the marker that ended it."""
    history.add("stretches", first=first, last=last, producer_id=producer, producer_epoch=0, marker=marker)
    kinds = {row["offset"] for row in history.rows["markers"]}
    if marker not in kinds:
        history.add("markers", offset=marker, producer_id=producer, producer_epoch=0, kind="commit")


def forgotten(history: History, first: int) -> None:
    """What began at ``first``, and its marker, are not there."""
    for row in history.drop("stretches", first=first):
        history.drop("markers", offset=row["marker"])


def moved(history: History, seq: int, offset: int) -> None:
    """A record that stands at another offset."""
    for table in ("sends", "reads", "audit"):
        history.each(table, lambda row: row | ({"offset": offset} if row["seq"] == seq else {}))


def late() -> History:
    """The last record of the last transaction, behind its marker, in a transaction that ended by another one."""
    history = marked()
    forgotten(history, 55)
    ended(history, 55, 63, 64)
    ended(history, 66, 66, 67)
    moved(history, LAST, 66)
    return history


def foreign() -> History:
    """The last record of the second transaction, behind its marker and in front of the records of the third."""
    history = marked()
    for first in (11, 22):
        forgotten(history, first)
    ended(history, 11, 19, 20)
    ended(history, 21, 31, 32)
    moved(history, 19, 21)
    return history


@pytest.mark.proves("late_write", "fires")
@pytest.mark.spark
def test_a_record_behind_the_marker_that_ended_its_transaction_is_late(judge: Judge) -> None:
    """C2: the marker is at 64, the record at 66, and both are visible; no other rule says anything."""
    verdict = judge(late())
    assert told(verdict) == {"late_write": 1}
    (row,) = finding(verdict, "late_write").evidence
    assert (row["kind"], row["seq"], row["offset"], row["txn"]) == ("late", LAST, 66, "t-5")
    assert (row["producer_id"], row["marker"], row["owner"]) == (7, 64, "t-5")


@pytest.mark.proves("late_write", "fires")
@pytest.mark.spark
def test_a_record_in_the_next_transaction_is_foreign(judge: Judge) -> None:
    """C2: what was committed with the next transaction was not for its own one to decide."""
    verdict = judge(foreign())
    assert told(verdict) == {"late_write": 1}
    (row,) = finding(verdict, "late_write").evidence
    assert (row["kind"], row["seq"], row["offset"], row["txn"]) == ("foreign", 19, 21, "t-1")
    assert (row["producer_id"], row["marker"], row["owner"]) == (7, 20, "t-2")


@pytest.mark.spark
def test_a_record_that_is_foreign_from_the_first_has_no_end_of_its_own(asked: Asked) -> None:
    """C2: all of a transaction stands in the next one, so nothing is known of where it ended."""
    history = marked()
    for first in (11, 22):
        forgotten(history, first)
    ended(history, 11, 31, 32)
    rows = asked(history)
    assert [(row["kind"], row["seq"], row["marker"], row["owner"]) for row in rows] == [
        ("foreign", seq, None, "t-2") for seq in range(10, 20)
    ]


@pytest.mark.proves("late_write", "near miss")
@pytest.mark.spark
def test_records_between_the_markers_of_their_transaction_are_right(judge: Judge, asked: Asked, tmp_path: Path) -> None:
    """Also where another producer writes in between, and where the marker has the higher epoch of who fenced it."""
    verdict = judge(marked())
    assert (told(verdict), verdict.checks["late_write"]) == ({}, "clean")
    assert not glances(tmp_path, "late_write", marked())
    history = marked()
    forgotten(history, 11)
    history.change("sends", {"seq": 14}, txn="other")
    ended(history, 11, 14, 21)
    ended(history, 15, 15, 70, producer=8)
    ended(history, 16, 20, 21)
    history.each("markers", lambda row: row | {"producer_epoch": 5})
    assert asked(history) == []


@pytest.mark.spark
@pytest.mark.parametrize(("make", "offset"), [(late, 66), (foreign, 21)])
def test_a_late_record_that_nobody_may_see_is_right(asked: Asked, make: Callable[[], History], offset: int) -> None:
    """Near miss: it was appended, and aborted with the transaction that it got into."""
    history = make()
    history.drop("audit", offset=offset, isolation="read_committed")
    assert asked(history) == []


@pytest.mark.proves("late_write", "no evidence")
@pytest.mark.spark
def test_a_log_that_was_not_read_whole_is_not_judged(judge: Judge) -> None:
    """Nothing is claimed of it, the run keeps its verdict, and the check says what it lacks."""
    history = late()
    history.each("dumps", lambda row: row | {"complete": False, "why": "there is no /opt/kafka/bin/kafka-dump-log.sh"})
    verdict = judge(history)
    assert (told(verdict), guards(verdict)) == ({}, set())
    said = verdict.checks["late_write"]
    assert said == (
        "not judged: transactions are not all known: orders-0: there is no /opt/kafka/bin/kafka-dump-log.sh"
    )


@pytest.mark.spark
def test_a_run_that_fetched_nothing_says_so_and_one_without_transactions_need_not(judge: Judge) -> None:
    """Not judged is not clean; and where there is no transaction there is nothing to judge."""
    history = late()
    for table in ("dumps", "stretches", "markers"):
        history.rows[table].clear()
    said = judge(history).checks["late_write"]
    assert said == "not judged: the hosts were not asked for the markers of transactions"
    assert judge(History(records=20)).checks["late_write"] == "clean"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("config", "severity"),
    [({"unclean.leader.election.enable": "true"}, "allowed"), ({"cleanup.policy": "compact"}, "unproven")],
)
def test_where_a_marker_may_be_gone_it_is_no_violation(asked: Asked, config: dict[str, str], severity: str) -> None:
    """An unclean election may lose a marker, and compaction removes it."""
    history = late()
    history.topic["config"] |= config
    if severity == "allowed":
        assert [row["severity"] for row in asked(history)] == ["violation"]
        history.elect_uncleanly(19)
    assert [row["severity"] for row in asked(history)] == [severity]


@pytest.mark.spark
def test_a_marker_that_was_cut_off_ended_its_transaction(asked: Asked) -> None:
    """The record stays, its marker goes with an unclean election, and the next marker ends both transactions."""
    history = foreign()
    assert [row["severity"] for row in asked(history)] == ["violation"]
    history.elect_uncleanly(19)
    assert [row["severity"] for row in asked(history)] == ["allowed"]


@pytest.mark.spark
def test_records_of_unknown_transactions_are_not_judged(asked: Asked) -> None:
    """Near miss: who was killed wrote down no send, and plain records and those of others have no transaction."""
    history = late()
    history.drop("sends", seq=LAST)
    assert asked(history) == []
    history = foreign()
    history.change("sends", {"seq": 19}, txn=None)
    assert asked(history) == []

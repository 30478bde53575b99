"""A4, A6, B10, C3: an unclean election cut off the marker of a transaction, and left its records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.asking import asking
from analysis.history import History, ns
from analysis.transactional import transactional
from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def cut(outcome: str, *, unclean: bool = True, marker: int | None = None, later: bool = True) -> History:
    """The transaction t-2 (records 20 to 29) ended at 9.6 s; the log was cut behind 29 at 9.9 s, where its marker was.

    Without ``later`` nothing was sent after 29. ``marker``: of the transaction, in the leader's files.
    """
    history = transactional()
    history.change("transactions", {"txn": "t-2"}, outcome=outcome)
    if unclean:
        history.elect_uncleanly(9.9)
    for table in ("reads", "audit"):
        history.each(table, lambda row: row | {"leader_epoch": 3 if row["seq"] < 30 else 5})
    if not later:
        for table in ("sends", "reads", "audit"):
            history.rows[table] = [row for row in history.rows[table] if row["seq"] < 30]
        history.rows["transactions"] = [
            row for row in history.rows["transactions"] if row["txn"] in ("t-0", "t-1", "t-2")
        ]
    if marker is not None:
        history.add("dumps", broker=2, complete=True)
        history.add("stretches", first=20, last=29, marker=marker, producer_id=1, producer_epoch=0)
    return history


def severities(spark: SparkSession, folder: Path, check: str, history: History) -> set[str]:
    """Those of the check's rows."""
    return {row["severity"] for row in asking(spark, folder, check)(history)}


@pytest.mark.proves("aborted_read", "near miss")
@pytest.mark.parametrize(
    ("changed", "severity"),
    [({}, "allowed"), ({"marker": 34}, "allowed"), ({"marker": 29}, "violation"), ({"unclean": False}, "violation")],
    ids=["cut off", "that of the next one", "its own is there", "no election"],
)
def test_an_aborted_transaction_may_be_shown(
    spark: SparkSession, tmp_path: Path, changed: dict[str, Any], severity: str
) -> None:
    """A6: the commit marker of the producer's next transaction ended t-2 as well."""
    assert severities(spark, tmp_path, "aborted_read", cut("aborted", **changed)) == {severity}


def test_what_was_shown_before_the_election_had_its_marker(spark: SparkSession, tmp_path: Path) -> None:
    """A6, near miss: a reader at read_committed was given record 25 at 2 s, long before the log was cut."""
    history = cut("aborted")
    history.change("reads", {"offset": 25}, at=ns(2))
    rows = asking(spark, tmp_path, "aborted_read")(history)
    assert {row["offset"]: row["severity"] for row in rows if row["severity"] != "allowed"} == {25: "violation"}


@pytest.mark.proves("aborted_read", "fires")
def test_a_later_record_proves_that_the_marker_was_before_it(spark: SparkSession, tmp_path: Path) -> None:
    """A6, near miss: t-0 ended at -0.5 s, and 29 was sent ten seconds later: the marker stood long before the cut."""
    history = cut("committed")
    history.change("transactions", {"txn": "t-0"}, outcome="aborted")
    assert severities(spark, tmp_path, "aborted_read", history) == {"violation"}


def hidden(history: History, first: int = 20, below: int = 30) -> History:
    """Nobody at read_committed was given these records."""
    for offset in range(first, below):
        history.drop("audit", offset=offset, isolation="read_committed")
        history.drop("reads", offset=offset)
    return history


@pytest.mark.proves("lost", "near miss")
@pytest.mark.proves("torn_transaction", "near miss")
@pytest.mark.parametrize(("unclean", "severity"), [(True, "allowed"), (False, "violation")])
def test_a_committed_transaction_may_be_hidden(
    spark: SparkSession, tmp_path: Path, severity: str, *, unclean: bool
) -> None:
    """A4, C3: the abort marker of the producer's next transaction ended t-2 as well."""
    history = hidden(cut("committed", unclean=unclean))
    for check in ("lost", "torn_transaction"):
        assert severities(spark, tmp_path / check, check, history) == {severity}


def held(*, unclean: bool = True, outcome: str = "committed") -> History:
    """t-2 holds the last stable offset at 20 from 10 s on, for as long as the watcher looks: to 120 s."""
    history = hidden(cut(outcome, unclean=unclean, later=False))
    history.change("audit_ranges", {"isolation": "read_committed"}, end=20)
    history.each("offsets", lambda row: row | {"last_stable": 20, "high_watermark": 30, "log_end": 30})
    last = history.rows["offsets"][-1]
    history.rows["offsets"] += [last | {"at": ns(at)} for at in range(22, 121, 2)]
    return history


@pytest.mark.proves("stuck_lso", "near miss")
@pytest.mark.parametrize(
    ("changed", "severity"), [({}, "allowed"), ({"outcome": "info"}, "unproven"), ({"unclean": False}, "violation")]
)
def test_a_transaction_without_a_marker_holds_the_last_stable_offset(
    spark: SparkSession, tmp_path: Path, changed: dict[str, Any], severity: str
) -> None:
    """B10: its client was told that it had ended, so that the coordinator does not end it again; or it was not."""
    assert severities(spark, tmp_path, "stuck_lso", held(**changed)) == {severity}


def test_what_stands_behind_it_is_hidden_as_well(spark: SparkSession, tmp_path: Path) -> None:
    """A4: plain records behind it, of the new leader, cannot be read at read_committed either; else that is open."""
    for unclean, severity in ((True, "allowed"), (False, "unproven")):
        history = held(unclean=unclean)
        for seq in (100, 101):
            history.send(seq, 12 + seq / 100, offset=seq - 70)
            history.add("audit", offset=seq - 70, seq=seq, isolation="read_uncommitted", leader_epoch=5)
        rows = asking(spark, tmp_path / severity, "lost")(history)
        assert {row["severity"] for row in rows if row["seq"] >= 100} == {severity}

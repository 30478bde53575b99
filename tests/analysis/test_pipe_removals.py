"""B11, C4: inputs and outputs of applications that their logs lost: owed to nobody, unless they were passed before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.asking import Asked, asking
from analysis.history import History, ns
from analysis.test_retention import SHORT, settings
from analysis.transactional import piped
from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def eos(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks C4 alone."""
    return asking(spark, tmp_path / "eos", "eos")


@pytest.fixture
def rewind(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks B11 alone."""
    return asking(spark, tmp_path / "rewind", "abort_rewind")


def abandoned(outcome: str = "aborted") -> History:
    """The transaction with the inputs 20 to 29 did not commit, at 10 s; the application goes on with 30 at 10.1 s."""
    history = piped()
    history.change("transactions", {"txn": "p-2"}, outcome=outcome)
    for seq in range(20, 30):
        history.drop("audit", producer="pipe", seq=seq, isolation="read_committed")
    return history


def deleted(history: History, at: float, below: int = 30) -> History:
    """Retention deletes the first inputs at a time; nothing is kept for longer than 0.3 s."""
    settings(history, cleanup_policy="delete", retention_ms=300, retention_bytes=-1, **SHORT)
    history.rows["audit"] = [r for r in history.rows["audit"] if r["topic"] != "orders" or r["offset"] >= below]
    history.change("audit_ranges", {"topic": "orders"}, log_start=below)
    history.each("offsets", lambda row: row | ({"log_start": below} if row["at"] >= ns(at) else {}))
    return history


def compacted(history: History, keys: int | str) -> History:
    """The inputs' topic is compacted, and 20 to 29 are gone from it."""
    settings(history, cleanup_policy="compact")
    history.topic["config"]["cleanup.policy"] = "compact"
    history.probes["writer"]["produce"]["keys"] = keys
    for offset in range(20, 30):
        history.drop("audit", topic="orders", offset=offset)
    return history


def severities(rows: list[dict[str, Any]]) -> dict[str, int]:
    """How many rows there are of each severity."""
    return {each["severity"]: sum(row["severity"] == each["severity"] for row in rows) for each in rows}


@pytest.mark.proves("eos", "near miss")
@pytest.mark.proves("abort_rewind", "near miss")
@pytest.mark.parametrize(
    ("at", "missing", "advances"),
    [(10.0, {}, {}), (12.0, {"unproven": 10}, {}), (18.0, {"violation": 10}, {"violation": 1})],
    ids=["before", "about then", "long after"],
)
def test_inputs_that_were_deleted_before_they_could_be_read_again(
    eos: Asked, rewind: Asked, at: float, missing: dict[str, int], advances: dict[str, int]
) -> None:
    """The application went on at 10.1 s: what was deleted by then is owed to nobody, what was there is."""
    assert severities(eos(deleted(abandoned(), at))) == missing
    assert severities(rewind(deleted(abandoned(), at))) == advances


@pytest.mark.proves("eos", "no evidence")
def test_inputs_of_a_transaction_of_unknown_fate_are_open(eos: Asked) -> None:
    """C4, near miss: it may have committed, and then the outputs are missing; the application need not go back."""
    assert severities(eos(deleted(abandoned("info"), 10.0))) == {"unproven": 10}


@pytest.mark.proves("eos", "fires")
def test_a_deletion_is_no_excuse_for_inputs_that_were_done(eos: Asked) -> None:
    """C4, near miss: the transaction committed, and an output of it is nowhere; the input is deleted right after."""
    history = piped()
    for table, who in (("audit", "producer"), ("outputs", "probe"), ("sends", "probe")):
        history.drop(table, **{who: "pipe"}, seq=25)
    assert severities(eos(deleted(history, 10.0))) == {"violation": 1}


@pytest.mark.parametrize(("keys", "severity"), [(1, None), ("sequence", "violation")])
def test_inputs_that_compaction_removed(eos: Asked, rewind: Asked, keys: int | str, severity: str | None) -> None:
    """A later record of their key was sent at 10 s; or none was, and the log lost them."""
    found = severities(eos(compacted(abandoned(), keys)))
    assert found == ({} if severity is None else {severity: 10})
    assert severities(rewind(compacted(abandoned(), 1))) == {}


@pytest.mark.parametrize(("unclean", "severity"), [(True, "allowed"), (False, "violation")])
def test_inputs_that_an_unclean_election_cut_off(eos: Asked, rewind: Asked, severity: str, *, unclean: bool) -> None:
    """The log was cut at 20, and 30 to 49 were written from there on; the application went on with offset 30."""
    history = abandoned()
    if unclean:
        history.elect_uncleanly(9.9)
    later = {row["seq"] for row in history.rows["sends"] if row["probe"] == "writer" and row["seq"] >= 30}
    for table, who in (("sends", "probe"), ("reads", "producer"), ("audit", "producer")):
        kept = []
        for row in history.rows[table]:
            mine = row[who] == "writer"
            if table == "audit" and mine and 20 <= row["seq"] < 30:
                continue
            moved = {"offset": row["offset"] - 10} if mine and row["seq"] in later else {}
            epoch = {"leader_epoch": 5 if row["seq"] >= 30 else 3} if mine and table != "sends" else {}
            kept.append(row | moved | epoch)
        history.rows[table] = kept
    history.rows["reads"] = [r for r in history.rows["reads"] if r["probe"] != "pipe" or not 30 <= r["seq"] < 40]
    for seq in range(30, 40):
        for table, who in (("outputs", "probe"), ("sends", "probe"), ("audit", "producer")):
            history.drop(table, **{who: "pipe"}, seq=seq)
    history.each("outputs", lambda row: row | ({"offset": row["offset"] - 10} if row["offset"] >= 40 else {}))
    history.change("groups", {"group": "pipes"}, offset=40)
    assert severities(eos(history)) == {severity: 10}
    assert severities(rewind(history)) == {severity: 1}


@pytest.mark.parametrize(
    ("keys", "outcome", "found"),
    [(1, "committed", {}), ("sequence", "committed", {"violation": 5}), (1, "info", {"unproven": 5})],
)
def test_outputs_that_compaction_removed(eos: Asked, keys: int | str, outcome: str, found: dict[str, int]) -> None:
    """C4: an output has the key of its input, and a later one of that key is there, or none; or its fate is unknown."""
    history = piped(each=5)
    settings(history, cleanup_policy="delete")
    history.others["invoices"]["config"] = {"cleanup.policy": "compact"}
    history.add("topic_settings", at=-6, topic="invoices", name="cleanup.policy", value="compact")
    history.probes["writer"]["produce"]["keys"] = keys
    history.change("transactions", {"txn": "p-0"}, outcome=outcome)
    for seq in range(5):
        history.drop("audit", producer="pipe", seq=seq)
    assert severities(eos(history)) == found


def test_what_was_left_and_deleted_is_not_waited_for(rewind: Asked) -> None:
    """B11: the last transaction was aborted at 20 s, and half of its inputs, or all, were deleted then."""
    history = piped()
    history.change("transactions", {"txn": "p-4"}, outcome="aborted")
    assert severities(rewind(history)) == {"unproven": 1}
    assert severities(rewind(deleted(history, 20.5, 45))) == {"unproven": 1}
    assert severities(rewind(deleted(history, 20.5, 50))) == {}

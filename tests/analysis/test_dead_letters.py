"""B3 with dead letters: a failed record that was committed past is not lost while there is a letter about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.asking import asking
from analysis.history import History
from analysis.test_swallowed import fail
from analysis.transactional import piped
from analysis.ways import finding, guards, measure, told

from chaosk.rundir.verdict import Outcome, Severity

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def lettering(*, whole: bool = True) -> History:
    """A run whose reader sends dead letters to ``letters``; ``whole``: that was audited to its end."""
    history = History(records=50)
    history.others["letters"] = {"partitions": 1, "replication_factor": 3}
    failing = {"every": 20, "handling": "dead_letter", "topic": "letters"}
    history.probes["reader"]["consume"]["failing"] = failing
    settings = {"acks": -1, "idempotent": False, "max_in_flight": 5}
    history.each("incarnations", lambda row: row | settings if row["probe"] == "reader" else row)
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", topic="letters", isolation=isolation, log_start=0, end=10, complete=whole)
    history.commit(50, 20.4)
    return history


def letter(history: History, about: int, *, outcome: str | None = "ok", there: bool = True, seq: int = 0) -> None:
    """The record at the offset ``about`` failed, and the reader sent its dead letter ``seq``."""
    at = -5 + about / 2 + 0.05
    fail(history, about, at, handling="dead_letter")
    history.add("outputs", probe="reader", incarnation=0, seq=seq, topic="orders", partition=0, offset=about, at=at)
    if outcome is not None:
        offset = seq if outcome == "ok" else None
        history.send(seq, at, probe="reader", topic="letters", outcome=outcome, offset=offset)
    if there:
        history.audit(seq, producer="reader", topic="letters", seq=seq)


@pytest.mark.proves("swallowed", "near miss")
def test_a_record_with_a_dead_letter_is_not_lost(judge: Judge) -> None:
    """Near miss of B3: failed and committed past, and the letter was acknowledged and is in the log."""
    history = lettering()
    letter(history, 21)
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)
    assert measure(verdict, "swallowed_records", "readers") == 0


@pytest.mark.proves("swallowed", "near miss")
@pytest.mark.parametrize("outcome", ["info", None], ids=["unknown", "killed before it knew"])
def test_a_letter_in_the_log_is_enough(judge: Judge, outcome: str | None) -> None:
    """Near miss of B3: nobody acknowledged the letter, and there it is."""
    history = lettering()
    letter(history, 21, outcome=outcome)
    if outcome is None:
        history.drop("ends", probe="reader")
    assert told(judge(history)) == {}


@pytest.mark.parametrize("outcome", ["info", "fail", None])
def test_a_letter_that_never_arrived_saves_nothing(judge: Judge, outcome: str | None) -> None:
    """B3: the letters' log was read to its end, and the letter is not there: the record is lost, and named."""
    history = lettering()
    letter(history, 21, outcome=outcome, there=False)
    verdict = judge(history)
    assert told(verdict) == {"swallowed": 1}
    found = finding(verdict, "swallowed")
    assert found.severity is Severity.VIOLATION
    row = {"offset": 21, "seq": 21, "attempts": 1, "handling": "dead_letter", "letters": 1, "committed": 50}
    assert found.evidence[0].items() >= row.items()


def test_an_acknowledged_letter_that_is_gone_is_lost_by_itself(judge: Judge) -> None:
    """A4 tells of the letter; the record that it was about is not counted a second time."""
    history = lettering()
    letter(history, 21, there=False)
    verdict = judge(history)
    assert told(verdict) == {"lost": 1}
    assert finding(verdict, "lost").evidence[0]["producer"] == "reader"


@pytest.mark.parametrize(("outcome", "open_"), [("info", True), (None, True), ("fail", False)])
def test_what_nobody_looked_at_leaves_it_open(judge: Judge, outcome: str | None, open_: bool) -> None:  # noqa: FBT001
    """B3 without the evidence: no outcome and no whole audit; what was refused for sure is lost all the same."""
    history = lettering(whole=False)
    letter(history, 21, outcome=outcome, there=False)
    verdict = judge(history)
    assert ("swallowed_unproven" in guards(verdict)) is open_
    assert ("swallowed" in told(verdict)) is not open_


def test_one_letter_of_which_nobody_knows_leaves_it_open(spark: SparkSession, tmp_path: Path) -> None:
    """B3 without the evidence: the record stands twice; at 21 its letter was refused, at 50 nobody knows."""
    history = lettering(whole=False)
    letter(history, 21, outcome="fail", there=False)
    history.read(50, 20.02, seq=21)
    history.audit(50, seq=21)
    letter(history, 50, outcome=None, there=False, seq=1)
    history.change("failures", {"offset": 50}, seq=21)
    history.commit(51, 20.5)
    (row,) = asking(spark, tmp_path, "swallowed")(history)
    assert (row["seq"], row["attempts"], row["severity"]) == (21, 2, "unproven")


def test_letters_are_each_about_their_own_record(judge: Judge) -> None:
    """Two failed, one has a letter: the other one is lost."""
    history = lettering()
    letter(history, 21)
    letter(history, 31, outcome="fail", there=False, seq=1)
    verdict = judge(history)
    assert [row["offset"] for row in finding(verdict, "swallowed").evidence] == [31]


def test_letters_are_no_outputs_of_a_transaction(judge: Judge) -> None:
    """Near miss of C4: beside a transform, a reader sends a letter about what it has not committed."""
    history = piped()
    failing = {"every": 20, "handling": "dead_letter", "topic": "orders"}
    history.probes["reader"]["consume"]["failing"] = failing
    letter(history, 21, seq=100)
    assert "eos" not in told(judge(history))

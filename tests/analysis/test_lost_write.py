"""A3: acknowledged records that readers passed and nobody had, where no audit can say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History, ns
from analysis.ways import finding, told

from chaosk.verdict import Outcome

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = pytest.mark.spark


def unaudited(**settings: object) -> History:
    """Record 21 was acknowledged, nobody was given it, and the audit broke off before it read anything."""
    history = History(records=50)
    history.change("incarnations", {"probe": "writer"}, **settings)
    history.drop("reads", offset=21)
    history.rows["audit"].clear()
    history.each("audit_ranges", lambda row: row | {"complete": False, "why": "timed out"})
    return history


@pytest.mark.proves("lost_write", "fires")
def test_an_acknowledged_record_that_a_reader_passed_is_lost(judge: Judge) -> None:
    """A3: offset 20 was followed by 22 and nobody ever had 21: told once, although no audit says anything."""
    verdict = judge(unaudited())
    assert told(verdict) == {"lost_write": 1}
    (row,) = finding(verdict, "lost_write").evidence
    assert {"seq": 21, "offset": 21, "before": 20, "next": 22, "acks": -1}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION


@pytest.mark.proves("lost_write", "near miss")
def test_a_complete_audit_knows_better(judge: Judge) -> None:
    """Near miss: the same record is not in the log that was audited completely: A4 says so, and A3 does not."""
    history = History(records=50)
    history.drop("reads", offset=21)
    history.drop("audit", offset=21)
    assert told(judge(history)) == {"lost": 1}


@pytest.mark.proves("lost_write", "no evidence")
def test_what_lies_beyond_the_last_delivery_may_still_come(judge: Judge) -> None:
    """Near miss: the readers have not come so far; and what lies before their first was never asked for."""
    history = unaudited()
    history.rows["reads"] = [row for row in history.rows["reads"] if row["offset"] > 30 and row["offset"] < 45]
    assert told(judge(history)) == {}


def test_a_seek_passes_nothing(judge: Judge) -> None:
    """Near miss: the consumer sought past it, which is its own choice."""
    history = unaudited()
    history.add("seeks", offset=22, at=(21 / 2 - 5) + 0.2)
    assert told(judge(history)) == {}


def test_what_was_passed_before_it_was_sent_is_not_lost(judge: Judge) -> None:
    """Near miss: readers had passed the offset before the record was sent: A11 tells that the log went back."""
    history = unaudited()
    history.change("sends", {"seq": 21}, scheduled=ns(18), invoked=ns(18), completed=ns(18.1))
    assert told(judge(history)) == {"stale_append": 1}


def test_retention_is_no_loss(judge: Judge) -> None:
    """Near miss: the log start moved past it."""
    history = unaudited()
    history.each("offsets", lambda row: row | {"log_start": 22})
    assert told(judge(history)) == {}


def test_acks_1_allows_it(judge: Judge) -> None:
    """A3 with acks=1: the leader alone had it: told as allowed."""
    verdict = judge(unaudited(acks=1, idempotent=False))
    assert told(verdict, "allowed") == {"lost_write": 1}
    assert told(verdict, "violation") == {}

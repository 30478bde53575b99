"""A11: records that were acknowledged at offsets which the log had passed before they were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysis.history import History
from analysis.ways import finding, guards, told

from chaosk.rundir.verdict import Outcome

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


def gone_back(acks: int = -1) -> History:
    """Offset 31 was left out by the log; a record of another process, sent at 18.2 s, was acknowledged there.

    The log had long reached offset 45; no other record was ever seen at 31.
    """
    history = History(records=50, acks=acks, idempotent=acks == -1)
    history.worker("writer", 1, kind="produce", acks=acks, idempotent=acks == -1, max_in_flight=5)
    for table in ("sends", "reads", "audit"):
        history.drop(table, seq=31)
    history.send(0, 18.2, incarnation=1, offset=31)
    history.audit(31, producer_incarnation=1, seq=0)
    history.rows["reads"] = [row for row in history.rows["reads"] if row["offset"] < 31]
    history.add("assignments", kind="revoke", at=10.45)  # who was given what is not the question here
    return history


@pytest.mark.proves("stale_append", "fires")
def test_an_offset_that_was_passed_before_the_record_was_sent_is_a_violation(judge: Judge) -> None:
    """A11: sent at 18.2 s and acknowledged at offset 31, when offset 45 had been acknowledged."""
    verdict = judge(gone_back())
    assert told(verdict) == {"stale_append": 1}
    (row,) = finding(verdict, "stale_append").evidence
    assert {"seq": 0, "offset": 31, "reached": 45, "acks": -1}.items() <= row.items()
    assert verdict.verdict is Outcome.VIOLATION


def test_acks_1_allows_it(judge: Judge) -> None:
    """A11 with acks=1: the leader before had it alone. That acks=1 was set excuses nothing: another one was elected."""
    history = gone_back(acks=1)
    assert told(judge(history), "violation") == {"stale_append": 1}
    history.elect(15)
    verdict = judge(history)
    assert told(verdict, "allowed") == {"stale_append": 1}
    assert told(verdict, "violation") == {}


def test_acks_1_and_nobody_saw_who_led(judge: Judge) -> None:
    """A11 with acks=1 where no sample tells of a leader: whether another one was elected is open."""
    history = gone_back(acks=1)
    history.each("partitions", lambda row: row | {"leader": -1})
    verdict = judge(history)
    assert told(verdict) == {}
    assert "stale_append_unproven" in guards(verdict)


def test_an_unclean_election_allows_it(judge: Judge) -> None:
    """A11 where an unclean election was seen: the log went back. That it was allowed excuses nothing."""
    history = gone_back()
    history.topic["config"] = {"unclean.leader.election.enable": True}
    assert told(judge(history), "violation") == {"stale_append": 1}
    history.elect_uncleanly(15)
    assert told(judge(history), "allowed") == {"stale_append": 1}


@pytest.mark.proves("stale_append", "near miss")
def test_records_in_flight_together_may_be_acknowledged_in_any_order(judge: Judge) -> None:
    """Near miss: both were sent before either was acknowledged, so the one sent later may come first in the log."""
    history = History(records=50)
    history.worker("writer", 1, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    for incarnation, offset, completed in ((0, 51, 19.71), (1, 50, 19.72)):
        history.send(60, 19.7, incarnation=incarnation, offset=offset, completed=completed)
        history.audit(offset, producer_incarnation=incarnation, seq=60)
    for offset, incarnation in ((50, 1), (51, 0)):
        history.read(offset, 19.8, producer_incarnation=incarnation, seq=60)
    assert told(judge(history)) == {}


def test_an_offset_with_two_records_is_told_once(judge: Judge) -> None:
    """Near miss: the log was cut back and offset 31 was given again; two records at one offset say so already."""
    history = History(records=50)
    history.send(60, 18.2, offset=31)
    verdict = judge(history)
    assert "stale_append" not in told(verdict)
    assert told(verdict)["inconsistent_offset"] == 1


@pytest.mark.proves("stale_append", "no evidence")
def test_an_acknowledgement_without_an_offset_says_nothing(judge: Judge) -> None:
    """Evidence missing: where the record is was not told; a send that failed has no place either."""
    history = History(records=50)
    history.change("sends", {"seq": 40}, offset=None)
    history.send(60, 18.2, outcome="fail", error="_PURGE_QUEUE", offset=3)
    assert told(judge(history)) == {}

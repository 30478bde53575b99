"""A4 and C3: what compaction can have removed: replaced records of closed segments, while it is in force."""

from __future__ import annotations

from typing import Any

import pytest
from analysis.conftest import Judge
from analysis.history import History
from analysis.transactional import transactional
from analysis.ways import guards, told

from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark

CHECKS = ("lost", "torn_transaction")
"""Those that are asked here."""
ONE = {"segment_ms": 604_800_000, "segment_bytes": 1_073_741_824}
"""Kafka's own settings: fifty records in 25 s are in one segment."""


def settings(history: History, at: float = -6, **values: Any) -> History:
    """What a broker reported of the topic at a moment."""
    for name, value in values.items():
        history.add("topic_settings", at=at, name=name.replace("_", "."), value=str(value))
    return history


def compacting(history: History, keys: object = 10, **more: int) -> History:
    """The same of a topic that keeps the latest record of each key."""
    history.probes["writer"]["produce"]["keys"] = keys
    return settings(history, cleanup_policy="compact", retention_ms=-1, retention_bytes=-1, **more)


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(("until", "outcome"), [(-5.5, Outcome.VIOLATION), (6, Outcome.PASS)])
def test_compaction_that_was_over_removed_nothing_later(judge: Judge, until: float, outcome: Outcome) -> None:
    """Record 20 was sent at 5 s, and the next one of its key at 10 s; the topic was compacted until then, or not."""
    history = settings(compacting(History(records=50)), until, cleanup_policy="delete")
    history.drop("audit", offset=20)
    assert judge(history).verdict is outcome


@pytest.mark.proves("lost", "fires")
def test_compaction_removes_nothing_before_it_is_replaced(judge: Judge) -> None:
    """The topic was compacted until 4 s; record 20 was there at 5 s, and the next one of its key came at 15 s."""
    history = settings(compacting(History(records=50), keys=20), 7, cleanup_policy="delete")
    history.drop("audit", offset=20)
    assert judge(history).verdict is Outcome.VIOLATION


@pytest.mark.proves("lost", "no evidence")
def test_a_replaced_record_at_read_uncommitted_alone_is_open(judge: Judge) -> None:
    """Compaction may have removed it between the audit's two readers."""
    history = compacting(History(records=50))
    history.drop("audit", offset=20, isolation="read_committed")
    assert guards(judge(history)) == {"lost_unproven"}


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(
    ("segments", "outcome"),
    [
        (ONE, Outcome.VIOLATION),
        (ONE | {"segment_ms": 3_000}, Outcome.PASS),
        (ONE | {"segment_bytes": 3_000}, Outcome.PASS),
        (ONE | {"max_compaction_lag_ms": 3_000}, Outcome.PASS),
    ],
    ids=["open", "closed by age", "closed by size", "closed for compaction"],
)
def test_the_segment_that_is_written_to_is_not_compacted(
    judge: Judge, segments: dict[str, int], outcome: Outcome
) -> None:
    """Record 20 has later ones of its key, all in one segment, or not."""
    history = compacting(History(records=50), **segments)
    history.drop("audit", offset=20)
    assert judge(history).verdict is outcome


@pytest.mark.proves("torn_transaction", "fires")
@pytest.mark.parametrize(("keys", "violated"), [("sequence", True), (10, False)])
def test_a_record_of_a_committed_transaction_that_nothing_replaced_is_missing(
    judge: Judge,
    keys: object,
    violated: bool,  # noqa: FBT001
) -> None:
    """It timed out and is nowhere, and its transaction was committed: another record of its key is there, or not."""
    history = compacting(transactional(records=50, each=2), keys)
    history.change("sends", {"seq": 15}, outcome="info", error="_MSG_TIMED_OUT", offset=None)
    for table in ("reads", "audit"):
        history.drop(table, seq=15)
    assert ("torn_transaction" in told(judge(history))) is violated


@pytest.mark.proves("torn_transaction", "near miss")
def test_a_replaced_record_tears_no_transaction(judge: Judge) -> None:
    """It was acknowledged, nobody who reads carefully was given it, and a later one of its key is there."""
    history = compacting(transactional(records=50, each=2))
    history.change("incarnations", {"probe": "reader"}, isolation="read_uncommitted")
    history.drop("audit", seq=15)
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)


@pytest.mark.proves("lost", "near miss")
@pytest.mark.parametrize(("lost", "outcome"), [(range(4), Outcome.PASS), (range(5), Outcome.VIOLATION)])
def test_an_application_replaces_the_offsets_that_it_stored(judge: Judge, lost: range, outcome: Outcome) -> None:
    """It writes them with its group's name as key: compaction keeps the last of five, or that is gone as well."""
    history = History(records=50)
    history.others["positions"] = {"partitions": 1, "replication_factor": 3, "config": {"cleanup.policy": "compact"}}
    history.probes["reader"]["consume"] |= {"assign": "all", "offsets": {"topic": "positions"}}
    history.add("topic_settings", topic="positions", at=-6, name="cleanup.policy", value="compact")
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", topic="positions", isolation=isolation, log_start=0, end=5, complete=True)
    history.change("incarnations", {"probe": "reader"}, acks=-1, idempotent=True)
    for seq in range(5):
        history.send(seq, 5 * seq - 4, probe="reader", topic="positions")
        if seq not in lost:
            history.audit(seq, topic="positions", producer="reader", seq=seq)
    assert judge(history).verdict is outcome

"""The ledger: one answer for every acknowledged record, of the log and of each reader that is owed it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from analysis.asking import another, passed_on, reads_of
from analysis.history import History, ns
from analysis.transactional import transactional
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.events import Events
from chaosk.analysis.ledger import accounts, audited
from chaosk.analysis.spark import tune
from chaosk.rundir.verdict import Account

pytestmark = pytest.mark.spark

Ledger = Callable[[History], dict[str, Account]]


@pytest.fixture
def ledger(spark: SparkSession, tmp_path: Path) -> Ledger:
    """The accounts of a history by reader, the log's by an empty name; each adds up to what was acknowledged."""
    numbers = count()
    tune(spark, small=True)

    def kept(history: History) -> dict[str, Account]:
        events = Events(spark, read_case(history.write(tmp_path / f"run{next(numbers)}")))
        found = accounts(events)
        events.release()
        acknowledged = sum(row["outcome"] == "ok" for row in history.rows["sends"])
        for account in found:
            assert account.owed == account.answered <= acknowledged, account
        return {account.reader: account for account in found}

    return kept


def gone(history: History, *offsets: int) -> History:
    """The same without these records in the log, and in anybody's hands."""
    for offset in offsets:
        history.drop("audit", offset=offset)
        history.drop("reads", offset=offset)
    return history


def deleted(history: History, below: int, at: float | None = None) -> History:
    """The log begins at ``below`` in the end; a leader tells so from ``at`` on, if ever."""
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] >= below]
    history.each("audit_ranges", lambda row: row | {"log_start": below})
    if at is not None:
        history.each("offsets", lambda row: row | ({"log_start": below} if row["at"] >= ns(at) else {}))
    return history


def settings(history: History, at: float = -6, **values: object) -> History:
    """What a broker reported of the topic at a moment."""
    for name, value in values.items():
        history.add("topic_settings", at=at, name=name.replace("_", "."), value=str(value))
    return history


def test_all_that_was_acknowledged_is_delivered_and_committed_or_not(ledger: Ledger) -> None:
    """Fifty records in the log and with the group, which has committed up to 30 by the cluster's own word."""
    history = History(records=50)
    history.add("groups", offset=30)
    found = ledger(history)
    assert (found[""].delivered, found[""].owed, found[""].uncommitted) == (50, 50, None)
    assert (found["readers"].delivered, found["readers"].uncommitted) == (50, 20)


def test_what_is_neither_in_the_log_nor_excused_is_a_violation_for_all(ledger: Ledger) -> None:
    """A lost record stands in the log's account, and with the same answer in that of the group that was owed it."""
    found = ledger(gone(History(records=50), 20))
    assert (found[""].delivered, found[""].violation) == (49, 1)
    assert (found["readers"].delivered, found["readers"].violation) == (49, 1)


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_in_the_log_means_at_both_isolation_levels(ledger: Ledger, level: str) -> None:
    """A plain record that read_committed does not show is lost; one that only read_committed shows cannot be judged."""
    history = History(records=50)
    history.drop("audit", offset=20, isolation=level)
    account = ledger(history)[""]
    assert account.delivered == 49
    assert (account.violation, sum(account.not_judged.values())) == ((1, 0) if level == "read_committed" else (0, 1))


def test_what_lies_beyond_the_last_stable_offset_is_not_judged(ledger: Ledger) -> None:
    """The audit's read_committed pass ended at 40, where a transaction of somebody's is open."""
    history = History(records=50)
    history.rows["audit"] = [
        row for row in history.rows["audit"] if row["isolation"] == "read_uncommitted" or row["offset"] < 40
    ]
    history.each("audit_ranges", lambda row: row | {"end": 40 if row["isolation"] == "read_committed" else 50})
    account = ledger(history)[""]
    assert (account.delivered, account.violation, sum(account.not_judged.values())) == (40, 0, 10)


def test_a_committed_transaction_of_which_nothing_is_visible_is_a_violation(ledger: Ledger) -> None:
    """Its three records were acknowledged and it committed: read_uncommitted shows them, read_committed none."""
    history = transactional()
    mine = [row["seq"] for row in history.rows["sends"] if row["txn"] == "t-1"]
    assert mine
    for seq in mine:
        history.drop("audit", seq=seq, isolation="read_committed")
        history.drop("reads", seq=seq)
    found = ledger(history)
    assert (found[""].violation, found["readers"].violation) == (len(mine), len(mine))


@pytest.mark.parametrize(
    ("reported", "at", "answer"),
    [
        ({"cleanup_policy": "delete", "retention_ms": 5_000, "retention_bytes": -1}, 5.0, "excused"),
        pytest.param(
            {"cleanup_policy": "delete", "retention_ms": 60_000, "retention_bytes": -1},
            5.0,
            "violation",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {"cleanup_policy": "delete", "retention_ms": -1, "retention_bytes": 5_000},
            5.0,
            "excused",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {"cleanup_policy": "delete", "retention_ms": -1, "retention_bytes": 100_000},
            5.0,
            "violation",
            marks=pytest.mark.long,
        ),
        pytest.param(
            {"cleanup_policy": "compact", "retention_ms": 5_000, "retention_bytes": -1},
            5.0,
            "not_judged",
            marks=pytest.mark.long,
        ),
        ({"cleanup_policy": "delete", "retention_ms": -1, "retention_bytes": -1}, None, "violation"),
        ({}, 5.0, "not_judged"),
    ],
)
def test_a_log_start_that_moves_excuses_what_the_settings_can_have_deleted(
    ledger: Ledger, reported: dict[str, Any], at: float | None, answer: str
) -> None:
    """Records 0 to 4, sent up to -3 s, are gone at 5 s: by their age, by the size of what came after, or by a stranger.

    Of a topic of which nobody reported the settings nobody can say; nor of a compacted one with keys unknown.
    """
    account = ledger(settings(deleted(History(records=50), 5, at), **reported))[""]
    counts = {
        "violation": account.violation,
        "excused": sum(account.excused.values()),
        "not_judged": sum(account.not_judged.values()),
    }
    assert counts == {"violation": 0, "excused": 0, "not_judged": 0} | {answer: 5}


def test_a_setting_excuses_only_while_it_is_in_force(ledger: Ledger) -> None:
    """The topic was told to keep seconds after the records were gone, or until long before: they are a stranger's."""
    kept: dict[str, Any] = {"cleanup_policy": "delete", "retention_ms": -1, "retention_bytes": -1}
    later = settings(deleted(History(records=50), 5, 1.0), **kept)
    assert ledger(settings(later, 15, retention_ms=1_000))[""].violation == 5
    before = settings(deleted(History(records=50), 5, 19.0), -6, **kept | {"retention_ms": 8_000})
    assert ledger(settings(before, -5, retention_ms=-1))[""].violation == 5


@pytest.mark.parametrize(("offset", "answer"), [pytest.param(20, "excused", marks=pytest.mark.long), (49, "violation")])
def test_compaction_keeps_the_latest_record_of_a_key(ledger: Ledger, offset: int, answer: str) -> None:
    """Ten keys in turn: record 20 has later ones of its key in the log, 49 is the last of its own."""
    history = gone(History(records=50), offset)
    history.probes["writer"]["produce"]["keys"] = 10
    settings(history, cleanup_policy="compact", retention_ms=-1, retention_bytes=-1)
    account = ledger(history)[""]
    assert (account.violation, sum(account.excused.values())) == ((1, 0) if answer == "violation" else (0, 1))


def test_a_debt_begins_where_the_group_began_not_at_what_it_was_given_first(ledger: Ledger) -> None:
    """The first ten records were never delivered to a group that was there before and begins at the log's start."""
    history = History(records=50)
    for offset in range(10):
        history.drop("reads", offset=offset)
    found = ledger(history)
    assert (found["readers"].delivered, found["readers"].violation) == (40, 10)


@pytest.mark.parametrize("how", ["committed", "reset", "seek"])
def test_what_lies_before_its_first_position_is_not_owed(ledger: Ledger, how: str) -> None:
    """It began at 10: committed before, the end as it was then, or sought. The row that says so excuses ten records.

    They had been sent by then: at 10 the log ended.
    """
    history = History(records=50)
    for offset in range(10):
        history.drop("reads", offset=offset)
    history.change("assignments", {}, at=ns(-0.3))
    history.change("fetched", {}, invoked=ns(-0.25), completed=ns(-0.2), offset=10 if how == "committed" else None)
    if how != "committed":
        history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
        history.add("seeks", offset=10, at=-0.1, kind=how)
    account = ledger(history)["readers"]
    assert (account.violation, account.not_judged, sum(account.excused.values())) == (0, {}, 10)


def test_a_group_that_begins_at_an_end_that_nobody_asked_for(ledger: Ledger) -> None:
    """What was acknowledged before it came is not owed; what was under way until its first record nobody can judge."""
    history = History(records=50)
    history.probes["reader"]["consume"]["config"] = {"auto.offset.reset": "latest"}
    history.rows["assignments"].clear()
    history.add("assignments", at=-2)  # records 0 to 5 had been acknowledged
    for offset in range(10):
        history.drop("reads", offset=offset)
    account = ledger(history)["readers"]
    assert (account.violation, sum(account.excused.values()), sum(account.not_judged.values())) == (0, 6, 4)


@pytest.mark.parametrize(
    ("timeouts", "answer"),
    [
        ({}, "not_judged"),
        pytest.param({"session.timeout.ms": 6000}, "not_judged", marks=pytest.mark.long),
        pytest.param({"max.poll.interval.ms": 6000}, "not_judged", marks=pytest.mark.long),
        ({"session.timeout.ms": 6000, "max.poll.interval.ms": 6000}, "violation"),
    ],
)
def test_a_partition_that_no_member_was_ever_given_is_owed(
    ledger: Ledger, timeouts: dict[str, int], answer: str
) -> None:
    """A violation once it has lasted for longer than the group's own time-outs explain; before that it is open."""
    history = History(records=50)
    history.topic["partitions"] = 2
    history.probes["reader"]["consume"]["config"] = timeouts
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=-1, complete=True)
    history.send(100, -4, partition=1, offset=0)
    history.audit(0, seq=100, partition=1)
    account = ledger(history)["readers"]
    assert (account.delivered, account.violation, sum(account.not_judged.values())) == (
        (50, 1, 0) if answer == "violation" else (50, 0, 1)
    )


def test_a_partition_that_was_revoked_and_given_to_nobody_is_owed(ledger: Ledger) -> None:
    """What it was not given before is open where the time-outs explain it."""
    history = History(records=50)
    for offset in range(40, 50):
        history.drop("reads", offset=offset)
    history.add("assignments", at=15, kind="revoke")
    assert sum(ledger(history)["readers"].not_judged.values()) == 10


def test_a_reader_without_a_group_is_owed_as_well(ledger: Ledger) -> None:
    """It stopped short of the end, and it was never given one record that it passed."""
    history = History(records=50)
    history.probes["reader"]["consume"] = {"topic": "orders", "assign": "all"}
    for table in ("reads", "assignments", "incarnations"):
        history.each(table, lambda row: row | ({"group": None} if row["probe"] == "reader" else {}))
    history.rows["fetched"].clear()
    for offset in (20, 48, 49):
        history.drop("reads", offset=offset)
    account = ledger(history)["reader"]
    assert (account.delivered, account.violation, sum(account.not_judged.values())) == (47, 1, 2)


def test_a_reader_that_a_step_ended_is_owed_nothing_more(ledger: Ledger) -> None:
    """But for what it had passed by then."""
    history = History(records=50)
    history.record["probes"][0]["ended_by"] = "step"
    history.change("ends", {"probe": "reader"}, at=ns(15.2))
    history.add("assignments", at=15.1, kind="revoke")
    for offset in (20, *range(40, 50)):
        history.drop("reads", offset=offset)
    account = ledger(history)["readers"]
    assert (account.violation, sum(account.excused.values()), account.not_judged) == (1, 10, {})


def test_what_a_killed_process_may_have_had_is_not_judged(ledger: Ledger) -> None:
    """It was killed with 21 and 22 in its hands, and the next process went on at 23."""
    history = History(records=50)
    for offset in (21, 22):
        history.drop("reads", offset=offset)
    history.drop("ends", probe="reader")
    passed_on(history, 6.1, 23, how=None)
    reads_of(history, 23, incarnation=1, assignment=0)
    assert sum(ledger(history)["readers"].not_judged.values()) == 2


def test_each_reader_has_an_account_of_its_own(ledger: Ledger) -> None:
    """A second group that was given nothing is owed all, and the first one is not held to it."""
    history = History(records=50)
    another(history, "other", group="others")
    history.probes["other"] = {"consume": {"topic": "orders", "group": "others"}}
    found = ledger(history)
    assert (found["readers"].delivered, found["others"].delivered) == (50, 0)
    assert sum(found["others"].not_judged.values()) == 50


def test_a_ledger_that_does_not_add_up_is_a_guard() -> None:
    """A query that drops rows, or counts them twice, leaves the run INCONCLUSIVE; so does an answer nobody told of."""
    short = Account(topic="orders", reader="", owed=5, delivered=3, violation=1)
    assert [guard.guard for guard in audited([short], [], [])] == ["ledger_unbalanced", "ledger_disagrees"]
    open_question = Account(topic="orders", reader="readers", owed=5, delivered=3, not_judged={"who knows": 2})
    (guard,) = audited([open_question], [], [])
    assert (guard.guard, "2 (who knows)" in guard.what) == ("not_judged", True)
    whole = Account(topic="orders", reader="", owed=5, delivered=3, excused={"it was old": 2})
    assert not list(audited([whole], [], []))

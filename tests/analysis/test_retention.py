"""A4: what retention can have deleted: while its setting is in force, and whole segments only."""

from __future__ import annotations

from typing import Any

import pytest
from analysis.conftest import Judge
from analysis.history import History, ns
from analysis.ways import told

from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark

CHECKS = ("lost",)
"""Those that are asked here."""
LONG = {"segment_ms": 604_800_000, "segment_bytes": 1_073_741_824}
"""Kafka's own settings: fifty records in 25 s are in one segment."""
SHORT = {"segment_ms": 2_000, "segment_bytes": 1_073_741_824}
SMALL = {"segment_ms": 604_800_000, "segment_bytes": 1_500}


def deleted(history: History, at: float, below: int = 5, *, ends: bool = False) -> History:
    """The log begins at ``below`` from ``at`` on; with ``ends`` the leader tells where it ends as well."""

    def sampled(row: dict[str, int]) -> dict[str, int]:
        start = {"log_start": below} if row["at"] >= ns(at) else {}
        end = min(50, max(0, (row["at"] - ns(-5)) // 500_000_000 + 1))
        return row | start | ({"log_end": end} if ends else {})

    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] >= below]
    history.each("audit_ranges", lambda row: row | {"log_start": below})
    history.each("offsets", sampled)
    return history


def settings(history: History, at: float = -6, **values: Any) -> History:
    """What a broker reported of the topic at a moment."""
    for name, value in values.items():
        history.add("topic_settings", at=at, name=name.replace("_", "."), value=str(value))
    return history


def keeping(age: int = -1, size: int = -1, **more: int) -> History:
    """Fifty records in a topic with that retention."""
    return settings(History(records=50), cleanup_policy="delete", retention_ms=age, retention_bytes=size, **more)


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(("seen_until", "outcome"), [(19.0, Outcome.VIOLATION), (-0.5, Outcome.PASS)])
def test_a_retention_that_was_over_deleted_nothing_later(judge: Judge, seen_until: float, outcome: Outcome) -> None:
    """2 s until -5 s, and none since: the leader had the first five records until 19 s, or nobody looked until then.

    In the latter case it may have deleted them in time.
    """
    history = settings(keeping(age=2_000), -5, retention_ms=-1)
    deleted(history, 19)
    kept = [row for row in history.rows["offsets"] if row["at"] < ns(seen_until) or row["at"] >= ns(19)]
    history.rows["offsets"] = kept
    assert judge(history).verdict is outcome


@pytest.mark.parametrize(("before", "outcome"), [("deleted", Outcome.PASS), ("kept", Outcome.VIOLATION)])
def test_a_follower_that_deleted_in_time_may_be_elected_later(judge: Judge, before: str, outcome: Outcome) -> None:
    """Retention was 1 s until -2 s. Broker 2, elected at 12 s, had deleted by 2 s as a follower, or not before 12 s."""
    history = settings(keeping(age=1_000), -2, retention_ms=-1)
    history.elect(12)
    followed = [row | {"asked": 2, "leader": False} for row in history.rows["offsets"] if row["at"] < ns(12)]
    deleted(history, 12)
    since = ns(2 if before == "deleted" else 12)
    history.rows["offsets"] += [row | {"log_start": 5 if row["at"] >= since else 0} for row in followed]
    assert judge(history).verdict is outcome


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(
    ("segments", "outcome"), [(LONG, Outcome.VIOLATION), (SHORT, Outcome.PASS), (SMALL, Outcome.PASS)]
)
def test_a_size_deletes_closed_segments_only(judge: Judge, segments: dict[str, int], outcome: Outcome) -> None:
    """retention.bytes had been reached, and the log was one segment of 12 kB that was written to, or several."""
    assert judge(deleted(keeping(size=5_000, **segments), 15, ends=True)).verdict is outcome


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(
    ("segments", "outcome"), [(LONG, Outcome.VIOLATION), (SHORT, Outcome.PASS), (SMALL, Outcome.PASS)]
)
def test_an_age_deletes_no_segment_with_young_records(judge: Judge, segments: dict[str, int], outcome: Outcome) -> None:
    """The five records were older than retention.ms, and the segment with them went on to be written to, or not."""
    assert judge(deleted(keeping(age=5_000, **segments), 5)).verdict is outcome


@pytest.mark.proves("lost", "near miss")
def test_an_age_deletes_the_last_segment_if_all_of_it_has_expired(judge: Judge) -> None:
    """Nothing was sent from -2.5 s to 5 s: the five records before that are a segment of which all is 5 s old."""
    history = keeping(age=5_000, **LONG)
    for table in ("sends", "reads", "audit"):
        history.rows[table] = [row for row in history.rows[table] if not 5 <= row["seq"] < 20]
        history.each(table, lambda row: row | ({"offset": row["offset"] - 15} if row["seq"] >= 20 else {}))
    assert judge(deleted(history, 4)).verdict is Outcome.PASS


def test_settings_of_segments_that_the_scenario_sets_and_nobody_reports_leave_any_time(judge: Judge) -> None:
    """Kafka's 4 internal size of segments was set: what segment.bytes says does not hold."""
    history = deleted(keeping(age=5_000, **LONG), 5)
    history.topic["config"]["internal.segment.bytes"] = 1_000
    assert "lost" not in told(judge(history))

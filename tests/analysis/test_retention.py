"""A4: what retention can have deleted: while its setting is in force, and whole segments only."""

from __future__ import annotations

from typing import Any

import pytest
from analysis.conftest import Judge
from analysis.history import History, ns
from analysis.ways import finding, guards, told

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


def clocks(history: History, *readings: tuple[float, float], hosts: tuple[str, ...] = ("node2",)) -> History:
    """The clocks of some hosts are measured, each reading a time and the seconds by which they are ahead."""
    for host in hosts:
        for at, ahead in readings:
            history.add("host_clocks", host=host, at=at, offset=round(ahead * 1e9), error=2_000_000)
    return history


ALL = ("node1", "node2", "node3")
SOON = -1.0
"""When five records are deleted that are two to four seconds old, of which only one is near the age of 5 s."""


@pytest.mark.proves("lost", "near miss")
@pytest.mark.parametrize("readings", [[(-6, 10)], [(-6, 0), (-1.5, 3_600), (-0.5, 3_600), (3, 0)], [(-6, 0), (0, 9)]])
def test_a_host_that_is_ahead_deletes_earlier(judge: Judge, readings: list[tuple[float, float]]) -> None:
    """The leader's clock was ten seconds ahead, or a step set it forward by an hour, shortly before."""
    assert judge(clocks(deleted(keeping(age=5_000, **SHORT), SOON), *readings)).verdict is Outcome.PASS


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(
    "readings", [[], [(-6, 0), (2, 0)], [(-6, 0), (2, 0), (3, 3_600)], [(-6, 3_600), (-5, 0), (2, 0)]]
)
def test_a_clock_that_is_right_deletes_nothing_earlier(judge: Judge, readings: list[tuple[float, float]]) -> None:
    """No clock was ahead, or a step had set it forward before the records were sent, or after they were gone."""
    history = clocks(deleted(keeping(age=5_000, **SHORT), SOON), *readings)
    assert judge(history).verdict is Outcome.VIOLATION


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(("hosts", "outcome"), [(ALL, Outcome.VIOLATION), (("node2",), Outcome.PASS)])
def test_hosts_that_are_behind_delete_later(judge: Judge, hosts: tuple[str, ...], outcome: Outcome) -> None:
    """By the clocks of all replicas the records were younger than the age; or one of three may have deleted them."""
    assert judge(clocks(deleted(keeping(age=5_000, **SHORT), 5), (-6, -10), hosts=hosts)).verdict is outcome


@pytest.mark.proves("lost", "fires")
@pytest.mark.parametrize(
    ("stamped", "readings", "outcome"),
    [
        ("CreateTime", [(-6, 10)], Outcome.PASS),
        ("LogAppendTime", [(-6, 10)], Outcome.VIOLATION),
        ("LogAppendTime", [(-6, 0), (-2.5, 0), (-2.4, 10)], Outcome.PASS),
    ],
)
def test_the_clock_that_stamps_a_record_counts_as_well(
    judge: Judge, stamped: str, readings: list[tuple[float, float]], outcome: Outcome
) -> None:
    """Stamped by the leader, records are as far ahead as its clock; they age too fast if it is set forward later."""
    history = clocks(deleted(keeping(age=5_000, **SHORT), SOON), *readings, hosts=ALL)
    assert judge(settings(history, message_timestamp_type=stamped)).verdict is outcome


@pytest.mark.parametrize(("at", "measured"), [(-0.5, False), (-1.5, True)])
def test_a_clock_that_a_step_moved_has_to_be_measured(judge: Judge, at: float, *, measured: bool) -> None:
    """The step lasted from -2 s to -1 s, and the clock was measured within that, or only after it."""
    history = clocks(deleted(keeping(age=5_000, **SHORT), SOON), (-6, 0), (at, 0), (3, 0))
    history.entry = {"name": "kill", "at": "1s", "skew_clock": {"target": "broker(1)", "offset": "1h"}, "for": "1s"}
    history.change("faults", {"fault": "kill"}, step="skew_clock", targets="node2", invoked=ns(-2), applied=ns(-1.9),
                   heal_invoked=ns(-1.1), healed=ns(-1))  # fmt: skip
    verdict = judge(history)
    assert ("lost_unproven" in guards(verdict)) is not measured
    assert ("lost" in told(verdict)) is measured


def test_settings_of_segments_that_the_scenario_sets_and_nobody_reports_leave_any_time(judge: Judge) -> None:
    """Kafka's 4 internal size of segments was set: what segment.bytes says does not hold."""
    history = deleted(keeping(age=5_000, **LONG), 5)
    history.topic["config"]["internal.segment.bytes"] = 1_000
    assert "lost" not in told(judge(history))


@pytest.mark.parametrize(
    ("age", "read", "violated", "allowed"), [(5_000, True, 0, 0), (5_000, False, 0, 5), (500_000, True, 3, 2)]
)
def test_records_of_unknown_offset_may_have_been_deleted(
    judge: Judge, age: int, violated: int, allowed: int, *, read: bool
) -> None:
    """acks=0: nobody was told an offset. 0 to 4 are below the log's start, of which nobody read 1 and 3; or nobody any.

    What a reader had of them shows where the others were. Else they may also have been lost, as acks=0 allows.
    """
    history = settings(History(records=50, acks=0, idempotent=False), cleanup_policy="delete", retention_ms=age,
                       retention_bytes=-1, **SHORT)  # fmt: skip
    history.each("sends", lambda row: row | {"offset": None})
    for offset in (1, 3) if read else range(5):
        history.drop("reads", offset=offset)
    verdict = judge(deleted(history, 5))
    assert told(verdict, "violation").get("lost", 0) == violated
    assert told(verdict, "allowed").get("lost", 0) == allowed
    assert verdict.verdict is (Outcome.VIOLATION if violated else Outcome.PASS)


@pytest.mark.proves("lost", "fires")
def test_what_no_setting_deletes_is_told_as_deleted_by_another_client(judge: Judge) -> None:
    """The log begins at 5, and nothing of this run deletes; another record is gone from the middle of the log."""
    verdict = judge(deleted(keeping(), 5.0))
    assert (verdict.verdict, told(verdict)) == (Outcome.VIOLATION, {"lost": 5})
    reason = finding(verdict, "lost").reason
    assert reason is not None
    assert reason.startswith("deleted, as by another client's DeleteRecords: the log's start moved past it")
    assert f"5 records lost ({reason})" in verdict.summary


def test_what_is_gone_from_the_middle_of_a_log_was_not_deleted(judge: Judge) -> None:
    """Near miss: DeleteRecords takes the first records alone."""
    history = keeping()
    for table in ("audit", "reads"):
        history.drop(table, offset=20)
    verdict = judge(history)
    assert told(verdict) == {"lost": 1}
    assert finding(verdict, "lost").reason is None

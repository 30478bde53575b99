"""What failed in processing and was committed past (B3): lost to the application, or not, or nobody can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from analysis.asking import Asked, asking
from analysis.history import History, ns
from analysis.test_rules_reading import hand_over, restarted
from analysis.ways import finding, guards, measure, told

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.checks.swallowed import Swallowed
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Outcome, Severity

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]


def fail(history: History, offset: int, at: float, **values: Any) -> None:
    """The delivery of the record at ``offset`` failed."""
    history.add("failures", **({"offset": offset, "seq": offset, "n": offset, "at": at} | values))


def again(history: History, offset: int, at: float) -> None:
    """The reader seeks back to ``offset`` and is given it once more; what it had after that it had later."""
    history.add("seeks", offset=offset, at=at - 0.001)
    history.each("reads", lambda row: row | ({"n": row["n"] + 1} if row["offset"] > offset else {}))
    history.read(offset, at, n=offset + 1, poll=offset)


@pytest.mark.proves("swallowed", "fires")
def test_a_failed_record_below_the_committed_offset_is_lost_to_the_application(judge: Judge) -> None:
    """B3: given once, failed, committed past: a violation that names it and what was done about it."""
    history = History(records=50)
    fail(history, 21, 5.6)
    history.commit(50, 20.4)
    verdict = judge(history)
    assert told(verdict) == {"swallowed": 1}
    found = finding(verdict, "swallowed")
    assert found.severity is Severity.VIOLATION
    row = {"offset": 21, "seq": 21, "attempts": 1, "handling": "swallow", "letters": 0, "committed": 50}
    assert found.evidence[0].items() >= row.items()
    assert measure(verdict, "swallowed_records", "readers") == 1


@pytest.mark.proves("swallowed", "near miss")
def test_a_failed_record_above_the_committed_offset_will_come_again(judge: Judge) -> None:
    """Near miss: the group has committed up to the record and not past it."""
    history = History(records=50)
    fail(history, 49, 19.6, handling="leave")
    history.commit(49, 20.4)
    verdict = judge(history)
    assert (told(verdict), verdict.verdict) == ({}, Outcome.PASS)
    assert measure(verdict, "swallowed_records", "readers") == 0


def test_one_attempt_that_works_is_enough(judge: Judge) -> None:
    """Near miss: the first attempt failed, the reader sought back, and the second one did not."""
    history = History(records=50)
    fail(history, 21, 5.6, handling="seek_back")
    again(history, 21, 5.7)
    history.commit(50, 20.4)
    assert told(judge(history)) == {}


def test_a_record_that_never_works_is_swallowed_after_its_last_try(judge: Judge) -> None:
    """B3: two attempts, two failures, then committed past; the seeks do not excuse it."""
    history = History(records=50)
    fail(history, 21, 5.6, handling="seek_back")
    again(history, 21, 5.7)
    fail(history, 21, 5.75, n=22, attempt=2)
    history.commit(50, 20.4)
    verdict = judge(history)
    assert told(verdict) == {"swallowed": 1}
    assert finding(verdict, "swallowed").evidence[0].items() >= {"attempts": 2, "handling": "swallow"}.items()


def test_another_member_may_have_done_it(judge: Judge) -> None:
    """Near miss: it failed in the first process, was not committed, and the second process did it."""
    history = History(records=50)
    fail(history, 21, 5.6, handling="leave")
    history.commit(21, 5.7)
    restarted(history, 6.0, found=21)
    hand_over(history, 22)
    history.read(21, 6.3, incarnation=1, n=0)
    history.each("reads", lambda row: row | ({"n": 1000 + row["offset"]} if row["incarnation"] else {}))
    history.commit(50, 20.4, incarnation=1)
    assert told(judge(history)) == {}


def test_a_duplicate_that_was_done_counts(judge: Judge) -> None:
    """Near miss: the record stands in the log twice; at one place it failed, at the other it did not."""
    history = History(records=50, idempotent=False)
    history.read(50, 19.9, seq=21)
    history.audit(50, seq=21)
    fail(history, 21, 5.6)
    history.commit(51, 20.4)
    assert told(judge(history), "violation") == {}


@pytest.mark.proves("swallowed", "no evidence")
@pytest.mark.parametrize(("handling", "open_"), [("seek_back", True), ("swallow", False)])
def test_a_killed_process_leaves_open_what_it_was_to_try_again(judge: Judge, handling: str, open_: bool) -> None:  # noqa: FBT001
    """It may have done the record before it could say so, unless it had gone on."""
    history = History(records=50)
    fail(history, 21, 5.6, handling=handling)
    history.commit(24, 6.1)
    restarted(history, 6.2, killed=True, found=24)
    hand_over(history, 24)
    verdict = judge(history)
    assert (told(verdict) == {}) is open_
    assert ("swallowed_unproven" in guards(verdict)) is open_


def test_groups_are_judged_each_by_itself(judge: Judge) -> None:
    """What one group did is no help to another: it failed in one of them, which committed past it."""
    history = History(records=50)
    history.probes["other"] = {"consume": {"topic": "orders", "group": "others"}}
    history.record["probes"].append({"probe": "other", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.worker("other", kind="consume", group="others", isolation="read_committed", commit="sync")
    history.add("assignments", probe="other", group="others", at=-5.9)
    history.add("polls", probe="other", poll=0, invoked=2, completed=2)
    for offset in range(50):
        history.read(offset, -4.9 + offset / 2, probe="other", group="others")
    fail(history, 30, 10.2, probe="other", group="others")
    history.commit(50, 20.4)
    history.commit(50, 20.4, probe="other", group="others")
    verdict = judge(history)
    assert {row["group"] for row in finding(verdict, "swallowed").evidence} == {"others"}
    assert measure(verdict, "swallowed_records", "readers") == 0


def test_a_consumer_without_a_group_commits_past_nothing(judge: Judge) -> None:
    """Near miss: a reader of its own partitions fails, and nobody has committed anything."""
    history = History(records=50)
    history.each(
        "incarnations", lambda row: row | {"group": None, "commit": "none"} if row["probe"] == "reader" else row
    )
    for table in ("reads", "assignments"):
        history.each(table, lambda row: row | {"group": None})
    history.rows["fetched"].clear()
    fail(history, 21, 5.6, group=None)
    assert told(judge(history)) == {}


def test_where_nothing_failed_a_glance_is_enough(tmp_path: Path) -> None:
    """On an ordinary run Spark is not asked."""
    history = History(records=5)
    assert not Swallowed().glance(EventRows(read_case(history.write(tmp_path / "without"))))
    fail(history, 2, 1.0)
    assert Swallowed().glance(EventRows(read_case(history.write(tmp_path / "with"))))


# --- commit_skip and unseen: automatic commits that ran ahead ---------------------------------------------------------


def test_what_a_killed_process_had_in_its_hands_is_counted_once(judge: Judge) -> None:
    """B3, allowed: automatic commits ran ahead of a killed process. A5 adds nothing, and nothing is left open."""
    history = History(records=50)
    for offset in (21, 22, 23):
        history.drop("reads", offset=offset)
    restarted(history, 6.8, killed=True, found=24, commit="automatic")
    hand_over(history, 24)
    history.add("groups", offset=50)
    verdict = judge(history)
    assert (told(verdict), guards(verdict)) == ({"commit_skip (allowed)": 3}, set())
    found = finding(verdict, "commit_skip")
    assert (found.severity, found.faults) == (Severity.ALLOWED, ("kill",))
    assert measure(verdict, "skipped_records", "readers") == 3


@pytest.mark.proves("swallowed", "no evidence")
@pytest.mark.parametrize("moved_on", [False, True])
def test_what_a_killed_process_was_given_last_it_may_not_have_processed(judge: Judge, moved_on: bool) -> None:  # noqa: FBT001
    """Given to a process that was killed, and then to its successor, which failed at it and committed past it.

    Where the first one had polled again before it was killed, it had processed the record.
    """
    history = History(records=50)
    restarted(history, 5.3, killed=True, found=20)
    late = [row for row in history.drop("reads", probe="reader") if row["offset"] > 20]
    for offset in range(22 if moved_on else 21):
        history.read(offset, -4.99 + offset / 2)
    history.read(20, 5.6, incarnation=1)
    for place, row in enumerate(sorted(late, key=lambda row: int(row["offset"]))):
        history.rows["reads"].append(
            row | {"incarnation": 1, "n": place + 1, "poll": place + 1, "at": row["at"] + 10**9}
        )
    fail(history, 20, 5.61, n=0, incarnation=1)
    history.commit(50, 20.8, incarnation=1)
    verdict = judge(history)
    assert ("swallowed_unproven" in guards(verdict)) is not moved_on
    assert told(verdict) == {}


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks this check alone."""
    return asking(spark, tmp_path, "swallowed")


def sought_back(moved: float, *, handling: str = "seek_back", read_on: float = 9.6, retention: int = 1200) -> History:
    """The record at 20 failed at 5.02 s and is sought back; the log begins at 27 from ``moved`` on, by age.

    The reader goes on at 27 from ``read_on`` on.
    """
    history = History(records=50)
    history.probes["reader"]["consume"] |= {"failing": {"share": 0.02, "handling": handling}}
    for name, value in {"retention.ms": retention, "cleanup.policy": "delete", "retention.bytes": -1}.items():
        history.add("topic_settings", at=-5.5, name=name, value=str(value))
    fail(history, 20, 5.02, handling=handling)
    history.add("seeks", offset=20, at=5.03)
    history.rows["reads"] = [row for row in history.rows["reads"] if not 20 < row["offset"] < 27]
    for number, row in enumerate(history.rows["reads"]):
        row["n"] = row["poll"] = number
        row["at"] = row["at"] if row["offset"] <= 20 else max(row["at"], ns(read_on) + row["offset"])
    later = {"log_start": 27}
    history.each("offsets", lambda row: row | (later if row["at"] >= ns(moved) else {}))
    history.each("audit_ranges", lambda row: row | later)
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] >= 27]
    history.commit(50, 20)
    return history


def test_a_record_that_was_deleted_before_it_was_read_again_is_not_swallowed(asked: Asked) -> None:
    """Near miss of B3: it was older than retention.ms, and the log's start moved past it before the reader went on."""
    assert asked(sought_back(9.4)) == []


@pytest.mark.parametrize(
    ("history", "severity"),
    [
        (sought_back(9.4, handling="swallow"), "violation"),
        (sought_back(9.4, retention=604_800_000), "violation"),
        (sought_back(17, read_on=9.6), "violation"),
        (sought_back(12, read_on=9.6), "unproven"),
    ],
    ids=["told to swallow", "not old enough", "deleted long after", "deleted soon after"],
)
def test_a_record_that_could_be_read_again_is_swallowed(asked: Asked, history: History, severity: str) -> None:
    """B3: it was not sought back, or not rightly deleted, or deleted when the group had gone on beyond it."""
    assert [(row["offset"], row["severity"]) for row in asked(history)] == [(20, severity)]


def replaced(at: float) -> History:
    """The record at 20 failed and is sought back; 23 has its key and is sent at ``at``; compaction removed 20."""
    history = History(records=50)
    history.topic["config"]["cleanup.policy"] = "compact"
    history.add("topic_settings", at=-5.5, name="cleanup.policy", value="compact")
    history.probes["writer"]["produce"]["keys"] = 3
    history.probes["reader"]["consume"] |= {"failing": {"share": 0.02, "handling": "seek_back"}}
    fail(history, 20, 5.02, handling="seek_back")
    history.add("seeks", offset=20, at=5.03)
    for seq in range(23, 50, 3):
        history.change("sends", {"seq": seq}, invoked=ns(at + seq / 1000), completed=ns(at + seq / 1000 + 0.005))
    for row in history.rows["reads"]:
        row["at"] = max(row["at"], ns(7.2) + row["offset"]) if row["offset"] > 20 else row["at"]
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] != 20]
    history.commit(50, 20)
    return history


def test_a_record_that_was_compacted_before_it_was_read_again_is_not_swallowed(asked: Asked) -> None:
    """Near miss of B3: a later record of its key was sent at 6.5 s, and the reader went on at 7.2 s."""
    assert asked(replaced(6.5)) == []


def test_a_record_that_was_the_latest_of_its_key_is_swallowed(asked: Asked) -> None:
    """B3: the later record of its key came long after the reader had gone on beyond it."""
    assert [(row["offset"], row["severity"]) for row in asked(replaced(15))] == [(20, "violation")]

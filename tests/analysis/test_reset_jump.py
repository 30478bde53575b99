"""B7: members that begin elsewhere than at the committed offset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.asking import Asked, asking, glances, passed_on, reads_of
from analysis.history import History, ns
from analysis.ways import finding, told
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks this check alone."""
    return asking(spark, tmp_path, "reset_jump")


def begun(found: int | None, first: int, *, commit: int | None = None) -> History:
    """The reader has read up to 21; its second process finds ``found`` at 6.2 s, and is given ``first`` first."""
    history = History(records=50)
    if commit is not None:
        history.commit(commit, 5.6)
    passed_on(history, 6.0, found)
    reads_of(history, min(first, 22), incarnation=1)
    for offset in range(22, first):
        history.drop("reads", offset=offset)
    return history


@pytest.mark.proves("reset_jump", "fires")
def test_a_jump_beyond_the_committed_offset_is_a_violation(judge: Judge) -> None:
    """B7: 22 is committed, 24 the first one given; the group never gets 22 and 23, and that is told as well (A5)."""
    verdict = judge(begun(22, 24, commit=22))
    assert told(verdict) == {"reset_jump": 1, "unseen": 2}
    row = finding(verdict, "reset_jump").evidence[0]
    assert (row["kind"], row["committed"], row["offset"], row["skipped"]) == ("later", 22, 24, 22)


def test_a_record_below_the_committed_offset_is_a_violation(asked: Asked) -> None:
    """B7: 24 is committed, and the member is given 22 first; allowed where the log was seen to be cut back, too."""
    history = begun(24, 22)
    history.topic["config"]["unclean.leader.election.enable"] = "true"
    assert [(row["kind"], row["severity"]) for row in asked(history)] == [("earlier", "violation")]
    history.elect_uncleanly(8)
    assert [row["severity"] for row in asked(history)] == ["allowed"]


@pytest.mark.proves("reset_jump", "near miss")
def test_offsets_that_hold_no_record_are_no_jump(asked: Asked) -> None:
    """Near miss of B7: nobody ever saw a record at 22 and 23."""
    history = begun(22, 24)
    for offset in (22, 23):
        history.drop("sends", seq=offset)
        history.drop("audit", offset=offset)
    assert asked(history) == []


def test_what_a_careful_reader_does_not_see_is_no_jump(asked: Asked) -> None:
    """Near miss of B7: the records in between are visible at read_uncommitted only."""
    history = begun(22, 24)
    for offset in (22, 23):
        history.change("sends", {"seq": offset}, outcome="info", offset=None)
        history.drop("audit", offset=offset, isolation="read_committed")
    assert asked(history) == []


@pytest.mark.proves("reset_jump", "fires")
@pytest.mark.parametrize(
    ("first", "severity", "skipped"),
    [(26, "information", 24), (28, "violation", 26)],
    ids=["the first left", "the end"],
)
def test_a_log_that_begins_later_is_a_reason(asked: Asked, first: int, severity: str, skipped: int) -> None:
    """B7, near miss: retention deleted what was committed, so that the member had to begin with the first one left.

    It is lost to the group if the member is reset to the end instead, and passes records that the log still has.
    """
    history = begun(24, first)
    history.worker("other", kind="consume", isolation="read_committed")
    history.read(24, 7.1, probe="other", group=None)
    history.each("audit_ranges", lambda row: row | {"log_start": 26})
    history.each("offsets", lambda row: row | ({"log_start": 26} if row["at"] >= ns(8) else {}))
    for offset in range(26):
        history.drop("audit", offset=offset)
    assert [(row["severity"], row["skipped"]) for row in asked(history)] == [(severity, skipped)]


def test_in_a_compacted_log_it_is_open(asked: Asked) -> None:
    """B7 without the evidence: compaction may have removed the records before the member came."""
    history = begun(22, 26)
    history.topic["config"]["cleanup.policy"] = "compact"
    assert [row["severity"] for row in asked(history)] == ["unproven"]


def test_who_seeks_or_is_told_to_begins_where_it_likes(asked: Asked) -> None:
    """Near misses of B7: a seek before the first delivery, or a probe that begins at the log's end."""
    history = begun(22, 26)
    history.add("seeks", incarnation=1, offset=26, at=6.3)
    assert asked(history) == []
    history.rows["seeks"].clear()
    history.probes["reader"]["consume"]["start"] = "end"
    assert asked(history) == []


def test_without_a_committed_offset_it_is_information(asked: Asked) -> None:
    """B7, the other class: the group had read before, and finds nothing committed; its very first time is no news."""
    assert [(row["kind"], row["severity"]) for row in asked(begun(None, 26))] == [("uncommitted", "information")]
    assert asked(History(records=50)) == []


def stored(history: History, *, kind: str = "topic", outcome: str = "ok") -> History:
    """The same of an application whose process was killed, and that says how it committed."""
    history.commit(22, 5.6, kind=kind, outcome=outcome)
    return history


def test_an_empty_poll_is_not_nothing_stored(asked: Asked) -> None:
    """B7: the application had 22 acknowledged in its own topic, found nothing, and began again; the records follow."""
    assert [(row["kind"], row["severity"]) for row in asked(stored(begun(None, 0)))] == [("unrestored", "violation")]
    skipping = asked(stored(begun(None, 26)))
    assert [(row["kind"], row["offset"], row["committed"]) for row in skipping] == [("unrestored", 26, None)]


@pytest.mark.parametrize("values", [{"kind": "sync"}, {"outcome": "info"}], ids=["a coordinator's", "unsure"])
def test_what_was_never_in_its_topic_cannot_be_restored(asked: Asked, values: dict[str, str]) -> None:
    """Near misses of it: offsets that the coordinator had may expire, and a commit without an answer may be none."""
    history = stored(begun(None, 0), **values)
    assert [(row["kind"], row["severity"]) for row in asked(history)] == [("uncommitted", "information")]


@pytest.mark.proves("reset_jump", "no evidence")
def test_an_unanswered_question_is_no_answer(asked: Asked) -> None:
    """B7 without the evidence: the member never learned what was committed."""
    history = begun(22, 26)
    history.drop("fetched", incarnation=1)
    assert asked(history) == []


def test_nothing_is_seen_at_a_glance_where_all_went_well(tmp_path: Path) -> None:
    """A partition that is passed on, taken up where it was committed."""
    assert not glances(tmp_path, "reset_jump", begun(22, 22, commit=22))


@pytest.mark.proves("reset_jump", "fires")
def test_a_start_that_moved_later_excuses_no_replay(asked: Asked) -> None:
    """B7: it found 22 and was given 12, so that the log did not begin beyond 22; it does in the end."""
    history = begun(22, 12)
    history.rows["audit"] = [row for row in history.rows["audit"] if row["offset"] >= 25]
    history.each("audit_ranges", lambda row: row | {"log_start": 25})
    assert [(row["kind"], row["severity"]) for row in asked(history)] == [("earlier", "violation")]

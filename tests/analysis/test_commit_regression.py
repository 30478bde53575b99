"""B6: committed offsets that go back, each kind on the smallest history that has it, and near misses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from analysis.asking import Asked, another, asking, glances, passed_on, reads_of
from analysis.history import History
from analysis.ways import finding, told
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from analysis.conftest import Judge

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture
def asked(spark: SparkSession, tmp_path: Path) -> Asked:
    """Asks this check alone."""
    return asking(spark, tmp_path, "commit_regression")


def lost(*commits: dict[str, Any], found: int | None = 20, records: int = 50) -> History:
    """The reader commits, and its second process finds ``found`` at 6.21 s."""
    history = History(records=records)
    for commit in commits:
        history.commit(**commit)
    passed_on(history, 6.0, found)
    reads_of(history, 22, incarnation=1)
    return history


def kinds(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What matters of the rows."""
    return [(row["kind"], row["severity"], row["offset"], row["committed"]) for row in rows]


@pytest.mark.proves("commit_regression", "fires")
def test_an_acknowledged_commit_that_is_gone_is_a_violation(judge: Judge) -> None:
    """B6a: 50 was acknowledged, the next member finds the older 40; it reads nothing, so only this rule fires."""
    history = History(records=50)
    another(history)
    history.commit(40, 19.6)
    history.commit(50, 19.8)
    passed_on(history, 20.0, 40, probe="second", incarnation=0)
    verdict = judge(history)
    assert told(verdict) == {"commit_regression": 1}
    row = finding(verdict, "commit_regression").evidence[0]
    assert (row["kind"], row["offset"], row["committed"]) == ("lost_commit", 40, 50)


@pytest.mark.parametrize("kind", ["sync", "auto"])
@pytest.mark.parametrize("found", [None, 7])
def test_what_nobody_committed_and_nothing_at_all_are_older_as_well(asked: Asked, found: int | None, kind: str) -> None:
    """B6a: the offset found was never committed in this run, or there is none, in spite of an acknowledged commit."""
    rows = asked(lost({"offset": 22, "at": 5.6, "kind": kind}, found=found))
    assert kinds(rows) == [("lost_commit", "violation", found, 22)]


def test_the_last_but_one_automatic_commit_is_older(asked: Asked) -> None:
    """B6a: automatic commits of one process follow each other, although nobody knows when they were sent."""
    rows = asked(lost({"offset": 20, "at": 1.0, "kind": "auto"}, {"offset": 22, "at": 5.6, "kind": "auto"}))
    assert kinds(rows) == [("lost_commit", "violation", 20, 22)]


@pytest.mark.proves("commit_regression", "near miss")
@pytest.mark.parametrize(
    "commits",
    [
        [{"offset": 20, "at": 5.0}, {"offset": 22, "at": 5.6, "outcome": "info", "completed": None}],
        [{"offset": 20, "at": 5.0}, {"offset": 22, "at": 5.6, "outcome": "fail"}],
        [{"offset": 20, "at": 5.0}, {"offset": 22, "at": 5.6, "completed": 6.5}],
        [{"offset": 22, "at": 5.6}, {"offset": 20, "at": 5.7, "outcome": "info", "completed": None}],
        [{"offset": 20, "at": 5.0, "completed": 5.61, "kind": "async"}, {"offset": 22, "at": 5.6, "kind": "async"}],
        [],
    ],
    ids=["unknown", "failed", "late", "explained by an unknown one", "at the same time", "nothing committed"],
)
def test_what_may_be_the_newest_is_not_older(asked: Asked, commits: list[dict[str, Any]]) -> None:
    """Near misses of B6a: the higher commit may not have happened in time, or the lower one may be the newest."""
    assert asked(lost(*commits)) == []


def test_after_going_back_the_new_commits_are_the_newest(asked: Asked) -> None:
    """Near miss of B6a: the member that found too little commits from there on; who finds that finds the newest."""
    history = lost({"offset": 22, "at": 5.6})
    history.commit(21, 7.0, incarnation=1)
    history.add("assignments", at=8.0, kind="revoke", incarnation=1)
    passed_on(history, 8.0, 21, how=None, incarnation=2)
    assert kinds(asked(history)) == [("lost_commit", "violation", 20, 22)]  # of the first one only


@pytest.mark.proves("commit_regression", "no evidence")
def test_where_members_seek_and_one_was_killed_it_is_open(asked: Asked) -> None:
    """B6a without the evidence: the killed process may have sought back, and committed what it did not write down."""
    history = lost({"offset": 22, "at": 5.6})
    history.add("seeks", offset=20, at=5.9)
    assert [row["severity"] for row in asked(history)] == ["violation"]
    history.drop("ends", probe="reader", incarnation=0)
    assert [row["severity"] for row in asked(history)] == ["unproven"]


@pytest.mark.parametrize(("start", "severity"), [("beginning", "unproven"), ("committed", "violation")])
def test_who_begins_elsewhere_may_have_sought_without_a_row(asked: Asked, start: str, severity: str) -> None:
    """B6a: the killed process began at the log's start, which nobody told it, and may have committed 20 on its way."""
    history = lost({"offset": 22, "at": 5.6})
    history.probes["reader"]["consume"]["start"] = start
    history.drop("ends", probe="reader", incarnation=0)
    assert [row["severity"] for row in asked(history)] == [severity]


def test_a_member_that_commits_less_than_before_is_a_violation(asked: Asked) -> None:
    """B6b: 22 and then 20 in one assignment; after a seek, or in the next assignment, that is right."""
    history = History(records=50)
    history.commit(22, 5.4)
    history.commit(20, 5.5)
    assert kinds(asked(history)) == [("self", "violation", 20, 22)]
    history.add("seeks", offset=20, at=5.45)
    assert asked(history) == []
    history.rows["seeks"].clear()
    history.each("commits", lambda row: row | ({"assignment": 1} if row["offset"] == 20 else {}))
    history.add("assignments", at=5.42, kind="revoke")
    history.add("assignments", at=5.45, assignment=1)
    assert asked(history) == []


@pytest.mark.parametrize(("at", "kind", "rows"), [(7.0, "sync", 1), (6.1, "sync", 0), (7.0, "auto", 0)])
def test_a_commit_of_one_that_has_lost_the_partition_is_a_violation(
    asked: Asked, at: float, kind: str, rows: int
) -> None:
    """B6c: acknowledged although asked for after the next member had the partition; not so before, or automatically."""
    history = lost({"offset": 20, "at": 5.0}, {"offset": 22, "at": at, "completed": at + 0.2, "kind": kind})
    assert kinds(asked(history)) == [("zombie", "violation", 22, 22)] * rows


def test_a_commit_of_an_earlier_assignment_is_a_zombie_though_the_member_owns_it_again(asked: Asked) -> None:
    """B6: the partition was another member's meanwhile, and the commit is of before that."""
    history = History(records=50)
    another(history)
    history.add("assignments", at=7, kind="revoke")
    history.add("assignments", at=7.1, probe="second")
    history.add("assignments", at=8, kind="revoke", probe="second")
    history.add("assignments", at=8.1, assignment=1)
    history.commit(20, 9, assignment=1)
    assert asked(history) == []
    history.commit(22, 9.5, assignment=0)
    assert kinds(asked(history)) == [("zombie", "violation", 22, 22)]


def test_who_assigns_itself_a_partition_may_commit_what_it_likes(asked: Asked) -> None:
    """Near miss of B6b and B6c: nobody gave these members their partitions."""
    history = lost({"offset": 20, "at": 5.0}, {"offset": 22, "at": 7.0}, {"offset": 21, "at": 7.1})
    history.probes["reader"]["consume"]["assign"] = [0]
    assert asked(history) == []


def test_groups_and_partitions_are_judged_each_by_itself(asked: Asked) -> None:
    """Near miss: the higher commit is of another group, or of another partition."""
    history = lost({"offset": 22, "at": 5.6, "group": "others"}, {"offset": 23, "at": 5.4, "partition": 1})
    assert asked(history) == []


def test_nothing_is_seen_at_a_glance_where_all_went_well(tmp_path: Path) -> None:
    """Two members, several commits, and a partition that goes from one to the other."""
    history = History(records=50)
    another(history)
    for offset in (5, 10, 20):
        history.commit(offset, -4 + offset / 2)
    passed_on(history, 6.5, 20, probe="second", incarnation=0)
    history.commit(30, 10, probe="second")
    assert not glances(tmp_path, "commit_regression", history)


def told_after(found: int | None, *commits: dict[str, Any]) -> History:
    """The reader commits, and the cluster says after the run that ``found`` is committed."""
    history = History(records=50)
    for commit in commits:
        history.commit(**commit)
    history.add("groups", offset=found)
    return history


@pytest.mark.parametrize("found", [None, 20])
def test_a_commit_that_is_gone_when_the_run_is_over_is_lost(asked: Asked, found: int | None) -> None:
    """B6a: nobody was given the partition after that; asked after the run the cluster tells less than was promised."""
    rows = asked(told_after(found, {"offset": 20, "at": 5.0}, {"offset": 50, "at": 19.8}))
    assert [(row["kind"], row["severity"], row["probe"], row["offset"], row["committed"]) for row in rows] == [
        ("lost_commit", "violation", None, found, 50)
    ]


def test_an_application_that_restores_an_older_offset_of_its_own_topic(asked: Asked) -> None:
    """B6a: the cluster did not lose it, so it is another kind: two commits were acknowledged, the first is restored."""
    history = History(records=50)
    history.commit(20, 5.0, kind="topic")
    history.commit(40, 15.0, kind="topic")
    history.add("assignments", at=16.0, assignment=1, rebalance=1)
    history.add("fetched", offset=20, invoked=16.1, completed=16.2)
    assert kinds(asked(history)) == [("unrestored", "violation", 20, 40)]


@pytest.mark.parametrize(
    ("found", "commits"),
    [
        (50, [{"offset": 20, "at": 5.0}, {"offset": 50, "at": 19.8}]),
        (50, [{"offset": 20, "at": 5.0}, {"offset": 50, "at": 19.8, "outcome": "info", "completed": None}]),
        (20, [{"offset": 20, "at": 5.0}, {"offset": 50, "at": 19.8, "outcome": "fail"}]),
        (None, [{"offset": 50, "at": 19.8, "kind": "topic"}]),
        (None, []),
    ],
    ids=["the newest", "of unknown fate", "failed", "kept in a topic of its own", "nothing committed"],
)
def test_what_the_cluster_tells_in_the_end_may_be_the_newest(
    asked: Asked, found: int | None, commits: list[dict[str, Any]]
) -> None:
    """B6a, near misses: the offset told is that of the newest commit, or the group keeps its offsets elsewhere."""
    assert asked(told_after(found, *commits)) == []


def test_what_the_cluster_tells_of_a_group_is_held_against_its_own_commits(asked: Asked) -> None:
    """B6a: of two groups that read the same partition the slower one lost nothing, and what the other lost is told."""
    history = told_after(50, {"offset": 20, "at": 5.0}, {"offset": 50, "at": 19.8})
    another(history, "slow", group="slow ones")
    history.commit(20, 6.0, probe="slow", group="slow ones")
    history.add("groups", group="slow ones", offset=20)
    assert asked(history) == []
    history.change("groups", {"group": "readers"}, offset=20)
    assert [(row["group"], row["offset"], row["committed"]) for row in asked(history)] == [("readers", 20, 50)]

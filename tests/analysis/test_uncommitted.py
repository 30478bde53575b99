"""D11: what a group had been given and had not committed when a window ended."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from analysis.conftest import Judge
from analysis.history import History
from analysis.transactional import piped
from pyspark.sql import SparkSession

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks.uncommitted import Uncommitted, at_a_glance, by_spark
from chaosk.analysis.events import Events

pytestmark = [pytest.mark.spark, pytest.mark.long]


def uncommitted(spark: SparkSession, folder: Path, history: History, group: str = "readers") -> dict[str, float | None]:
    """The group's figure by window, which a glance and Spark have to agree about."""
    events = Events(spark, read_case(history.write(folder / "run")))
    assert +at_a_glance(events.rows) == +by_spark(events)
    return {one.window: one.value for one in Uncommitted().measures(events, CheckRows()) if one.subject == group}


@pytest.mark.proves("uncommitted", "fires")
def test_what_lies_beyond_the_last_commit_counts(spark: SparkSession, tmp_path: Path) -> None:
    """Ten records a second; by 6 s 110 were given and 95 committed, by 20 s all 250 of both."""
    history = History(records=250)
    history.commit(40, -1)
    history.commit(95, 4.6)
    history.commit(250, 19.95)
    found = uncommitted(spark, tmp_path, history)
    assert found == {"run": 0, "baseline": 10, "kill": 15, "after_heal": 0}


def test_without_a_commit_all_counts(spark: SparkSession, tmp_path: Path) -> None:
    """C8: a consumer that never commits begins anew wherever it is told to."""
    found = uncommitted(spark, tmp_path, History(records=250))
    assert found == {"run": 250, "baseline": 50, "kill": 110, "after_heal": 250}


@pytest.mark.proves("uncommitted", "near miss")
@pytest.mark.parametrize(
    "values",
    [
        {"outcome": "fail"},
        {"outcome": "info"},
        {"outcome": "info", "completed": None},
        {"completed": 6.5},
        {"group": "others"},
        {"partition": 1},
    ],
)
def test_what_was_not_known_to_be_committed_by_then_is_not(
    spark: SparkSession, tmp_path: Path, values: dict[str, Any]
) -> None:
    """Near miss: a commit that failed, that nobody answered by the end of the window, or of something else."""
    history = History(records=250)
    history.commit(95, 4.6)
    history.commit(105, 5.7, **values)
    assert uncommitted(spark, tmp_path, history)["kill"] == 15


def test_what_a_member_found_was_committed(spark: SparkSession, tmp_path: Path) -> None:
    """A process that is killed may not have said that it committed; its successor finds 105."""
    history = History(records=250)
    history.commit(95, 4.6)
    history.add("fetched", offset=105, invoked=5.7, completed=5.8, incarnation=1)
    history.add("fetched", offset=None, invoked=5.8, completed=5.9, partition=1)
    assert uncommitted(spark, tmp_path, history)["kill"] == 5


def test_a_commit_that_goes_back_is_what_is_committed(spark: SparkSession, tmp_path: Path) -> None:
    """The last one known counts, not the highest; of two at the same moment the higher one."""
    history = History(records=250)
    for offset, at in ((105, 4.0), (95, 5.0), (100, 5.0)):
        history.commit(offset, at)
    assert uncommitted(spark, tmp_path, history)["kill"] == 10


def test_holes_are_no_records_and_repetitions_no_more(spark: SparkSession, tmp_path: Path) -> None:
    """Of the offsets 95 to 109 three are control records, and one record was given three times: twelve."""
    history = History(records=250)
    history.commit(95, 4.6)
    for offset in (97, 98, 99):
        history.drop("reads", offset=offset)
    for _ in range(2):
        history.read(100, 5.8)
    assert uncommitted(spark, tmp_path, history)["kill"] == 12


def test_a_committed_transaction_commits(spark: SparkSession, tmp_path: Path) -> None:
    """Offsets 10 and 20 in transactions that ended at 0.01 s and 5.01 s; of one that aborted nothing counts."""
    history = piped()
    for number in range(5):
        history.add("txn_offsets", probe="pipe", incarnation=0, txn=f"p-{number}", group="pipes", topic="orders",
                    partition=0, offset=10 * (number + 1), at=number)  # fmt: skip
    found = uncommitted(spark, tmp_path / "committed", history, "pipes")
    assert (found["baseline"], found["kill"]) == (10, 2)
    history.change("transactions", {"txn": "p-1"}, outcome="aborted")
    assert uncommitted(spark, tmp_path / "aborted", history, "pipes")["kill"] == 12


@pytest.mark.parametrize("seed", range(3))
def test_a_glance_and_spark_count_the_same(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """Deliveries and commits of two groups and three partitions at random, repeated, back and forth."""
    draw, history = Random(seed), History()  # noqa: S311 - a drawn story, no secret
    history.worker("second", kind="consume", group="others", isolation="read_committed", commit="sync")
    for number in range(300):
        who = draw.choice([{}, {"probe": "second", "group": "others"}])
        place, at = draw.randrange(3), draw.uniform(-5, 20)
        history.read(draw.randrange(60), at, partition=place, n=number, poll=number, **who)
        if draw.random() < 0.1:
            history.commit(draw.randrange(60), at, partition=place, outcome=draw.choice(["ok", "fail"]), **who)
    found = uncommitted(spark, tmp_path, history)
    assert all(value for value in found.values()), found


def test_a_run_in_which_nothing_was_read(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing to commit, so nothing is uncommitted."""
    assert set(uncommitted(spark, tmp_path, History()).values()) == {0}


def test_it_can_be_bounded(judge: Judge) -> None:
    """C9: at least one record was to be open when the consumer died."""
    history = History(records=250)
    history.commit(95, 4.6)
    history.expect = {"uncommitted_records": {"readers": {"min": 1, "max": 20, "during": "kill"}}}
    (objective,) = judge(history).objectives
    assert (objective.measured, objective.met, objective.prediction) == (15, True, False)

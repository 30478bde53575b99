"""D10: whether the replicas of all partitions hold the same, and what it takes to say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.history import History
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.checks.replica_difference import ReplicaDifference
from chaosk.rundir.verdict import Outcome, Verdict

pytestmark = [pytest.mark.spark, pytest.mark.long]
HELD = "broker 0: 10 to 19, leader epoch 3, crc 00000016; broker 1: nothing"


def compared(*pieces: tuple[int, int, bool | None], partitions: int = 1) -> History:
    """Fifty records in partition 0, whose replicas said the same or not of some offsets; an objective of none."""
    history = History(records=50)
    history.expect = {"differing_replicas": 0}
    history.topic["partitions"] = partitions
    for partition in range(1, partitions):
        for isolation in ("read_uncommitted", "read_committed"):
            history.add("audit_ranges", partition=partition, isolation=isolation, log_start=0, end=0, complete=True)
    for first, last, same in pieces:
        told: dict[str, Any] = {"held": HELD} if same is False else {"why": "silent"} if same is None else {}
        history.add("copies", first=first, last=last, same=same, **told)
    return history


def judged(spark: SparkSession, folder: Path, history: History) -> Verdict:
    """Judged by this check alone."""
    return analyze(spark, history.write(folder / "run"), {"replica_difference": ReplicaDifference})


def figure(verdict: Verdict) -> tuple[float | None, bool]:
    """Of the topic, and whether it is at least so much."""
    (one,) = [m for m in verdict.measures if m.metric == "differing_replicas"]
    assert (one.subject, one.window) == ("orders", "run")
    return one.value, one.censored


@pytest.mark.proves("replica_difference", "fires")
def test_a_replica_that_lacks_a_batch_differs(spark: SparkSession, tmp_path: Path) -> None:
    """Before and behind it they agree: one partition, one stretch, told with what each broker holds."""
    verdict = judged(spark, tmp_path, compared((0, 9, True), (10, 19, False), (20, 49, True)))
    assert (figure(verdict), verdict.verdict) == ((1, False), Outcome.DEGRADED)
    (row,) = verdict.findings[0].evidence
    assert (row["partition"], row["first"], row["last"], row["held"]) == (0, 10, 19, HELD)


@pytest.mark.proves("replica_difference", "near miss")
@pytest.mark.parametrize("pieces", [[(0, 49, True)], [(20, 60, True), (0, 19, True)]])
def test_replicas_that_agree_all_the_way_are_equal(
    spark: SparkSession, tmp_path: Path, pieces: list[tuple[int, int, bool]]
) -> None:
    """In one stretch or in several, beyond the end too; a partition that holds nothing need not be asked about."""
    verdict = judged(spark, tmp_path, compared(*pieces, partitions=2))
    assert (figure(verdict), verdict.verdict) == ((0, False), Outcome.PASS)
    assert verdict.findings == ()


@pytest.mark.proves("replica_difference", "no evidence")
@pytest.mark.parametrize(
    "pieces", [[], [(0, 48, True)], [(1, 49, True)], [(0, 9, True), (11, 49, True)], [(0, 49, None)]]
)
def test_what_not_all_replicas_told_is_not_known(
    spark: SparkSession, tmp_path: Path, pieces: list[tuple[int, int, bool | None]]
) -> None:
    """Nothing asked, one offset short at either end or in between, a host that is silent: never none."""
    verdict = judged(spark, tmp_path, compared(*pieces))
    assert (figure(verdict), verdict.verdict) == ((None, False), Outcome.INCONCLUSIVE)


def test_one_partition_that_differs_counts_whatever_becomes_of_the_others(spark: SparkSession, tmp_path: Path) -> None:
    """Partition 1 was not read whole: at least one differs, and that misses the objective."""
    history = compared((0, 49, False), partitions=2)
    history.change("audit_ranges", {"partition": 1}, complete=False)
    verdict = judged(spark, tmp_path, history)
    assert figure(verdict) == (1, True)
    assert [objective.met for objective in verdict.objectives] == [False]


def test_it_is_measured_where_a_scenario_asks(spark: SparkSession, tmp_path: Path) -> None:
    """Elsewhere replicas are compared where records are missing, which says nothing of the rest."""
    history = compared((10, 19, True))
    history.expect = {}
    assert judged(spark, tmp_path, history).measures == ()

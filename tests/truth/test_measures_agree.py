"""Figures of a run come from numpy if it is of ordinary size, and else from Spark: both give the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession
from truth.generate import flawless
from truth.havoc import havoc
from truth.plants import planted
from truth.together import together

from chaosk.analysis import acknowledged, lags, ledger, uncommitted
from chaosk.analysis.activity import activity
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks import recovery
from chaosk.analysis.checks import uncommitted as uncommitted_at_ends
from chaosk.analysis.events import Events
from chaosk.analysis.spark import tune

pytestmark = [pytest.mark.spark, pytest.mark.timeout(7_200), pytest.mark.long]

STORIES = 100 if "CHAOSK_ALL" in os.environ else 30
Measured = Callable[[Events], Any]


def rows_of(name: str) -> Measured:
    """Rows of a check: plain ones of small runs, those of its query of large ones."""

    def found(run: Events) -> list[tuple[Any, ...]]:
        check = checks()[name]()
        few = check.plain(run) if run.glances else None
        if few is None:
            frame = check.violations(run)
            assert frame is not None
            few = [row.asDict(recursive=True) for row in frame.collect()]
        return sorted((tuple(sorted(row.items(), key=lambda item: item[0])) for row in few), key=repr)

    return found


def owed(run: Events) -> list[Any]:
    """Acknowledged records by partition."""
    lines = ledger._lines(run, of_the_log=False, of_readers=False)
    return sorted((line.topic, line.partition, line.count) for line in lines)


def either(small: Callable[[Any], Any], large: Measured) -> Measured:
    """Counts of a module by the size of the run; those that are not zero, of what is measured by them."""

    def found(run: Events) -> Any:
        named = {*run.case.probes("produce"), *run.case.probes("consume"), *run.case.groups}
        counts = small(run.rows) if run.glances else large(run)
        return {key: count for key, count in counts.items() if count and named & {*key}}

    return found


MEASURES: dict[str, Measured] = {
    **{name: rows_of(name) for name in ("produce_unavailability", "consume_unavailability", "election")},
    "activity": activity,
    "recovery": lambda run: recovery._cells(run) if run.case.baseline else None,
    "owed": owed,
    "acknowledged": acknowledged.acknowledged,
    "uncommitted": uncommitted.uncommitted,
    "uncommitted at the ends of windows": either(uncommitted_at_ends.at_a_glance, uncommitted_at_ends.by_spark),
    "lags": lags.lags_of,
}


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Events, Events]]:
    """One run of many stories, flawless, with plants and after havoc: as a small run, and as a large one."""
    stories = [make(seed) for seed in range(STORIES // 3) for make in (flawless, planted, lambda n: havoc(flawless(n)))]
    case = read_case(together(stories, tmp_path_factory.mktemp("measures") / "run"))
    tune(spark, small=True)
    small, large = Events(spark, case), Events(spark, case)
    assert small.glances
    large.glances = False
    yield small, large
    small.release()
    large.release()


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_numpy_and_spark_measure_the_same(runs: tuple[Events, Events], name: str) -> None:
    """Outages, elections, promptness, counts and latencies, of a run with all that may go wrong."""
    small, large = runs
    assert MEASURES[name](small) == MEASURES[name](large)

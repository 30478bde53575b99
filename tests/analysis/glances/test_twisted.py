"""Twisted histories: what a check clears without Spark has no rows by Spark, and rows without Spark are the same rows.

``./dev bench glances`` asks the same of as many histories as one has time for.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History
from analysis.remade import remade
from pyspark.sql import SparkSession
from twisted.bases import bases
from twisted.making import recipe
from twisted.opinions import Disagreement, confirmed
from twisted.side_by_side import alike
from twisted.twist import TWISTS

from chaosk.analysis.checks.lost import Lost
from chaosk.analysis.checks.throughput import Throughput
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.spark import tune

SEEDS = 40
"""Of which most can stand side by side."""
AT_ONCE = 12


def test_a_seed_stands_for_one_history() -> None:
    """The same each time; and the seeds are not of a few twists or bases only."""
    recipes = [recipe(seed) for seed in range(500)]
    assert {name for each in recipes for _, name in each.steps} == TWISTS.keys()
    assert len({each.base for each in recipes}) > len(bases()) * 0.9
    assert recipe(7).make().rows == recipe(7).make().rows


@pytest.mark.spark
def test_numpy_and_spark_agree_about_twisted_histories(spark: SparkSession, tmp_path: Path) -> None:
    """A dozen side by side: no glance, no screen, and no rows by numpy that Spark contradicts."""
    recipes = [recipe(seed) for seed in range(SEEDS)]
    made = [(each, each.make()) for each in recipes]
    usual = alike(bases()["plain"]())
    chosen = [pair for pair in made if alike(pair[1]) == usual][:AT_ONCE]
    assert len(chosen) == AT_ONCE
    tune(spark, small=True)
    found = confirmed(spark, [history for _, history in chosen], tmp_path)
    assert [f"{chosen[each.number][0]}: {each.check}: {each.what}" for each in found] == []


@pytest.mark.spark
def test_a_glance_that_promises_too_much_is_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two histories side by side one has lost a record, and the glance says of both that nothing is."""
    histories = [History(records=10), History(records=10)]
    histories[1].drop("audit", offset=3)
    asked = {"lost": Lost}
    assert list(confirmed(spark, histories, tmp_path / "right", asked)) == []
    monkeypatch.setattr(Lost, "glance", lambda check, rows: False)
    (told,) = confirmed(spark, histories, tmp_path / "wrong", asked)
    assert (told.number, told.check, told.what) == (1, "lost", "cleared by its glance; rows by Spark: 1")
    assert [(row["topic"], row["producer"], row["offset"]) for row in told.spark] == [("orders", "writer", 3)]


@pytest.mark.spark
def test_a_glance_that_stumbles_is_told(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even that of a check without a query."""

    def stumble(check: Throughput, rows: EventRows) -> bool:
        raise ZeroDivisionError("no rows")

    monkeypatch.setattr(Throughput, "glance", stumble)
    told = list(confirmed(spark, [History(records=10)], tmp_path, {"throughput": Throughput}))
    assert told == [Disagreement(0, "throughput", "crashed: ZeroDivisionError: no rows", [], [])]


def test_only_histories_with_one_timeline_stand_side_by_side() -> None:
    """A fault at another time, or a topic that is made again, needs a run of its own."""
    later = History(records=10)
    later.rows["faults"][0]["healed"] += 1
    assert alike(History(records=10)) == alike(History(records=50)) != alike(later)
    assert alike(remade()) != alike(remade())

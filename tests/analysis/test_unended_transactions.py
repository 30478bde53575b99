"""Transactions of which no row says how they ended: nobody knows whether what was written in them is owed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis.transactional import transactional
from pyspark.sql import SparkSession

from chaosk.analysis import events
from chaosk.analysis.analyze import analyze

pytestmark = pytest.mark.spark


@pytest.fixture(params=["numpy", "spark"])
def asked(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the guards say of a history, transactions counted in numpy or, as those of a long run, by Spark."""
    if request.param == "spark":
        monkeypatch.setattr(events, "GLANCED", 0)
    return lambda history: [
        guard.what
        for guard in analyze(spark, history.write(tmp_path / "run"), {}).guards
        if guard.guard == "transaction_untold"
    ]


def test_a_transaction_that_has_no_row_is_told(asked: Any) -> None:
    """Its records could be read by nobody and owed to nobody, or be lost: the producer went to its end, and says."""
    history = transactional()
    history.drop("transactions", txn="t-2")
    (what,) = asked(history)
    assert what.startswith("writer/0 ended cleanly and does not say how one of its transactions ended")


def test_who_says_that_it_does_not_know_has_said_it(asked: Any) -> None:
    """Near miss: the outcome is `info`, as after a commit that was never answered."""
    history = transactional()
    history.change("transactions", {"txn": "t-2"}, outcome="info", ended=None)
    assert asked(history) == []


def test_who_was_killed_may_leave_one_open(asked: Any) -> None:
    """Near miss: the process left no end marker, so its last transaction has no row, rightly."""
    history = transactional()
    history.drop("transactions", txn="t-4")
    history.drop("ends", probe="writer")
    assert asked(history) == []

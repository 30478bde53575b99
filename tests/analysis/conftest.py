"""One Spark session for all tests of the analysis: starting one takes longer than most of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from analysis.history import History
from lasting_spark import lasting_session
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.findings import checks
from chaosk.verdict import Verdict

Judge = Callable[..., Verdict]

MEASURING = {"recovery", "election", "rebalances", "produce_unavailability", "consume_unavailability"}
"""Checks that find nothing wrong and cost a job each: only the tests about them ask them."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one session, on this machine."""
    started = lasting_session()
    yield started
    started.stop()


@pytest.fixture
def judge(spark: SparkSession, tmp_path: Path) -> Judge:
    """Writes a history into a run directory and judges it by every rule, and by the ``measuring`` checks named."""

    def judged(history: History, *measuring: str) -> Verdict:
        chosen = {name: kind for name, kind in checks().items() if name not in MEASURING - set(measuring)}
        return analyze(spark, history.write(tmp_path / "run"), chosen)

    return judged

"""One Spark session for all tests of the analysis: starting one takes longer than most of them together."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from analysis.history import History
from lasting_spark import lasting_session
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.check_runner import checks
from chaosk.rundir.verdict import Verdict

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
def judge(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Judge:
    """Writes a history into a run directory and judges it, by the ``measuring`` checks named as well.

    By the checks that the test's file names; by every one with ``--all``, or if the file sets ``EVERY_CHECK`` or names
    none. A lost record alone makes seven of them look, each for a second and more.
    """
    every = request.config.getoption("--all") or getattr(request.module, "EVERY_CHECK", not named(request.module))
    asked = (checks().keys() if every else named(request.module) | {"outcomes"}) - MEASURING

    def judged(history: History, *measuring: str) -> Verdict:
        chosen = {name: kind for name, kind in checks().items() if name in asked | {*measuring}}
        return analyze(spark, history.write(tmp_path / "run"), chosen)

    return judged


def named(module: ModuleType) -> set[str]:
    """The checks whose names, or those of their guards, stand at the begin of a quoted text in a file of tests."""
    words = re.findall(r'"(\w+)[" ]', inspect.getsource(module))
    return {word.removesuffix("_unproven") for word in words} & checks().keys()

"""D7: how many generations of a group began in a window, and when nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.checks.generations import Generations
from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark


def sampled(*, changes: tuple[float, ...] = (), silent: tuple[float, float] = (99, 99)) -> History:
    """The reader samples its generation once a second from -5.9 s on, which grows by one at each change."""
    history = History(records=50)
    times = sorted([number - 5.9 for number in range(27)] + list(changes))
    for at in times:
        if not silent[0] < at < silent[1]:
            history.add("generations", probe="reader", incarnation=0, group="readers", at=at,
                        generation=7 + sum(change <= at for change in changes))  # fmt: skip
    return history


def figures(spark: SparkSession, folder: Path, history: History) -> dict[str, float | None]:
    """By window the new generations of the group."""
    verdict = analyze(spark, history.write(folder / "run"), {"generations": Generations})
    return {m.window: m.value for m in verdict.measures if (m.metric, m.subject) == ("new_generations", "readers")}


@pytest.mark.proves("generations", "fires")
def test_each_new_one_counts_in_the_window_in_which_it_began(spark: SparkSession, tmp_path: Path) -> None:
    """At 2 s and at 3 s, while the fault lasted, and at 8 s after it; who lags behind takes nothing away."""
    history = sampled(changes=(2.0, 3.0, 8.0))
    history.add("generations", probe="other", incarnation=0, group="readers", at=5.99, generation=7)
    found = figures(spark, tmp_path, history)
    assert found == {"run": 3, "baseline": 0, "kill": 2, "after_heal": 1}


@pytest.mark.proves("generations", "near miss")
def test_the_same_generation_all_the_way(spark: SparkSession, tmp_path: Path) -> None:
    """The fault's window is from 1.1 s to 6 s: what began at 1.05 s and at 6.0 s did not begin in it."""
    assert figures(spark, tmp_path / "same", sampled()) == {"run": 0, "baseline": 0, "kill": 0, "after_heal": 0}
    around = figures(spark, tmp_path / "around", sampled(changes=(1.05, 6.0)))
    assert (around["kill"], around["after_heal"]) == (0, 1)


@pytest.mark.proves("generations", "no evidence")
@pytest.mark.parametrize(("silent", "unknown"), [
    ((-9, 5.0), {"run", "baseline", "kill"}), ((1.5, 7.0), {"run", "kill", "after_heal"}),
    ((18.0, 99), {"run", "after_heal"}), ((-9, 99), {"run", "baseline", "kill", "after_heal"}),
])  # fmt: skip
def test_where_nobody_sampled_it_nobody_knows(
    spark: SparkSession, tmp_path: Path, silent: tuple[float, float], unknown: set[str]
) -> None:
    """Before the first sample, in a hole of five seconds, after the last one, without any."""
    found = figures(spark, tmp_path, sampled(silent=silent))
    assert {window for window, value in found.items() if value is None} == unknown


def test_an_objective_of_none_is_not_kept_without_samples(spark: SparkSession, tmp_path: Path) -> None:
    """With them it is; without them the run is inconclusive."""
    verdicts = []
    for name, silent in (("told", (99.0, 99.0)), ("silent", (1.5, 7.0))):
        history = sampled(silent=silent)
        history.expect = {"new_generations": {"max": 0, "during": "kill"}}
        run = history.write(tmp_path / name)
        verdicts.append(analyze(spark, run, {"generations": Generations}).verdict)
    assert verdicts == [Outcome.PASS, Outcome.INCONCLUSIVE]

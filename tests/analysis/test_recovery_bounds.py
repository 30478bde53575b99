"""D5: how late a record may be for all to be well again."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysis.history import History, ns
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.checks.recovery import Recovery

pytestmark = [pytest.mark.spark, pytest.mark.long]


def slow(usual: float, later: float) -> History:
    """Acknowledgements took ``usual`` seconds, and ``later`` for what was due in the two seconds after the undo."""
    history = History(records=1000)
    for row in history.rows["sends"]:
        late = later if ns(6) <= row["scheduled"] < ns(8) else usual
        row["completed"] = row["scheduled"] + round(late * 1e9)
    return history


@pytest.mark.proves("recovery", "near miss")
@pytest.mark.parametrize(
    ("usual", "later", "seconds"), [(0.005, 0.08, 0), (0.005, 0.13, 2), (0.2, 0.54, 0), (0.2, 0.7, 2)]
)
def test_what_is_hardly_later_than_in_the_baseline_is_well(
    spark: SparkSession, tmp_path: Path, usual: float, later: float, seconds: float
) -> None:
    """Within 100 ms more than the baseline's 99th percentile, or within three times that, whichever is more."""
    verdict = analyze(spark, slow(usual, later).write(tmp_path / "run"), {"recovery": Recovery})
    (found,) = [m.value for m in verdict.measures if m.metric == "recovery"]
    assert found == pytest.approx(seconds, abs=0.3)


@pytest.mark.proves("recovery", "no evidence")
def test_without_a_baseline_nobody_knows_what_well_is(spark: SparkSession, tmp_path: Path) -> None:
    """D5 without the evidence: there is no figure, and so none that is censored."""
    history = slow(0.005, 0.005)
    history.drop("phases", phase="baseline")
    verdict = analyze(spark, history.write(tmp_path / "run"), {"recovery": Recovery})
    assert [(m.metric, m.value, m.censored) for m in verdict.measures] == [
        ("recovery", None, False),
        ("recovery_from_fault", None, False),
    ]

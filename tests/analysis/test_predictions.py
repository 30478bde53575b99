"""What a scenario predicts, from its plan to the verdict: findings are told apart by what is predicted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysis.history import History, Row
from analysis.ways import guards

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import checks
from chaosk.analysis.events import Events
from chaosk.analysis.evidence import SHOWN, keep
from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from analysis.conftest import Judge
    from pyspark.sql import SparkSession

EARLY, LATE = 14, 40
"""Records that were sent while the fault lasted (at 2 s) and long after it (at 15 s)."""


def losing(expect: Row, *lost: int) -> History:
    """Fifty records, some of them acknowledged and nowhere."""
    history = History(records=50)
    history.expect = expect
    for number in lost:
        history.drop("reads", offset=number)
        history.drop("audit", offset=number)
    return history


@pytest.mark.spark
def test_a_loss_is_told_as_predicted_in_the_window_that_is_named(judge: Judge) -> None:
    """The one in the fault's window is as predicted, the one after it is a violation, and both have their evidence."""
    expect: Row = {"verdict": "violation", "lost_records": {"min": 1, "during": "kill"}}
    verdict = judge(losing(expect, EARLY, LATE))
    lost = [each for each in verdict.findings if each.check == "lost"]
    assert [(each.predicted, each.count, each.evidence[0]["offset"]) for each in lost] == [
        (False, 1, LATE), (True, 1, EARLY),
    ]  # fmt: skip
    assert verdict.verdict is Outcome.VIOLATION


@pytest.mark.spark
@pytest.mark.parametrize(
    ("expect", "verdict"),
    [
        ({"verdict": "violation", "lost_records": {"orders": {"min": 1}}}, Outcome.PASS),
        ({"verdict": "violation", "rules": ["A4"]}, Outcome.PASS),
        ({"verdict": "violation", "rules": {"must": {"A4": ["orders"]}, "may": ["A3"]}}, Outcome.PASS),
        ({"verdict": "violation", "rules": ["B3"]}, Outcome.VIOLATION),
        ({"verdict": "violation"}, Outcome.VIOLATION),
    ],
)
def test_what_the_plan_names_is_excused(judge: Judge, expect: Row, verdict: Outcome) -> None:
    """By topic or by rule; a plan of a former run, that names nothing, excuses nothing."""
    assert judge(losing(expect, EARLY)).verdict is verdict


@pytest.mark.spark
def test_a_plan_that_asks_for_missing_evidence_does_not_pass(judge: Judge) -> None:
    """`verdict: inconclusive` is of former runs: what is missing is told, and nothing passes by it."""
    history = losing({"verdict": "inconclusive"})
    history.record["interrupted"] = True
    verdict = judge(history)
    assert verdict.verdict is Outcome.INCONCLUSIVE
    assert {"run_interrupted", "expected_outcome"} <= guards(verdict)


@pytest.mark.spark
def test_the_rows_that_are_shown_speak_for_all(spark: SparkSession, tmp_path: Path) -> None:
    """Of more rows than are shown, each finding shows its own, and evidence/lost.jsonl has all of them."""
    expect: Row = {"verdict": "violation", "lost_records": {"min": 1, "during": "kill"}}
    case = read_case(losing(expect).write(tmp_path / "run"))
    span = next(window for window in case.windows if window.name == "kill")
    times = [span.began] * (SHOWN + 5) + [span.ended + 1] * 3
    rows = [("violation", None, time, time, "orders", 0, number) for number, time in enumerate(times)]
    schema = "severity string, reason string, began long, ended long, topic string, partition int, offset long"
    check = type("Lost", (checks()["lost"],), {"order": ("offset",)})()
    told, _ = keep(Events(spark, case), check, "lost", spark.createDataFrame(rows, schema=schema))
    assert [(each.count, len(each.rows)) for each in told] == [(3, 3), (SHOWN + 5, SHOWN)]
    assert {row["began"] for row in told[1].rows} == {span.began}
    lines = (case.rundir.evidence / "lost.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["offset"] for line in lines] == list(range(len(times)))

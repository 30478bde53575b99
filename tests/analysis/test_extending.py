"""The check that docs/extending.md shows: loaded as it stands there, and asked of planted histories."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from analysis.history import History
from pyspark.sql import SparkSession

from chaosk.analysis.analyze import analyze
from chaosk.analysis.checks._contract import Check
from chaosk.core.plugins import name_of
from chaosk.rundir.verdict import Outcome

pytestmark = pytest.mark.spark

PAGE = (Path(__file__).parents[2] / "docs/extending.md").read_text("utf-8")
(FILE,) = re.findall(r"`acme_chaos/late_answer\.py`:\n\n```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def late_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Check]:
    """The check."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/late_answer.py").write_text(FILE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "plugins"))
    sys.modules.pop("late_answer", None)
    check: type[Check] = import_module("late_answer").LateAnswer
    return check


@pytest.mark.parametrize(("seconds", "late"), [(10.5, 1), (9.5, 0)])
def test_it_fires_on_what_is_late_alone(
    spark: SparkSession, tmp_path: Path, late_answer: type[Check], seconds: float, late: int
) -> None:
    """Ten and a half seconds break the rule and the verdict, nine and a half do not; the fault of the time is named."""
    history = History(records=50)
    history.send(50, 1.0, completed=1.0 + seconds)
    history.read(50, 1.0 + seconds + 0.01)
    history.audit(50)
    verdict = analyze(spark, history.write(tmp_path / "run"), {name_of(late_answer): late_answer})
    found = [(one.rule, one.count, one.faults) for one in verdict.findings if one.check == "late_answer"]
    assert found == [("X1", 1, ("kill",))] * late
    assert verdict.verdict is (Outcome.VIOLATION if late else Outcome.PASS)

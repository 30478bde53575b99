"""Figures as people write them, in every sentence that holds one."""

from __future__ import annotations

import pytest

from chaosk.analysis.judge import Ruling, rule
from chaosk.analysis.summary import summary
from chaosk.core.figures import bounds, comparison, figure
from chaosk.rundir.verdict import Measure, Outcome
from chaosk.spec.expect import Expect
from chaosk.spec.metrics import METRICS


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("rebalances", 8, "8 rebalances"), ("rebalances", 1, "1 rebalance"), ("leader_changes", 1, "1 leader change"),
        ("calls_failed", 1, "1 call failed"), ("client_errors", 12_000, "12,000 client errors"),
        ("unavailability", 23.9255, "23.9 s"), ("lost_records", 1, "1 record"), ("throughput", 1, "1 records/s"),
    ],
)  # fmt: skip
def test_a_figure_says_what_was_counted(metric: str, value: float, said: str) -> None:
    """The thing as a noun of the right number, and never the unit's word."""
    assert figure(value, METRICS[metric].unit, metric) == said


def test_no_count_is_called_count() -> None:
    """Whatever is counted, and in a bound as well."""
    for name, metric in METRICS.items():
        assert "count" not in figure(7, metric.unit, name).split()
        assert "count" not in bounds(1, 7, metric.unit, name).split()


def test_a_figure_beside_its_bound() -> None:
    """One or several."""
    assert comparison("unavailability", "writer", "40.0 s", "at most 20 s").startswith("unavailability of writer was ")
    assert comparison("rebalances", "", "3", "at least 8") == "rebalances were 3, asked for at least 8"


def _ruling(expect: dict[str, object], metric: str, value: float, *, censored: bool = False) -> Ruling:
    unit, subject = METRICS[metric].unit, "readers" if METRICS[metric].subject == "group" else "writer"
    measure = Measure(metric=metric, subject=subject, value=value, unit=unit, censored=censored)
    return rule(Expect.model_validate(expect), (), (), (measure,))


def test_the_summary_of_a_missed_objective() -> None:
    """As people write it: a tenth of a second, and no unit after a count."""
    late = _ruling({"unavailability": {"writer": "20s"}}, "unavailability", 23.9255)
    assert summary(late, (), ()) == "DEGRADED: unavailability of writer was 23.9 s, asked for at most 20 s."
    often = _ruling({"rebalances": {"readers": {"max": 2}}}, "rebalances", 8)
    assert summary(often, (), ()) == "DEGRADED: rebalances of readers were 8, asked for at most 2."


def test_a_guard_about_an_objective() -> None:
    """The same figures where an objective cannot be judged."""
    open_end = _ruling({"unavailability": {"writer": "30s"}}, "unavailability", 23.9255, censored=True)
    assert open_end.verdict is Outcome.INCONCLUSIVE
    assert "it is at least 23.9 s and had not ended" in open_end.guards[0].what

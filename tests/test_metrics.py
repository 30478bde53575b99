"""Metrics: the one table that scenarios and the analysis share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.rundir.verdict import Measure
from chaosk.spec.metrics import METRICS, WINDOWS, Metric

ROOT = Path(__file__).parents[1]
SOURCES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "chaosk/analysis").rglob("*.py"))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_analysis_measures_it(metric: Metric) -> None:
    """Whatever can be bounded is measured somewhere: no bound that nothing can meet."""
    assert re.search(rf'"{metric.name}"', SOURCES), f"nothing in chaosk/analysis measures {metric.name}"


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_its_unit_is_one_of_the_verdict_s(metric: Metric) -> None:
    """A measure with that unit says in the verdict what was measured."""
    assert Measure(metric=metric.name, subject="", value=1.0, unit=metric.unit).unit == metric.unit
    assert metric.unit in {"s", "records", "records/s", "count", "ratio"}


def test_overall_figures_fit_their_kind() -> None:
    """The worst stands for the run, longest or lowest as a bare value bounds it; counts add up."""
    for metric in METRICS.values():
        assert metric.overall == {"max": "max", "min": "min", "exact": "sum"}[metric.bare], metric.name
        if metric.unit != "ratio":
            assert metric.bare == {"s": "max", "records/s": "min"}.get(metric.unit, "exact"), metric.name


def test_names_are_words_of_the_language() -> None:
    """Lower-case words, none of which means something else in `expect` or as a window."""
    for name in METRICS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        assert name not in {"verdict", "min", "max", "during", *WINDOWS}


@given(st.sampled_from(sorted(METRICS)), st.integers(0, 10**9))
def test_spelled_figures_read_back(name: str, number: int) -> None:
    """A figure in a plan is the figure that was bounded: milliseconds, thousandths of a rate, whole counts."""
    metric = METRICS[name]
    figure = number / {"s": 1000, "records/s": 1000, "ratio": 10**9}.get(metric.unit, 1)
    assert metric.parse(metric.spell(figure)) == pytest.approx(figure, abs=1e-9)


@given(
    st.sampled_from(sorted(METRICS)),
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.lists(st.none()),
)
def test_what_is_no_figure_is_refused_in_words(name: str, value: object) -> None:
    """Any value is a figure or refused with what to write."""
    try:
        figure = METRICS[name].parse(value)
    except ValueError as error:
        said = str(error)
    else:
        assert figure >= 0
        return
    assert re.search(r"write (a|records|whole|shorter)", said), said


@pytest.mark.parametrize("value", [-1, "5", 5.0, True, None])
def test_counts_are_whole_numbers(value: object) -> None:
    """Neither text nor a fraction nor a truth value counts records."""
    with pytest.raises(ValueError, match="write a whole number from 0 up"):
        METRICS["lost_records"].parse(value)


def test_every_metric_is_in_the_guide() -> None:
    """The guide leads to the page that lists them, and its examples bound metrics that exist."""
    text = (ROOT / "docs/scenario.md").read_text(encoding="utf-8")
    assert "(reference/metrics.md)" in text
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    for name in METRICS:
        assert f"## {name}\n" in page


def test_every_metric_is_measured_by_the_checks_that_name_it() -> None:
    """What ``expect`` may bound has a check that measures it, and no check names a metric that there is not."""
    from chaosk.analysis.check_runner import checks

    named = [metric for check in checks().values() for metric in check.metrics]
    assert {*named} == {*METRICS}
    # what is unavailable is told of sends and of deliveries, each by a check of its own
    assert {metric for metric in named if named.count(metric) > 1} == {"unavailability", "unavailable_total"}

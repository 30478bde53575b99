"""Bounds and predictions: every spelling, in the unit of the metric, and every mistake with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chaosk.rundir.verdict import Outcome
from chaosk.spec.bounds import Bound, parse_bounds
from chaosk.spec.expect import Expect, parse_verdict
from chaosk.spec.metrics import METRICS, WINDOWS, Metric


def bounds(name: str, value: object) -> dict[str, tuple[Bound, ...]]:
    """The bounds on a metric."""
    return parse_bounds(METRICS[name], value)


def test_bare_value_means_what_one_would_mean() -> None:
    """A time at most, a rate or a share at least, a count exactly."""
    assert bounds("unavailability", "20s") == {"": (Bound(max=20.0),)}
    assert bounds("rate", "400/s") == {"": (Bound(min=400.0),)}
    assert bounds("availability", "99.5 %") == {"": (Bound(min=0.995),)}
    assert bounds("lost_records", 12) == {"": (Bound(min=12.0, max=12.0),)}


def test_spellings_of_one_bound() -> None:
    """For the whole run, for a subject, with a window, several at once."""
    full = {"min": "1s", "max": "20s", "during": "kill"}
    bound = Bound(min=1.0, max=20.0, during="kill")
    assert bounds("unavailability", full) == {"": (bound,)}
    assert bounds("unavailability", {"writer": full}) == {"writer": (bound,)}
    assert bounds("unavailability", [full, "30s"]) == {"": (bound, Bound(max=30.0))}
    assert bounds("unavailability", {"a": [full], "b": "5s"}) == {"a": (bound,), "b": (Bound(max=5.0),)}
    together = {"of": ["a", "b"], "min": "1s", "or": "inconclusive"}
    assert bounds("unavailability", together) == {"": (Bound(min=1.0, of=("a", "b"), or_="inconclusive"),)}
    assert bounds("unavailability", {"a": {"min": "1s", "or": "inconclusive"}}) == {
        "a": (Bound(min=1.0, or_="inconclusive"),)
    }


@pytest.mark.parametrize(
    ("name", "value", "loc", "says"),
    [
        ("unavailability", 20, (), "20 is not a duration"),
        ("lost_records", "12", (), "'12' is not a count"),
        ("lost_records", -1, (), "-1 is not a count"),
        ("lost_records", True, (), "True is not a count"),
        ("lost_records", 1.5, (), "1.5 is not a count"),
        ("rate", 5, (), "5 is not a rate"),
        ("availability", 0.99, (), "0.99 is not a share"),
        ("availability", {"during": "kill"}, (), "bounds nothing; add min: 99 %"),
        ("unavailability", {"writer": 5}, ("writer",), "5 is not a duration"),
        ("unavailability", {"min": "x", "max": "20s"}, ("min",), "'x' is not a duration"),
        ("unavailability", ["20s", {"max": 1}], (1, "max"), "1 is not a duration"),
        ("unavailability", {"min": "30s", "max": "20s"}, (), "min is more than max"),
        ("unavailability", {"during": "kill"}, (), "bounds nothing; add max"),
        ("rate", {"during": "kill"}, (), "bounds nothing; add min"),
        ("unavailability", {}, (), "bounds nothing"),
        ("unavailability", [], (), "an empty list bounds nothing"),
        ("unavailability", {"max": "1s", "durign": "kill"}, ("durign", "[key]"), "did you mean 'during'?"),
        ("unavailability", {"max": "1s", "during": 5}, ("during",), "must be a window"),
        ("unavailability", None, (), "None is not a duration"),
        ("rate", {"min": "1/s", "of": "writer"}, ("of",), "must be a list of probes; write of: [one, another]"),
        ("rate", {"min": "1/s", "of": []}, ("of",), "must be a list of probes"),
        ("rate", {"min": "1/s", "of": [1]}, ("of",), "must be a list of probes"),
        ("election", {"max": "1s", "of": ["a", "b", "a"]}, ("of",), "names a topic twice"),
        ("rate", {"writer": {"min": "1/s", "of": ["a"]}}, ("writer", "of"), "cannot be used below one probe"),
        ("rate", {"of": ["a"]}, (), "bounds nothing; add min"),
        ("rate", {"min": "1/s", "or": "degraded"}, ("or",), "write or: inconclusive"),
        ("rate", [{"min": "1/s"}, {"min": "2/s", "or": True}], (1, "or"), "write or: inconclusive"),
    ],
)
def test_mistakes_have_their_place(name: str, value: object, loc: tuple[Any, ...], says: str) -> None:
    """Each mistake is one located error, in words."""
    with pytest.raises(ValidationError) as caught:
        bounds(name, value)
    assert [error["loc"] for error in caught.value.errors()] == [loc]
    assert says in caught.value.errors()[0]["msg"]


def test_all_mistakes_of_one_metric_come_together() -> None:
    """A bound per subject, each wrong in its own way: one error each."""
    with pytest.raises(ValidationError) as caught:
        bounds("unavailability", {"a": 1, "b": ["2s", 3], "c": "4s", "d": {"max": 5, "x": 6}})
    assert [error["loc"] for error in caught.value.errors()] == [("a",), ("b", 1), ("d", "x", "[key]"), ("d", "max")]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_can_be_predicted(outcome: Outcome) -> None:
    """By its word; `fail` is another word for a violation."""
    assert parse_verdict(outcome.value) is outcome
    assert parse_verdict("fail") is Outcome.VIOLATION


@pytest.mark.parametrize("word", ["faill", "", 1, None, "PASS"])
def test_other_verdicts_are_refused(word: object) -> None:
    """With the nearest known one, or all of them."""
    with pytest.raises(ValueError, match=r"did you mean|write one of"):
        parse_verdict(word)


def _figures(metric: Metric) -> st.SearchStrategy[Any]:
    if metric.timed:
        return st.integers(0, 10_000).map(lambda number: f"{number}ms")
    if metric.unit == "records/s":
        return st.integers(0, 10_000).map(lambda number: f"{number}/s")
    if metric.unit == "ratio":
        return st.integers(0, 100).map(lambda number: f"{number} %")
    return st.integers(0, 10_000)


def _bounds(metric: Metric) -> st.SearchStrategy[Any]:
    windows = st.sampled_from([*WINDOWS, "kill"])
    more = {"during": windows, "or": st.just("inconclusive")}
    low = st.fixed_dictionaries({"min": _figures(metric)}, optional=more)
    high = st.fixed_dictionaries({"max": _figures(metric)}, optional=more)
    one = _figures(metric) | low | high
    several = one | st.lists(one, min_size=1, max_size=3)
    together = low.map(lambda bound: {**bound, "of": ["writer", "reader"]})
    return several | together | st.dictionaries(st.sampled_from(["writer", "reader"]), several, min_size=1)


_EXPECTS = st.fixed_dictionaries(
    {}, optional={"verdict": st.sampled_from(["fail", "pass"]), **{name: _bounds(METRICS[name]) for name in METRICS}}
)


@given(_EXPECTS)
def test_spelled_and_read_again_it_is_the_same(document: dict[str, Any]) -> None:
    """Whatever is expected survives a plan: what is written there reads back equal."""
    expect = Expect.model_validate(document)
    again = Expect.model_validate(json.loads(expect.model_dump_json(by_alias=True)))
    assert again == expect


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_every_metric_is_described(metric: Metric) -> None:
    """Name, unit and words fit together: times are in seconds, counts are exact, and figures spell back."""
    assert METRICS[metric.name] is metric
    assert metric.says
    assert metric.says[0].islower()
    assert (metric.bare == "exact") == (metric.unit in {"records", "count"})
    assert metric.timed == (metric.unit == "s")
    for figure in (0.0, 0.5, 1.0) if metric.unit == "ratio" else (0.0, 12.0, 3600.0):
        assert metric.parse(metric.spell(figure)) == figure


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_are_two_objectives_of_none() -> None:
    """None that is unexpected, none that is missing, of that probe, beside what is bounded by name."""
    named = {"must": ["NOT_LEADER_FOR_PARTITION"], "may": ["_TRANSPORT"]}
    expect = Expect.model_validate({"errors": {"writer": named}, "missing_errors": {"reader": 3}, "recovery": "9s"})
    none, three = (Bound(max=0.0),), (Bound(min=3.0, max=3.0),)
    assert expect.objectives == {
        "recovery": {"": (Bound(max=9.0),)},
        "unexpected_errors": {"writer": none},
        "missing_errors": {"reader": three, "writer": none},
    }
    assert Expect.model_validate({"recovery": "9s"}).objectives == {"recovery": {"": (Bound(max=9.0),)}}


def test_errors_read_back() -> None:
    """A plan says what the scenario said, and no objective twice."""
    expect = Expect.model_validate({"errors": {"writer": {"may": ["_TRANSPORT"]}}, "client_errors": 3})
    assert Expect.model_validate(json.loads(expect.model_dump_json())) == expect


@pytest.mark.parametrize(
    "value", [{}, {"must": []}, {"must": ["lower"]}, {"must": "_TRANSPORT"}, {"must": ["_A B"]}, ["_TRANSPORT"], None]
)
def test_errors_that_name_none_are_refused(value: object) -> None:
    """At least one, in a list, by what can be a name."""
    with pytest.raises(ValidationError):
        Expect.model_validate({"errors": {"writer": value}})

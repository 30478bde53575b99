"""The grammar of the probes' fields: what is read, what is refused and with which words."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from chaosk.probes._fields import CommitEvery, Every, Keys, Ramp, SendRate, parse_every, parse_keys, parse_send_rate


@pytest.mark.parametrize(
    ("text", "rate"), [("500/s", 500), ("30/m", 0.5), ("0.25/s", 0.25), ("as_fast_as_possible", math.inf)]
)
def test_rates(text: str, rate: float) -> None:
    """A rate per second or minute, or as fast as it goes."""
    assert parse_send_rate(text) == rate


@pytest.mark.parametrize("text", ["500", 500, "0/s", "-1/s", "fast", "", None, "500/h", "inf/s", True])
def test_what_is_no_rate_says_what_to_write(text: object) -> None:
    """A bare number, nothing at all or a standstill is refused with both ways to write it."""
    with pytest.raises(ValueError, match=r"500/s.* or as_fast_as_possible"):
        parse_send_rate(text)


@pytest.mark.parametrize("value", ["none", "sequence", 1, 100])
def test_keys(value: object) -> None:
    """No key, a key each, or a number of keys."""
    assert parse_keys(value) == value


@pytest.mark.parametrize("value", [0, -1, True, "all", "5", 1.5, None, []])
def test_what_is_no_choice_of_keys_says_what_to_write(value: object) -> None:
    """Zero keys, words and fractions are refused with all ways to write it."""
    with pytest.raises(ValueError, match="write none, sequence"):
        TypeAdapter(Keys).validate_python(value)


@pytest.mark.parametrize(
    ("value", "every"),
    [
        ("record", Every(records=1)),
        ("batch", Every(batches=1)),
        (100, Every(records=100)),
        ("5s", Every(seconds=5)),
        ("250ms", Every(seconds=0.25)),
    ],
)
def test_how_often_to_commit(value: object, every: Every) -> None:
    """Each spelling means one thing."""
    assert parse_every(value) == every


@pytest.mark.parametrize("value", [0, -5, "5", "often", True, None, 2.5, {}])
def test_what_is_no_pace_says_what_to_write(value: object) -> None:
    """A duration without a unit is refused here as everywhere."""
    with pytest.raises(ValueError, match="write record, batch, a number of records like 100, or a duration like 5s"):
        parse_every(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (SendRate, "500/s"), (SendRate, "0.5/s"), (SendRate, "as_fast_as_possible"), (Keys, "sequence"), (Keys, 7),
        (CommitEvery, "record"), (CommitEvery, "batch"), (CommitEvery, 100), (CommitEvery, "5s"),
    ],
)  # fmt: skip
def test_what_was_read_is_written_the_same(kind: Any, value: object) -> None:
    """The JSON form is what the user wrote, so a plan loads back as it was."""
    adapter = TypeAdapter(kind)
    assert adapter.dump_python(adapter.validate_python(value), mode="json") == value


@given(st.floats(0.01, 1e6).map(lambda rate: float(f"{rate:g}")))
def test_any_rate_survives_the_json_form(rate: float) -> None:
    """Rates of up to six digits come back exactly."""
    adapter = TypeAdapter(SendRate)
    written = f"{rate:f}".rstrip("0").rstrip(".") + "/s"
    read = adapter.validate_python(written)
    assert adapter.validate_python(f"{read:f}/s") == pytest.approx(read)


@pytest.mark.parametrize("value", [{"to": "0/s", "over": "5s"}, {"to": "5/s", "over": "0s"}, {"to": "5/s"}, {}])
def test_a_ramp_needs_an_end_and_a_length(value: dict[str, str]) -> None:
    """A ramp to a standstill or of no length is refused."""
    with pytest.raises(ValidationError):
        Ramp.model_validate(value)


@pytest.mark.parametrize("kind", [SendRate, Keys, CommitEvery])
def test_each_has_a_schema_of_its_own(kind: Any) -> None:
    """Editors are told every way to write it."""
    assert len(TypeAdapter(kind).json_schema()["anyOf"]) >= 2

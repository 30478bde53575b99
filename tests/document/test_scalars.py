"""Plain scalars: YAML 1.2's core schema, less what readers disagree about."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chaosk.document.scalars import resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("NULL", None),
        ("true", True), ("True", True), ("FALSE", False),
        ("0", 0), ("-1", -1), ("+7", 7), ("1000000000000000000", 10**18),
        ("1.5", 1.5), ("-0.25", -0.25), ("1e3", 1000.0), ("1.5E-3", 0.0015),
        ("on", "on"), ("off", "off"), ("yes", "yes"), ("no", "no"), ("y", "y"), ("On", "On"), ("tRUE", "tRUE"),
        ("22:30", "22:30"), ("1:30:00", "1:30:00"), ("2024-01-01", "2024-01-01"), ("1.2.3", "1.2.3"), ("10s", "10s"),
        ("1_a", "1_a"), ("_1", "_1"), ("-", "-"), ("e3", "e3"), ("1e", "1e"), ("=", "="), ("nulll", "nulll"),
    ],
)  # fmt: skip
def test_values(text: str, value: object) -> None:
    """Each kind of scalar, and the words that older readers of YAML take for something else."""
    resolved = resolve(text)
    assert resolved == value
    assert type(resolved) is type(value)


DISPUTED = ("0644", "007", "0o17", "0x1F", "0b11", "1_000", "-01", ".5", "5.", "01.5", "+0x1")


@pytest.mark.parametrize("text", DISPUTED)
def test_what_readers_disagree_about_is_refused(text: str) -> None:
    """Only the author knows whether a number or text is meant: they are told to say so."""
    with pytest.raises(ValueError, match="different"):
        resolve(text)


@pytest.mark.parametrize("text", [".inf", "-.inf", "+.INF", ".nan", ".NaN", "1e999", "-1e999", "9" * 19, "9" * 5000])
def test_numbers_beyond_all_bounds_are_refused(text: str) -> None:
    """Nothing infinite, not-a-number or larger than 10^18 gets in, and huge digits are not even converted."""
    with pytest.raises(ValueError, match=r"not a finite number|too large"):
        resolve(text)


@given(st.text(max_size=20) | st.from_regex(r"[-+.0-9_eExobBinfa:]{1,12}", fullmatch=True))
def test_every_text_has_a_finite_value_or_is_refused(text: str) -> None:
    """No text makes it raise anything but ValueError, and no number is infinite."""
    try:
        value = resolve(text)
    except ValueError:
        return
    assert not isinstance(value, float) or math.isfinite(value)


@given(st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False, width=32) | st.booleans())
def test_what_another_yaml_writer_writes_reads_back(value: float) -> None:
    """Numbers and booleans as PyYAML spells them have the same value for us, unless we refuse to guess."""
    text = yaml.safe_dump(value).splitlines()[0]
    try:
        assert resolve(text) == value
    except ValueError as error:
        assert "different" in str(error)  # noqa: PT017 - either outcome is right

"""Words: figures read alike everywhere, and no text can hide or move anything."""

from __future__ import annotations

import unicodedata
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.figures import bounds, figure, metric_name, number, seconds
from chaosk.core.printable import printable
from chaosk.report.words import listed, since


@given(st.text())
def test_printable_leaves_nothing_unseen(text: str) -> None:
    """Control, format, private and unassigned characters are shown as escapes, whatever the text."""
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not any(unicodedata.category(character) in bad for character in printable(text))


@given(st.text())
def test_printable_can_be_written(text: str) -> None:
    """Also an unpaired surrogate, which no encoding has, becomes text that a file can hold."""
    assert printable(text).encode("utf-8").decode("utf-8") == printable(text)


@given(st.text())
def test_printable_is_done_once(text: str) -> None:
    """What is printable stays as it is."""
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders", "orders"),
        ("Grüße 東京 ✓", "Grüße 東京 ✓"),
        ("a\nb\tc", "a b c"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("pay\u202egpj.exe", "pay\\u202egpj.exe"),
        ("\ud800", "\\ud800"),
        ("a\u200bb", "a\\u200bb"),
    ],
)
def test_printable_shows_what_would_trick_a_reader(text: str, shown: str) -> None:
    """Terminal escapes and characters that turn or hide text are visible; letters of any script stay."""
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0 s"), (0.000_02, "20 µs"), (0.0064, "6.4 ms"), (0.9, "900 ms"), (0.9996, "1.0 s"), (11.02, "11.0 s"),
        (119.9, "119.9 s"), (120, "2 min 0 s"), (3723, "62 min 3 s"), (-0.5, "-500 ms"),
    ],
)  # fmt: skip
def test_seconds_have_the_unit_that_suits_them(value: float, said: str) -> None:
    """From microseconds to minutes."""
    assert seconds(value) == said


@given(st.floats(0, 1e6))
def test_seconds_never_use_powers_of_ten(value: float) -> None:
    """No length of a run reads like 1e+03."""
    assert "e" not in seconds(value)


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (6863.0, "records", "6,863 records"), (1.0, "records", "1 record"), (3.0, "count", "3"), (0.5, "ratio", "50 %"),
        (499.71, "records/s", "499.7 records/s"), (None, "s", "not measured"), (2.5, "", "2.5"),
        (0.9995, "ratio", "99.95 %"), (0.999999, "ratio", "99.999 %"), (1.0, "ratio", "100 %"), (0.98, "ratio", "98 %"),
    ],
)  # fmt: skip
def test_figures_carry_their_unit(value: float | None, unit: str, said: str) -> None:
    """And what was not measured says so."""
    assert figure(value, unit) == said


def test_a_censored_figure_is_a_lower_bound() -> None:
    """What had not ended is never told as if it had."""
    assert figure(30.0, "s", censored=True) == "≥ 30.0 s"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (None, 20.0, "at most 20 s"),
        (1.0, None, "at least 1 s"), (1.0, 20.0, "1 s to 20 s"), (5.0, 5.0, "exactly 5 s"),
        (None, 2.5, "at most 2.5 s"), (None, None, "measured"), (0.0, 0.25, "0 s to 250 ms"),
    ],
)  # fmt: skip
def test_bounds_read_like_a_sentence(low: float | None, high: float | None, said: str) -> None:
    """Zero is a bound like any other."""
    assert bounds(low, high, "s") == said


def test_an_exact_count() -> None:
    """A prediction of no loss is exactly 0 records."""
    assert bounds(0.0, 0.0, "records") == "exactly 0 records"


@given(st.integers(-(10**14), 10**14))
def test_whole_numbers_keep_every_digit(value: int) -> None:
    """A count is never rounded."""
    assert int(number(value).replace(",", "")) == value


def test_moments_have_a_sign() -> None:
    """Before the timeline's start is minus, with the real minus sign."""
    assert (since(10), since(-4.5)) == ("+10.00 s", "\N{MINUS SIGN}4.50 s")


def test_many_items_are_shortened() -> None:
    """The first ones, and how many more."""
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(n) for n in range(20)], 3) == "0, 1, 2 and 17 more"


def test_metrics_have_names_for_people() -> None:
    """Underscores are spaces; some names are said better."""
    assert (metric_name("latency_p99"), metric_name("end_to_end_p99")) == ("latency p99", "end-to-end p99")


@pytest.mark.parametrize("value", [inf, -inf, nan])
def test_what_is_no_number_was_not_measured(value: float) -> None:
    """A verdict from elsewhere may hold such; it ends no report."""
    assert figure(value, "s") == "not measured"

"""Figures over time in one line."""

from __future__ import annotations

import pytest

from chaosk.campaign.history.history import Figure
from chaosk.campaign.history.trend import LONGEST, span, sparkline


def series(*values: float | None) -> list[Figure | None]:
    """Figures in seconds; None was not measured."""
    return [None if value is None else Figure(value=value, unit="s") for value in values]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ((0.0, 3.5, 7.0), "▁▅█"),
        ((7.0, None, 7.0), "█·█"),
        ((0.0, 0.0), "▁▁"),
        ((None, None), "··"),
        ((1.0, 1.01), "██"),
        ((-1.0, 2.0), "▁█"),
        ((), ""),
    ],
)
def test_bars_are_shares_of_the_largest(values: tuple[float | None, ...], line: str) -> None:
    """From nothing: what hardly changed looks as if it hardly changed."""
    assert sparkline(series(*values)) == line


def test_what_had_no_end_is_no_bar() -> None:
    """And it does not make the others small."""
    assert sparkline([*series(1.0, 2.0), Figure(value=60.0, unit="s", censored=True)]) == "▅█↑"


def test_a_long_history_ends_with_the_last() -> None:
    """The line stays one line."""
    line = sparkline(series(*([1.0] * 500), 100.0))
    assert (len(line), line[-1]) == (LONGEST, "█")


def test_the_span_in_words() -> None:
    """Least and most; one figure where they are the same; nothing where there is none."""
    assert span(series(8.4, None, 3.1)) == "3.1 s to 8.4 s"
    assert span(series(2.0)) == "2.0 s"
    assert span([*series(8.4), Figure(value=60.0, unit="s", censored=True)]) == "8.4 s to ≥ 60.0 s"
    assert span(series(None)) == ""

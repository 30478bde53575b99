"""Medians and their intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from chaosk.campaign.gate.spread import CONFIDENCE, spread


@pytest.mark.parametrize(
    ("count", "low", "high", "confidence"),
    [(1, 1, 1, 0.0), (2, 1, 2, 0.5), (5, 1, 5, 0.9375), (6, 1, 6, 0.96875), (9, 2, 8, 0.9609375), (20, 6, 15, 0.9586)],
)
def test_the_interval_is_the_narrowest_that_is_sure_enough(count: int, low: int, high: int, confidence: float) -> None:
    """Of figures 1 to n, as in the tables of the sign test; of too few it is all of them, and says how sure it is."""
    found = spread(float(value) for value in range(count, 0, -1))
    assert (found.low, found.high) == (low, high)
    assert found.confidence == pytest.approx(confidence, abs=1e-4)


@given(st.lists(st.floats(0, 1e15), min_size=1, max_size=60))
def test_it_holds_the_median_and_is_as_sure_as_it_says(values: list[float]) -> None:
    """Against scipy's binomial distribution, and one step narrower would not be sure enough."""
    found, ordered = spread(values), sorted(values)
    assert found.low <= found.median <= found.high
    k = next(k for k in range(1, len(ordered) + 1) if (ordered[k - 1], ordered[-k]) == (found.low, found.high))
    assert found.confidence <= 1 - 2 * binom.cdf(k - 1, len(values), 0.5) + 1e-9
    assert found.confidence >= min(CONFIDENCE, 1 - 2 * binom.cdf(0, len(values), 0.5)) - 1e-9


def test_of_nothing_there_is_none() -> None:
    """Not a zero."""
    with pytest.raises(ValueError, match="no figures"):
        spread(())

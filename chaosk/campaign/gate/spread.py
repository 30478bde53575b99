"""Summary of several runs' figures: their median, and a confidence interval of the true median.

The interval is between two order statistics: of n figures of any distribution, the true median lies between the k-th
smallest and the k-th largest with a probability that the binomial distribution gives. See H. A. David and H. N.
Nagaraja, "Order Statistics", 3rd edition, section 7.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb, inf
from statistics import median

from chaosk.core.figures import figure

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Spread:
    """Figures of one kind, one a run."""

    values: tuple[float, ...]
    """Ascending."""
    median: float
    low: float
    high: float
    confidence: float
    """Probability that the true median is between low and high; below 95 % if there are too few runs."""


def spread(values: Iterable[float]) -> Spread:
    """Summarize at least one figure; raises ValueError for none."""
    found = tuple(sorted(values))
    if not found:
        raise ValueError("no figures")
    most = max(range(1, (len(found) + 1) // 2 + 1), key=lambda k: (_covers(len(found), k) >= CONFIDENCE, k), default=1)
    k = most if _covers(len(found), most) >= CONFIDENCE else 1
    return Spread(found, median(found), found[k - 1], found[-k], _covers(len(found), k))


def in_words(value: float, unit: str) -> str:
    """Return a figure in words, also an infinite one."""
    return "no end" if value == inf else figure(value, unit)


def _covers(count: int, k: int) -> float:
    """Return the probability that the median is between the k-th smallest and k-th largest of ``count`` figures."""
    return 1.0 - 2.0 * sum(comb(count, i) for i in range(k)) / 2.0**count

"""Measures: one with its metric's unit, and counts of a check's rows by subject and window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chaosk.analysis.case import Case
from chaosk.analysis.found import Found
from chaosk.rundir.verdict import Measure
from chaosk.spec.metrics import METRICS


def counted(
    case: Case, found: Found, metric: str, subject: str, subjects: Sequence[str], time: str = "began"
) -> Iterable[Measure]:
    """How many rows each subject has in each window, zeros included.

    The whole run's count has every row, also those of no known time, of the warm-up or of the drain.
    """
    whole, *rest = case.windows
    counts = found.counts(subject, tuple(rest), time, whole.name)
    for name in sorted({*subjects, *(key[0] for key in counts)}):
        for window in case.windows:
            yield measured(metric, name, window.name, float(counts[name, window.name]))


def shares(metric: str, counts: Iterable[Measure], whole: Mapping[tuple[str, str], int]) -> Iterable[Measure]:
    """Counts by subject and window as shares of others; None where there is nothing that they could be a share of."""
    for count in counts:
        total, value = whole.get((count.subject, count.window), 0), count.value
        share = value / total if total and value is not None else None
        yield measured(metric, count.subject, count.window, share, censored=count.censored and share is not None)


def measured(metric: str, subject: str, window: str, value: float | None, *, censored: bool = False) -> Measure:
    """One measure with its metric's unit."""
    unit = METRICS[metric].unit
    return Measure(metric=metric, subject=subject, window=window, value=value, unit=unit, censored=censored)

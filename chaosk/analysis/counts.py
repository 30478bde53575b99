"""Measures with their metric's unit, and counts of a check's rows by subject and window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chaosk.analysis.case import Case
from chaosk.analysis.check_rows import CheckRows
from chaosk.rundir.verdict import Measure
from chaosk.spec.metrics import METRICS


def counted(
    case: Case, found: CheckRows, metric: str, subject: str, subjects: Sequence[str], time: str = "began"
) -> Iterable[Measure]:
    """Yield the number of rows by subject and window, zeros included.

    The whole run's count has every row, also those without a known time, of the warm-up and of the drain.
    """
    whole, *rest = case.windows
    counts = found.counts(subject, tuple(rest), time, whole.name)
    for name in sorted({*subjects, *(key[0] for key in counts)}):
        for window in case.windows:
            yield measured(metric, name, window.name, float(counts[name, window.name]))


def shares(metric: str, counts: Iterable[Measure], whole: Mapping[tuple[str, str], int]) -> Iterable[Measure]:
    """Yield counts by subject and window as shares of others; None if the other count is zero."""
    for count in counts:
        total, value = whole.get((count.subject, count.window), 0), count.value
        share = value / total if total and value is not None else None
        yield measured(metric, count.subject, count.window, share, censored=count.censored and share is not None)


def measured(metric: str, subject: str, window: str, value: float | None, *, censored: bool = False) -> Measure:
    """Return a measure with its metric's unit."""
    unit = METRICS[metric].unit
    return Measure(metric=metric, subject=subject, window=window, value=value, unit=unit, censored=censored)

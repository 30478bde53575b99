"""Rows of a check: in memory if they are few, else computed by Spark again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.windows import Segments

FewRows = Sequence[dict[str, Any]]
"""Rows by column, for checks with a bounded number of them."""
SEVERITIES = ("violation", "allowed", "unproven", "information")
"""Severities of a row, worst first."""


@dataclass(frozen=True, slots=True)
class CheckRows:
    """Rows of one check, from which it computes its figures."""

    few: tuple[dict[str, Any], ...] = ()
    """All rows, if they are few."""
    many: DataFrame | None = None
    """The rows, if they are many."""

    def rows(self, *columns: str) -> list[dict[str, Any]]:
        """Return all rows with these columns, in memory; for checks with a bounded number of rows."""
        if self.many is not None:
            return [row.asDict() for row in self.many.select(*columns).collect()]
        return [{name: row[name] for name in columns} for row in self.few]

    def where(self, severities: Iterable[str], flag: str | None = None) -> CheckRows:
        """Return the rows of these severities, and with a true ``flag`` if one is named."""
        wanted = set(severities)
        if self.many is not None:
            kept = self.many.filter(F.col("severity").isin(sorted(wanted)))
            return CheckRows(many=kept if flag is None else kept.filter(flag))
        return CheckRows(tuple(row for row in self.few if row["severity"] in wanted and (flag is None or row[flag])))

    def counts(self, subject: str, windows: tuple[TimeSpan, ...], time: str, every: str) -> Counter[tuple[str, str]]:
        """Count the rows by subject and the windows of their ``time``, and all of them as ``every``."""
        if self.many is None:
            return Counter(
                (str(row[subject]), window) for row in self.few for window in (*_windows(windows, row[time]), every)
            )
        segments = Segments(windows)
        totals = self.many.groupBy(F.col(subject).alias("subject"), *segments.of(F.col(time)))
        counts: Counter[tuple[str, str]] = Counter()
        for row in totals.count().collect():
            for window in (*segments.windows(row), every):
                counts[str(row["subject"]), window] += int(row["count"])
        return counts

    def spans(self, subject: str, windows: tuple[TimeSpan, ...], time: str, every: str) -> dict[tuple[str, str], int]:
        """Return by subject and window the nanoseconds from the first ``time`` to the last; ``every``: of all rows."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for name, window, low, high in self._extremes(subject, windows, time, every):
            first, last = found.get((name, window), (low, high))
            found[name, window] = (min(first, low), max(last, high))
        return {key: last - first for key, (first, last) in found.items()}

    def _extremes(
        self, subject: str, windows: tuple[TimeSpan, ...], time: str, every: str
    ) -> Iterator[tuple[str, str, int, int]]:
        """Yield subject, window, first and last time in it; once per part, so keys may repeat."""
        if self.many is None:
            for row in self.few:
                if row[time] is not None:
                    for window in (*_windows(windows, row[time]), every):
                        yield str(row[subject]), window, row[time], row[time]
            return
        segments = Segments(windows)
        parts = self.many.filter(F.col(time).isNotNull()).groupBy(
            F.col(subject).alias("subject"), *segments.of(F.col(time))
        )
        for part in parts.agg(F.min(time).alias("low"), F.max(time).alias("high")).collect():
            for window in (*segments.windows(part), every):
                yield str(part["subject"]), window, int(part["low"]), int(part["high"])


def _windows(windows: tuple[TimeSpan, ...], time: int | None) -> list[str]:
    return [] if time is None else [window.name for window in windows if window.began <= time < window.ended]

"""What a check's rows came to: kept in memory if they are few, else asked of Spark again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Span
from chaosk.analysis.windows import masks_of, names_of

SEVERITIES = ("violation", "allowed", "unproven", "information")
"""What a row can mean, worst first."""


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of one check, for the figures it gives."""

    few: tuple[dict[str, Any], ...] = ()
    """All rows, if they are few."""
    many: DataFrame | None = None
    """The rows, if they are not."""

    def rows(self, *columns: str) -> list[dict[str, Any]]:
        """All rows with these columns, in memory; for checks that find a bounded number of rows."""
        if self.many is not None:
            return [row.asDict() for row in self.many.select(*columns).collect()]
        return [{name: row[name] for name in columns} for row in self.few]

    def where(self, severities: Iterable[str], flag: str | None = None) -> Found:
        """The rows of these severities, and with a true ``flag`` if one is named."""
        wanted = set(severities)
        if self.many is not None:
            kept = self.many.filter(F.col("severity").isin(sorted(wanted)))
            return Found(many=kept if flag is None else kept.filter(flag))
        return Found(tuple(row for row in self.few if row["severity"] in wanted and (flag is None or row[flag])))

    def counts(self, subject: str, windows: tuple[Span, ...], time: str, every: str) -> Counter[tuple[str, str]]:
        """By subject and window how many rows have their ``time`` in it, and all of them as ``every``."""
        if self.many is None:
            return Counter(
                (str(row[subject]), window) for row in self.few for window in (*_windows(windows, row[time]), every)
            )
        masks = masks_of(windows, F.col(time), F.col(time))
        totals = self.many.groupBy(F.col(subject).alias("subject"), *(mask.alias(name) for name, mask in masks.items()))
        counts: Counter[tuple[str, str]] = Counter()
        for row in totals.count().collect():
            for window in (*names_of(windows, [row[mask] for mask in masks]), every):
                counts[str(row["subject"]), window] += int(row["count"])
        return counts


def _windows(windows: tuple[Span, ...], time: int | None) -> list[str]:
    return [] if time is None else [window.name for window in windows if window.began <= time < window.ended]

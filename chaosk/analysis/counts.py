"""Counts of a check's rows by subject and window, as measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.windows import windows_and_all
from chaosk.metrics import METRICS
from chaosk.verdict import Measure


def counted(
    events: Events, rows: DataFrame | None, metric: str, subject: str, subjects: Sequence[str], time: str = "began"
) -> Iterable[Measure]:
    """How many rows each subject has in each window, zeros included; ``rows`` of None are none.

    The whole run's count has every row, also those of no known time, of the warm-up or of the drain.
    """
    whole, *rest = events.case.windows
    found: dict[tuple[str, str], int] = {}
    if rows is not None:
        named = rows.withColumn("window", F.explode(windows_and_all(rest, F.col(time), whole.name)))
        totals = named.groupBy(F.col(subject).alias("subject"), "window").count().collect()
        found = {(str(row["subject"]), str(row["window"])): int(row["count"]) for row in totals}
    for name in sorted({*subjects, *(key[0] for key in found)}):
        for window in (whole, *rest):
            yield measured(metric, name, window.name, float(found.get((name, window.name), 0)))


def measured(metric: str, subject: str, window: str, value: float | None, *, censored: bool = False) -> Measure:
    """One measure with its metric's unit."""
    unit = METRICS[metric].unit
    return Measure(metric=metric, subject=subject, window=window, value=value, unit=unit, censored=censored)

"""How long a record takes to reach a consumer, from when it was due."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import Check, Found
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import received
from chaosk.analysis.frames.quantiles import quantiles
from chaosk.analysis.windows import ALL
from chaosk.verdict import Measure

_KEYS = ("probe", "window")


class EndToEnd(Check):
    """Time from the moment a record was *due* to its first delivery to a group (or to a consumer without one).

    D4. It counts for the consumer that was given the record first; later deliveries are ``redelivery``. A record
    belongs to the windows it was due in. Percentiles are right to 0.1 %, the longest is exact.
    """

    rule = "D4"
    title = "latency from the intended time of a send to its delivery"
    counted = ("delivery", "deliveries")
    tables = ("sends", "reads")

    def violations(self, events: Events) -> None:  # noqa: ARG002 - it only measures
        """None: it only measures."""
        return

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``end_to_end_p99`` and ``end_to_end_max`` of each consumer and window; None without records."""
        rows = events.frame(received).filter(F.col("window") != ALL)
        longest = rows.groupBy(*_KEYS).agg(F.max("longest").alias("end_to_end_max"))
        figures = quantiles(rows, _KEYS, {"end_to_end_p99": 0.99}).join(longest, on=list(_KEYS), how="inner").collect()
        by_key = {(row["probe"], row["window"]): row for row in figures}
        for probe in sorted({worker.probe for worker in events.case.workers if worker.kind == "consume"}):
            for window in events.case.windows:
                row = by_key.get((probe, window.name))
                for metric in ("end_to_end_p99", "end_to_end_max"):
                    yield measured(metric, probe, window.name, None if row is None else row[metric] / 1e9)

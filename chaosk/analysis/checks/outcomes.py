"""How many sends were acknowledged, failed, or have an unknown fate; how many records were delivered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import Check, Found
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import delivered, sent
from chaosk.analysis.windows import ALL
from chaosk.verdict import Measure

_METRICS = {"acknowledged_records": "ok", "failed_records": "fail", "uncertain_records": "info"}


class Outcomes(Check):
    """Sends by outcome and rates. A time-out is uncertain, neither failed nor written: nobody may guess.

    Records belong to the windows they were due in; the whole run's counts have every record, the rate of a window
    those that were acknowledged out of it, or delivered in it, by its length.
    """

    rule = "D3"
    title = "acknowledged, failed and uncertain records, and rates"
    counted = ("record", "records")
    tables = ("sends", "reads")

    def violations(self, events: Events) -> None:  # noqa: ARG002 - it only measures
        """None: it only measures."""
        return

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Counts by outcome of each producer, ``rate`` of each probe, in each window."""
        sends = events.frame(sent).groupBy("probe", "window", "outcome").agg(F.sum("count").alias("count")).collect()
        reads = events.frame(delivered).groupBy("probe", "window").agg(F.sum("count").alias("count")).collect()
        counts = Counter({(row["probe"], row["window"], row["outcome"]): int(row["count"]) for row in sends})
        counts.update({(row["probe"], row["window"], "read"): int(row["count"]) for row in reads})
        for probe, kind in sorted({(worker.probe, worker.kind) for worker in events.case.workers}):
            for window in events.case.windows:
                at = ALL if window.name == "run" else window.name
                for metric, outcome in _METRICS.items() if kind == "produce" else ():
                    yield measured(metric, probe, window.name, float(counts[probe, at, outcome]))
                done = counts[probe, window.name, "ok" if kind == "produce" else "read"]
                seconds = (window.ended - window.began) / 1e9
                yield measured("rate", probe, window.name, round(done / seconds, 3) if seconds > 0 else None)

"""How long a send takes, from when it was due."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import Check, Found
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import sent
from chaosk.analysis.frames.quantiles import quantiles
from chaosk.analysis.windows import ALL
from chaosk.verdict import Measure

_SHARES = {"latency_p50": 0.5, "latency_p99": 0.99}
_KEYS = ("probe", "window")


class Latency(Check):
    """Time from the moment a record was *due* to its acknowledgement, per producer.

    D4. The intended time is where the clock starts, so a client that stalls cannot hide the stall by sending later.
    Only acknowledged records have a latency; those that failed are counted by ``outcomes``. A record belongs to the
    windows it was due in. Percentiles are right to 0.1 %, the longest is exact.
    """

    rule = "D4"
    title = "latency of sends from their intended time"
    counted = ("send", "sends")
    tables = ("sends",)

    def violations(self, events: Events) -> None:  # noqa: ARG002 - it only measures
        """None: it only measures."""
        return

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``latency_p50``, ``latency_p99`` and ``latency_max`` of each producer and window; None without records."""
        acknowledged = events.frame(sent).filter((F.col("outcome") == "ok") & (F.col("window") != ALL))
        longest = acknowledged.groupBy(*_KEYS).agg(F.max("longest").alias("latency_max"))
        rows = quantiles(acknowledged, _KEYS, _SHARES).join(longest, on=list(_KEYS), how="inner").collect()
        by_key = {(row["probe"], row["window"]): row for row in rows}
        for probe in producers(events):
            for window in events.case.windows:
                row = by_key.get((probe, window.name))
                for metric in (*_SHARES, "latency_max"):
                    value = None if row is None else row[metric] / 1e9
                    yield measured(metric, probe, window.name, value)


def producers(events: Events) -> tuple[str, ...]:
    """Names of the probes that write, sorted."""
    return tuple(sorted({worker.probe for worker in events.case.workers if worker.kind == "produce"}))


def consumers(events: Events) -> tuple[str, ...]:
    """Names of the probes that read, sorted."""
    return tuple(sorted({worker.probe for worker in events.case.workers if worker.kind == "consume"}))

"""How long a send takes, from when it was due."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.histograms import Key, histograms
from chaosk.verdict import Measure


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

    def violations(self, events: Events) -> None:
        """None: it only measures."""

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``latency_p50``, ``latency_p99`` and ``latency_max`` of each producer and window; None without records."""
        for probe in events.case.probes("produce"):
            for window in events.case.windows:
                key = Key("ok", probe, window.name)
                for metric, share in (("latency_p50", 0.5), ("latency_p99", 0.99)):
                    yield measured(metric, probe, window.name, events.once(histograms).quantile(key, share))
                yield measured("latency_max", probe, window.name, events.once(histograms).longest_of(key))

"""Latency of sends, from the time they were due."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.activity import activity
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.histograms import Key, Waiting, bounded_longest, bounded_quantile
from chaosk.rundir.verdict import Measure


class Latency(Check):
    """Time from the moment a record was *due* to its acknowledgement, per producer.

    D4. Time counts from the intended send, so a client that stalls cannot hide the stall by sending later (coordinated
    omission). A send that failed, or of which the outcome is uncertain, counts as slower than all that were
    acknowledged. If a percentile is among such sends, the latency is at least (censored) what as large a share of all
    sends took or waited. A record belongs to the windows in which it was due. Percentiles are accurate to 0.1 %, the
    maximum is exact.
    """

    rule = "D4"
    title = "latency of sends from their intended time"
    counted = ("send", "sends")
    metrics = ("latency_p50", "latency_p99", "latency_max")
    tables = ("sends",)

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``latency_p50``, ``latency_p99``, ``latency_max`` of each producer and window; None without records."""
        seen = events.once(activity)
        for probe in events.case.probes("produce"):
            for window in events.case.windows:
                key = Key("ok", probe, window.name)
                waiting = Waiting(seen, tuple(Key(what, probe, window.name) for what in ("fail", "info")))
                for metric, (value, censored) in (
                    ("latency_p50", bounded_quantile(seen, key, waiting, 0.5)),
                    ("latency_p99", bounded_quantile(seen, key, waiting, 0.99)),
                    ("latency_max", bounded_longest(seen, key, waiting)),
                ):
                    yield measured(metric, probe, window.name, value, censored=censored)

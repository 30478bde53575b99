"""Lag of consumers in time, at each poll."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.histograms import Key
from chaosk.analysis.lags import WHAT, lags_of
from chaosk.rundir.verdict import Measure


class RealtimeLag(Check):
    """Age of the oldest record that a consumer does not have yet, at each poll and for each assigned partition.

    D4, after the definitions of Jepsen's Kafka workload (``realtime-lag``). Polls without records count as well. A
    record exists from the earliest acknowledgement or delivery of its offset or a higher one. The consumer has it once
    it was given its offset or a higher one since the assignment, or if it is below its start position: the committed
    offset that it found, the offset that it sought, or, with nothing committed and ``auto.offset.reset: earliest``, the
    log start. A consumer that keeps up has a lag of 0 at most polls. Percentiles are accurate to 0.1 %, the maximum is
    exact.
    """

    rule = "D4"
    title = "how long what lies ahead of a consumer had been there"
    counted = ("poll", "polls")
    metrics = ("realtime_lag_p99", "realtime_lag_max")
    tables = ("polls", "reads", "sends", "assignments", "fetched", "seeks")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``realtime_lag_p99`` and ``realtime_lag_max`` of each consumer and window; None without polls."""
        histograms = lags_of(events)
        for probe in events.case.probes("consume"):
            for window in events.case.windows:
                key = Key(WHAT, probe, window.name)
                yield measured("realtime_lag_p99", probe, window.name, histograms.quantile(key, 0.99))
                yield measured("realtime_lag_max", probe, window.name, histograms.longest_of(key))

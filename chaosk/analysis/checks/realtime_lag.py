"""How far behind consumers are when they poll."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.histograms import Key
from chaosk.analysis.lags import WHAT, lags_of
from chaosk.rundir.verdict import Measure


class RealtimeLag(Check):
    """At each poll, and for each partition held, how long there had been a record that the consumer did not have yet.

    D4 after the definitions that Jepsen's Kafka workload made known (``realtime-lag``). Polls that return nothing
    count as well. A record is there from the earliest acknowledgement or delivery on that shows its offset or a
    higher one; the consumer has it once it was given its offset or a higher one since it got the partition, and what
    lies below the position at which it began: the committed offset that it found, the offset that it sought, or, with
    nothing committed and ``auto.offset.reset: earliest``, the log's start. A consumer that keeps up has a lag of 0 at
    most polls. Percentiles are right to 0.1 %, the longest is exact.
    """

    rule = "D4"
    title = "how long what lies ahead of a consumer had been there"
    counted = ("poll", "polls")
    tables = ("polls", "reads", "sends", "assignments", "fetched", "seeks")

    def violations(self, events: Events) -> None:
        """None: it only measures."""

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``realtime_lag_p99`` and ``realtime_lag_max`` of each consumer and window; None without polls."""
        histograms = lags_of(events)
        for probe in events.case.probes("consume"):
            for window in events.case.windows:
                key = Key(WHAT, probe, window.name)
                yield measured("realtime_lag_p99", probe, window.name, histograms.quantile(key, 0.99))
                yield measured("realtime_lag_max", probe, window.name, histograms.longest_of(key))

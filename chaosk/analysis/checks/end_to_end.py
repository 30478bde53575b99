"""End-to-end latency of records, from the time they were due."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.histograms import Key, histograms
from chaosk.rundir.verdict import Measure


class EndToEnd(Check):
    """Time from the moment a record was *due* to its first delivery to a group (or to a consumer without one).

    D4. It counts for the consumer that was given the record first; later deliveries are ``redelivery``. A record
    belongs to the windows in which it was due. Percentiles are accurate to 0.1 %, the maximum is exact.
    """

    rule = "D4"
    title = "latency from the intended time of a send to its delivery"
    counted = ("delivery", "deliveries")
    metrics = ("end_to_end_p99", "end_to_end_max")
    tables = ("sends", "reads")

    def violations(self, events: Events) -> None:
        """Return None: it only measures."""

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``end_to_end_p99`` and ``end_to_end_max`` of each consumer and window; None without records."""
        for probe in events.case.probes("consume"):
            for window in events.case.windows:
                key = Key("received", probe, window.name)
                yield measured("end_to_end_p99", probe, window.name, events.once(histograms).quantile(key, 0.99))
                yield measured("end_to_end_max", probe, window.name, events.once(histograms).longest_of(key))

"""Numbers of acknowledged, failed and uncertain sends, and of deliveries."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.activity import activity
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.histograms import Key
from chaosk.analysis.windows import ALL
from chaosk.rundir.verdict import Measure

_METRICS = {"acknowledged_records": "ok", "failed_records": "fail", "uncertain_records": "info"}


class Outcomes(Check):
    """Sends by outcome, and rates. A time-out is uncertain: it counts neither as failed nor as written.

    A record belongs to the windows in which it was due; the counts of the whole run include every record. The rate of a
    window counts the records due in it that were acknowledged, or those delivered in it, per second.
    """

    rule = "D3"
    title = "acknowledged, failed and uncertain records, and rates"
    counted = ("record", "records")
    metrics = ("acknowledged_records", "failed_records", "uncertain_records", "rate")
    tables = ("sends", "reads")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield counts by outcome of each producer, and ``rate`` of each probe, in each window."""
        counts = events.once(activity).counts
        for window in events.case.windows:
            at, seconds = ALL if window.name == "run" else window.name, (window.ended - window.began) / 1e9
            for probe in events.case.probes("produce"):
                for metric, outcome in _METRICS.items():
                    yield measured(metric, probe, window.name, float(counts[Key(outcome, probe, at)]))
            for kind, what in (("produce", "ok"), ("consume", "read")):
                for probe in events.case.probes(kind):
                    done = counts[Key(what, probe, window.name)]
                    yield measured("rate", probe, window.name, round(done / seconds, 3) if seconds > 0 else None)

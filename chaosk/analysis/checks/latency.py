"""How long a send takes, from when it was due."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.histograms import Key, histograms
from chaosk.rundir.verdict import Measure


class Latency(Check):
    """Time from the moment a record was *due* to its acknowledgement, per producer.

    D4. The intended time is where the clock starts, so a client that stalls cannot hide the stall by sending later.
    Only acknowledged records have a latency; those that failed are counted by ``outcomes``. Where none was acknowledged
    the latency is at least (censored) what the one that was waited for longest took to fail. A record belongs to the
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
        seen = events.once(histograms)
        for probe in events.case.probes("produce"):
            for window in events.case.windows:
                key = Key("ok", probe, window.name)
                failed = [seen.longest_of(Key(what, probe, window.name)) for what in ("fail", "info")]
                least = max((one for one in failed if one is not None), default=None)
                for metric, value in (
                    ("latency_p50", seen.quantile(key, 0.5)),
                    ("latency_p99", seen.quantile(key, 0.99)),
                    ("latency_max", seen.longest_of(key)),
                ):
                    known = value is not None
                    yield measured(
                        metric, probe, window.name, value if known else least, censored=not known and least is not None
                    )

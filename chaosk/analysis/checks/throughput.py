"""Acknowledgements, deliveries and answers by the time of their arrival."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.activity import activity
from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.completeness import incomplete, there
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.histograms import Histograms, Key
from chaosk.rundir.verdict import Measure

_COUNTED = {
    "produce": ("acknowledgements", "acknowledged"),
    "consume": ("deliveries", "read"),
    "transform": ("deliveries", "read"),
    "call": ("answers", "answered"),
}
"""Figure and its counter in ``histograms``, by kind of probe."""


class Throughput(Check):
    """Number of acknowledgements, deliveries and answers that arrived in a window, and records per second.

    D3, by the time of arrival, regardless of when the record was due or the call was made. It counts acknowledgements
    during a fault, whereas ``outcomes`` counts records due in it, even if acknowledged after it. A record that is
    delivered twice counts twice. Arrivals after the settle phase count in no window.

    The figures are lower bounds (censored) in a window in which chaosk's machine or the probe stalled, or in which a
    process without an end marker may have been alive after its last tally. A probe has no figure in a window that ended
    before it started.
    """

    rule = "D3"
    title = "what was acknowledged, delivered and answered while a window lasted"
    counted = ("record", "records")
    metrics = ("throughput", "acknowledgements", "deliveries", "answers")
    tables = ("sends", "reads", "calls", "incarnations", "ends", "tallies", "clocks")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Return ``acknowledgements``, ``deliveries`` or ``answers``, and ``throughput``, of each probe and window."""
        case, seen = events.case, events.once(activity)
        return (
            measure
            for kind in _COUNTED
            for probe in case.probes(kind)
            for window in case.windows
            for measure in _figures(case, seen, kind, probe, window)
        )


def _figures(case: Case, seen: Histograms, kind: str, probe: str, window: TimeSpan) -> Iterable[Measure]:
    metric, what = _COUNTED[kind]
    came = float(seen.counts[Key(what, probe, window.name)])
    seconds = (window.ended - window.began) / 1e9
    here, more = there(case, [probe], window), incomplete(case, [probe], window)
    yield measured(metric, probe, window.name, came if here else None, censored=here and more)
    if kind != "call":
        known = here and seconds > 0
        a_second = round(came / seconds, 3) if known else None
        yield measured("throughput", probe, window.name, a_second, censored=known and more)

"""What came back while a window lasted."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.analysis.case import Case, Span
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.completeness import incomplete, there
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.histograms import Histograms, Key, histograms
from chaosk.rundir.verdict import Measure

_COUNTED = {
    "produce": ("acknowledgements", "acknowledged"),
    "consume": ("deliveries", "read"),
    "transform": ("deliveries", "read"),
    "call": ("answers", "answered"),
}
"""By kind of probe its figure, and what it counts."""


class Throughput(Check):
    """How many acknowledgements, deliveries and answers came while a window lasted, and how many records a second.

    D3, by when clients were told, whenever the record was due or the call was made: what was acknowledged while a fault
    lasted, and not what was due then and acknowledged after it, which ``outcomes`` counts. A record that is delivered
    twice counts twice. What comes after the settling counts in no window.

    The figures are at least so much, and no more is known, in a window in which chaosk's machine or the probe stood
    still, or in which a process that left no end marker may have been alive after its last tally. A probe has none in a
    window that was over before it started.
    """

    rule = "D3"
    title = "what was acknowledged, delivered and answered while a window lasted"
    counted = ("record", "records")
    tables = ("sends", "reads", "calls", "incarnations", "ends", "tallies", "clocks")

    def violations(self, events: Events) -> None:
        """None: it only measures."""

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``acknowledgements``, ``deliveries`` or ``answers``, and ``throughput``, of each probe and window."""
        case, seen = events.case, events.once(histograms)
        return (
            measure
            for kind in _COUNTED
            for probe in case.probes(kind)
            for window in case.windows
            for measure in _figures(case, seen, kind, probe, window)
        )


def _figures(case: Case, seen: Histograms, kind: str, probe: str, window: Span) -> Iterable[Measure]:
    metric, what = _COUNTED[kind]
    came = float(seen.counts[Key(what, probe, window.name)])
    seconds = (window.ended - window.began) / 1e9
    here, more = there(case, [probe], window), incomplete(case, [probe], window)
    yield measured(metric, probe, window.name, came if here else None, censored=here and more)
    if kind != "call":
        known = here and seconds > 0
        a_second = round(came / seconds, 3) if known else None
        yield measured("throughput", probe, window.name, a_second, censored=known and more)

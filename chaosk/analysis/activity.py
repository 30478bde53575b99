"""Counts and latency histograms of each probe by window of the run, read once and kept."""

from __future__ import annotations

from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import figures
from chaosk.analysis.glances.figures import histograms
from chaosk.analysis.histograms import Activity, Histograms, collected
from chaosk.analysis.must_fail_windows import afterwards
from chaosk.analysis.windows import Segments


def activity(events: Events) -> Histograms:
    """Return them, with numpy if the run is small, else with Spark."""
    if events.glances:
        return histograms(events.rows)
    segments = Segments((*events.case.windows, *events.case.looks, *afterwards(events.case)))
    rows = events.gathered(figures(events)).toArrow().to_pylist()  # as Arrow, because Spark is slow at single rows
    return collected((Activity(**row) for row in rows), segments)

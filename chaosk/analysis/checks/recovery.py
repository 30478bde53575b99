"""How long until all was as before."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import Check, Found
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import received, sent
from chaosk.analysis.frames.health import CELL, prompt_deliveries, prompt_sends, under_replicated
from chaosk.analysis.frames.quantiles import quantiles
from chaosk.analysis.recovered import Cells, first_well, grouped
from chaosk.verdict import Measure

_FACTOR = 3
_FLOOR = 100_000_000
"""Nanoseconds by which latency may exceed the baseline's in any case: a quiet cluster's 2 ms may become 20."""


class Recovery(Check):
    """From a fault's verified undo, and from its verified effect, until all went well for three seconds on end.

    D5. Well means: of the records due in that time 99 % were acknowledged, and given to each reader, within three times
    the 99th percentile of the baseline (or that and 100 ms, whichever is more), and no broker named a partition
    without its leader or with less than all replicas in sync. By when records were *due*, so a backlog that is being
    worked off is not well yet. Right to a quarter of a second; if it never happened before the run ended, the time is
    censored.
    """

    rule = "D5"
    title = "time until all is as in the baseline"
    counted = ("fault", "faults")
    tables = ("sends", "reads", "partitions", "faults")

    def violations(self, events: Events) -> None:  # noqa: ARG002 - it only measures
        """None: it only measures."""
        return

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """``recovery`` and ``recovery_from_fault`` of each fault; None without a baseline, or where it never took."""
        cells = _cells(events) if events.case.baseline and events.case.faults else None
        for fault in events.case.faults:
            for metric, since in (("recovery", fault.healed), ("recovery_from_fault", fault.applied)):
                yield _figure(metric, fault.name, since, events.case.run.ended, cells)


def _figure(metric: str, fault: str, since: int | None, until: int, cells: Cells | None) -> Measure:
    if since is None or cells is None:
        return measured(metric, fault, "run", None)
    well = first_well(cells, since, until)
    if well is None:
        return measured(metric, fault, "run", max(0, until - since) / 1e9, censored=True)
    return measured(metric, fault, "run", (well - since) / 1e9)


def _cells(events: Events) -> Cells:
    """Promptness of all streams that worked in the baseline, collected: four cells a second and stream."""
    senders = _bounds(events, "produce")
    readers = _bounds(events, "consume")
    sending = prompt_sends(events, senders).withColumn("kind", F.lit("produce"))
    reading = prompt_deliveries(events, readers).withColumn("kind", F.lit("consume"))
    rows = sending.unionByName(reading).collect()
    known = {"produce": senders, "consume": readers}
    cells = [
        (f"{r['kind']} {r['stream']}", r["cell"], r["wanted"], r["prompt"])
        for r in rows
        if r["stream"] in known[r["kind"]]
    ]
    short = {int(row["cell"]) for row in under_replicated(events).collect()}
    return Cells(CELL, grouped(cells), short)


def _bounds(events: Events, kind: str) -> dict[str, int]:
    """By stream how late, in nanoseconds, a record may be: from the 99th percentile of its baseline."""
    histogram = events.frame(sent if kind == "produce" else received).filter(F.col("window") == "baseline")
    if kind == "produce":
        histogram = histogram.filter(F.col("outcome") == "ok")
    rows = quantiles(histogram, ("probe",), {"p99": 0.99}).collect()
    streams = {w.probe: w.probe if kind == "produce" else w.reader for w in events.case.workers if w.kind == kind}
    bounds: dict[str, int] = {}
    for row in rows:
        stream = streams.get(row["probe"], row["probe"])
        bounds[stream] = max(bounds.get(stream, 0), _FACTOR * row["p99"], row["p99"] + _FLOOR)
    return bounds

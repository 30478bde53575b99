"""Time to recover from faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import functions as F

from chaosk.analysis.activity import activity
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.gaps import CELL
from chaosk.analysis.frames.health import prompt_deliveries, prompt_sends, under_replicated
from chaosk.analysis.glances import promptness
from chaosk.analysis.histograms import Key
from chaosk.analysis.must_fail_windows import meant
from chaosk.analysis.recovery_times import Cells, first_well, grouped
from chaosk.rundir.verdict import Measure

_FACTOR = 3
_FLOOR = 0.1
"""Seconds by which latency may always exceed the baseline's: on a quiet cluster, 2 ms may become 20 ms."""


class Recovery(Check):
    """Time from a fault's verified undo, and from its injection, until all streams were healthy for three seconds.

    D5. Healthy means that 99 % of the records due in that time were acknowledged, and given to each reader, in time.
    The bound is three times the 99th percentile of the baseline, or that percentile plus 100 ms, whichever is more. It
    also means that no broker named a partition without a leader or with fewer in-sync replicas than assigned. Records
    count when they were *due*, so a backlog in progress is not healthy yet. The figure is accurate to 0.25 s. If
    recovery did not happen before the run ended, the time is censored.
    """

    rule = "D5"
    title = "time until all is as in the baseline"
    counted = ("fault", "faults")
    metrics = ("recovery", "recovery_from_fault")
    tables = ("sends", "reads", "partitions", "faults")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``recovery`` and ``recovery_from_fault`` of each fault; None without a baseline or effect."""
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
    """Collect the promptness of all streams that worked in the baseline: four cells a second and stream."""
    known = {kind: _bounds(events, kind) for kind in ("produce", "consume")}
    if events.glances:
        sent = promptness.prompt_sends(events.rows, known["produce"])
        given = promptness.prompt_deliveries(events.rows, known["consume"])
        streams = [(f"produce {name}", cell, wanted, prompt) for name, cell, wanted, prompt in sent]
        streams += [(f"consume {name}", cell, wanted, prompt) for name, cell, wanted, prompt in given]
        return Cells(CELL, grouped(streams), promptness.under_replicated(events.rows))
    return _by_spark(events, known)


def _by_spark(events: Events, known: Mapping[str, Mapping[str, int]]) -> Cells:
    sending = prompt_sends(events, known["produce"]).withColumn("kind", F.lit("produce"))
    reading = prompt_deliveries(events, known["consume"]).withColumn("kind", F.lit("consume"))
    short = under_replicated(events).withColumn("kind", F.lit("short"))
    rows = events.gathered(sending.unionByName(reading).unionByName(short, allowMissingColumns=True)).collect()
    streams = [
        (f"{row['kind']} {row['stream']}", row["cell"], row["wanted"], row["prompt"])
        for row in rows
        if row["stream"] in known.get(row["kind"], ())
    ]
    return Cells(CELL, grouped(streams), {int(row["cell"]) for row in rows if row["kind"] == "short"})


def _bounds(events: Events, kind: str) -> dict[str, int]:
    """Return the permitted latency in nanoseconds by producer or reader, from its baseline's 99th percentile."""
    what = "ok" if kind == "produce" else "received"
    able = [w for w in events.case.workers if w.kind == kind and w.probe not in meant(events.case)]
    streams = {(w.probe, w.probe if kind == "produce" else w.reader) for w in able}
    bounds: dict[str, int] = {}
    for probe, stream in sorted(streams):
        usual = events.once(activity).quantile(Key(what, probe, "baseline"), 0.99)
        if usual is not None:
            bound = round(max(_FACTOR * usual, usual + _FLOOR) * 1e9)
            bounds[stream] = max(bounds.get(stream, 0), bound)
    return bounds

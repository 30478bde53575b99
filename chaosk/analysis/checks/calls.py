"""Duration of calls to the cluster, and stretches without an answered call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, meaning
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.figures import bucket
from chaosk.analysis.frames.gaps import SHORTEST
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.histograms import Histograms, Key, tally
from chaosk.analysis.outages import Outage
from chaosk.analysis.windows import Segments
from chaosk.rundir.verdict import Measure

_WHO = ("probe", "incarnation", "operation")


class Calls(Check):
    """Stretches without an answered call of a probe; numbers of answered and failed calls, and their duration.

    D1, D3 and D4 for probes that call the cluster. A stretch begins with the first call after an answered one, and ends
    with the next answer. It counts from one second on, whether calls failed or one hung. It is censored if no later
    call was answered. A call belongs to the windows in which it was made. A call in progress when the probe ended took
    at least until then, and counts neither as answered nor as failed.

    Columns: probe, incarnation, operation, seconds, censored, calls (in the stretch), failed, errors (their names).
    """

    rule = "D3"
    also = ("D1", "D4")
    title = "calls to the cluster"
    counted = ("stretch in which no call was answered", "stretches in which no call was answered")
    metrics = ("call_time_p50", "call_time_max", "call_unavailability", "calls_answered", "calls_failed")
    tables = ("calls",)
    order = ("began", *_WHO)

    def glance(self, rows: EventRows) -> bool:
        """Return True if any call failed or took at least a second."""
        if not rows.count("calls"):
            return False
        took = rows.column("calls", "completed") - rows.column("calls", "began")
        failed = rows.column("calls", "outcome") != rows.code("outcome", "ok")
        return bool((failed | (took >= SHORTEST)).any())

    def violations(self, events: Events) -> DataFrame:
        """Return stretches as information; an objective decides whether they are too long."""
        answered = F.col("outcome") == "ok"
        before = Window.partitionBy(*_WHO).orderBy("began", "completed").rowsBetween(Window.unboundedPreceding, -1)
        stretch = F.coalesce(F.sum(answered.cast("long")).over(before), F.lit(0).cast("long"))
        return (
            events.table("calls")
            .withColumn("stretch", stretch)
            .groupBy(*_WHO, "stretch")
            .agg(
                F.min("began").alias("began"), F.max("completed").alias("ended"),
                (~F.bool_or(answered)).alias("censored"), F.count("*").alias("calls"),
                F.count_if(F.col("outcome") == "fail").alias("failed"),
                F.concat_ws(", ", F.array_sort(F.collect_set("error"))).alias("errors"),
            )
            .filter(F.col("ended") - F.col("began") >= SHORTEST)
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, *_WHO, "seconds", "censored", "calls", "failed", "errors")
        )  # fmt: skip

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``call_*`` and ``calls_*`` of each probe that makes calls."""
        probes = events.case.probes("call")
        if not probes:
            return
        seen = histograms(events)
        rows = found.rows("probe", "began", "ended", "censored")
        outages = [Outage(row["probe"], row["began"], row["ended"], row["censored"]) for row in rows]
        for probe in probes:
            yield from _figures(events, seen, probe)
            yield from _unavailability(events, [one for one in outages if one.probe == probe], probe)


def histograms(events: Events) -> Histograms:
    """Return counts and durations (nanoseconds) by outcome, probe and window; outcome ``any`` includes all."""
    found = Histograms(Counter(), Counter(), {}, {})
    segments = Segments(events.case.windows)
    rows = (
        events.table("calls")
        .withColumn("took", F.col("completed") - F.col("began"))
        .groupBy("probe", "outcome", *segments.of(F.col("began")), bucket(F.col("took")).alias("bucket"))
        .agg(F.count("*").alias("count"), F.max("took").alias("longest"))
    )
    for row in events.gathered(rows).collect():
        for window in segments.windows(row):
            for what in (row["outcome"], "any"):
                tally(found, Key(what, row["probe"], window), row["bucket"], int(row["count"]), row["longest"])
    return found


def _figures(events: Events, seen: Histograms, probe: str) -> Iterable[Measure]:
    for window in events.case.windows:
        well, badly, any_ = (Key(what, probe, window.name) for what in ("ok", "fail", "any"))
        yield measured("calls_answered", probe, window.name, float(seen.counts[well]))
        yield measured("calls_failed", probe, window.name, float(seen.counts[badly]))
        yield measured("call_time_p50", probe, window.name, seen.quantile(well, 0.5))
        yield measured("call_time_max", probe, window.name, seen.longest_of(any_))


def _unavailability(events: Events, outages: list[Outage], probe: str) -> Iterable[Measure]:
    for window in events.case.windows:
        mine = [one for one in outages if one.began <= window.ended and window.began <= one.ended]
        longest = max((one.ended - one.began for one in mine), default=0) / 1e9
        yield measured("call_unavailability", probe, window.name, longest, censored=any(o.censored for o in mine))

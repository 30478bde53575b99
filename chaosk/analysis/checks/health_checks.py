"""Availability of brokers according to health checks."""

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

_WHO = ("probe", "incarnation", "broker")


class HealthChecks(Check):
    """Stretches in which every health check of a broker failed, and latency of the successful checks.

    D1, D3 and D4 for brokers. A health check is an attempt to connect. It succeeds when the connection is established,
    or when the broker answers if the probe sends a request. A stretch begins when its first failed check was due, and
    ends when the next check succeeded. It counts from one second on, and is censored if no later check succeeded.
    Availability is the share of successful checks; latency counts from the due time. Checks that this machine could not
    attempt are excluded. A check belongs to the windows in which it was due.

    Columns: probe, incarnation, broker, seconds, censored, failed (checks), errors (their names).
    """

    rule = "D3"
    also = ("D1", "D4")
    title = "brokers as health checks saw them"
    counted = ("stretch in which health checks failed", "stretches in which health checks failed")
    metrics = (
        "connect_availability",
        "connect_unavailability",
        "connect_latency_p50",
        "connect_latency_p99",
        "connect_latency_max",
    )
    tables = ("health_checks",)
    order = ("began", *_WHO)

    def glance(self, rows: EventRows) -> bool:
        """Return True if any health check failed."""
        if not rows.count("health_checks"):
            return False
        return bool((rows.column("health_checks", "outcome") == rows.code("outcome", "fail")).any())

    def violations(self, events: Events) -> DataFrame:
        """Return stretches as information; an objective decides whether they are too long."""
        failed = F.col("outcome") == "fail"
        in_turn = Window.partitionBy(*_WHO).orderBy("due", "closed").rowsBetween(Window.unboundedPreceding, 0)
        tried = events.table("health_checks").filter(F.col("outcome") != "info")
        rounds = tried.withColumn("round", F.sum((~failed).cast("long")).over(in_turn))
        following = F.lead("succeeded").over(Window.partitionBy(*_WHO).orderBy("round"))
        return (
            rounds.groupBy(*_WHO, "round")
            .agg(
                F.min(F.when(failed, F.col("due"))).alias("began"), F.max("closed").alias("last"),
                F.min(F.when(~failed, F.coalesce("answered", "connected"))).alias("succeeded"),
                F.count_if(failed).alias("failed"),
                F.concat_ws(", ", F.array_sort(F.collect_set("error"))).alias("errors"),
            )
            .withColumn("ended", F.coalesce(following, "last"))
            .withColumn("censored", following.isNull())
            .filter((F.col("failed") > 0) & (F.col("ended") - F.col("began") >= SHORTEST))
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, *_WHO, "seconds", "censored", "failed", "errors")
        )  # fmt: skip

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``connect_*`` of each probe, and of each broker that it checked."""
        if not events.case.probes("health_check"):
            return
        seen = histograms(events)
        subjects = sorted({key.probe for key in seen.counts} | set(events.case.probes("health_check")))
        yield from _figures(events, seen, subjects)
        rows = found.rows("probe", "broker", "began", "ended", "censored")
        outages = [
            Outage(subject, row["began"], row["ended"], row["censored"])
            for row in rows
            for subject in subjects_of(row["probe"], row["broker"])
        ]
        yield from _unavailability(events, outages, subjects)


def subjects_of(probe: str, broker: int) -> tuple[str, str]:
    """Return the subjects of a check's figures: the probe, and the broker as seen by that probe."""
    return probe, f"{probe}, broker {broker}"


def histograms(events: Events) -> Histograms:
    """Return counts and latencies (nanoseconds) by outcome, subject and window."""
    found = Histograms(Counter(), Counter(), {}, {})
    segments = Segments(events.case.windows)
    tried = events.table("health_checks")  # first of all, since no column can be named before Spark has started
    took = F.when(F.col("outcome") == "ok", F.coalesce("answered", "connected") - F.col("due"))
    rows = (
        tried.withColumn("took", took)
        .groupBy(
            "probe", "broker", "outcome", *segments.of(F.col("due")),
            bucket(F.col("took")).alias("bucket"),
        )
        .agg(F.count("*").alias("count"), F.max("took").alias("longest"))
    )  # fmt: skip
    for row in events.gathered(rows).collect():
        for window in segments.windows(row):
            for subject in subjects_of(row["probe"], row["broker"]):
                key = Key(row["outcome"], subject, window)
                tally(found, key, row["bucket"], int(row["count"]), row["longest"])
    return found


def _figures(events: Events, seen: Histograms, subjects: Iterable[str]) -> Iterable[Measure]:
    for subject in subjects:
        for window in events.case.windows:
            well, badly = (Key(outcome, subject, window.name) for outcome in ("ok", "fail"))
            tried = seen.counts[well] + seen.counts[badly]
            share = seen.counts[well] / tried if tried else None
            yield measured("connect_availability", subject, window.name, share)
            yield measured("connect_latency_p50", subject, window.name, seen.quantile(well, 0.5))
            yield measured("connect_latency_p99", subject, window.name, seen.quantile(well, 0.99))
            yield measured("connect_latency_max", subject, window.name, seen.longest_of(well))


def _unavailability(events: Events, outages: list[Outage], subjects: Iterable[str]) -> Iterable[Measure]:
    for subject in subjects:
        for window in events.case.windows:
            mine = [o for o in outages if o.probe == subject and o.began <= window.ended and window.began <= o.ended]
            longest = max((o.ended - o.began for o in mine), default=0) / 1e9
            open_end = any(o.censored for o in mine)
            yield measured("connect_unavailability", subject, window.name, longest, censored=open_end)

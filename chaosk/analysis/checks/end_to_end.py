"""End-to-end latency of records, from the time they were due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import functions as F

from chaosk.analysis.activity import activity
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.counts import measured
from chaosk.analysis.events import Events
from chaosk.analysis.frames.absent import EXCUSED
from chaosk.analysis.frames.figures import bucket
from chaosk.analysis.frames.lacking import lacking
from chaosk.analysis.histograms import Histograms, Key, Waiting, bounded_longest, bounded_quantile, tally
from chaosk.analysis.screens import screened
from chaosk.analysis.windows import Segments
from chaosk.rundir.verdict import Measure


class EndToEnd(Check):
    """Time from the moment a record was *due* to its first delivery to a group (or to a consumer without one).

    D4. It counts for the consumer that was given the record first; later deliveries are ``redelivery``. An acknowledged
    record that a group is owed and was never given, because it was lost or because the run ended before, counts for
    each of its consumers as slower than all that were delivered. If a percentile is among such records, the latency is
    at least (censored) what as large a share of all took or waited, up to the end of the settling. A record belongs to
    the windows in which it was due. Percentiles are accurate to 0.1 %, the maximum is exact.
    """

    rule = "D4"
    title = "latency from the intended time of a send to its delivery"
    counted = ("delivery", "deliveries")
    metrics = ("end_to_end_p99", "end_to_end_max")
    tables = ("sends", "reads", "assignments", "fetched", "seeks", "audit", "audit_ranges")

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:  # noqa: ARG002 - no rows of its own
        """Yield ``end_to_end_p99`` and ``end_to_end_max`` of each consumer and window; None without records."""
        seen = events.once(activity)
        lacked = undelivered(events) if events.case.probes("consume") else seen
        readers = dict(events.case.consumers)
        for probe in events.case.probes("consume"):
            for window in events.case.windows:
                key = Key("received", probe, window.name)
                waiting = Waiting(lacked, (Key("undelivered", readers[probe], window.name),))
                for metric, (value, censored) in (
                    ("end_to_end_p99", bounded_quantile(seen, key, waiting, 0.99)),
                    ("end_to_end_max", bounded_longest(seen, key, waiting)),
                ):
                    yield measured(metric, probe, window.name, value, censored=censored)


def undelivered(events: Events) -> Histograms:
    """Return the time that records waited which a reader is owed and was never given, by reader and window."""
    found = Histograms(Counter(), Counter(), {}, {})
    screens = events.once(screened)
    if not screens["missing"] and not screens["lacking"]:
        return found
    segments, lacked = Segments(events.case.windows), events.frame(lacking)  # starts Spark, before a column is named
    ended = F.lit(events.case.run.ended)
    waited = F.least(ended, "dismissed_at") - F.col("scheduled")  # ignores nulls
    rows = (
        lacked.filter(F.col("severity") != EXCUSED)
        .withColumn("waited", waited)
        .groupBy("reader", *segments.of(F.col("scheduled")), bucket(F.col("waited")).alias("bucket"))
        .agg(F.count("*").alias("count"), F.max("waited").alias("longest"))
    )
    for row in events.gathered(rows).collect():
        for window in segments.windows(row):
            tally(found, Key("undelivered", row["reader"], window), row["bucket"], int(row["count"]), row["longest"])
    return found

"""Stretches without an acknowledgement."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.activity import activity
from chaosk.analysis.check_rows import CheckRows, FewRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, informing, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.outages import produce_outages
from chaosk.analysis.glances.outages import produce_outages as at_a_glance
from chaosk.analysis.histograms import total
from chaosk.analysis.outages import Outage, awake, unavailability
from chaosk.rundir.verdict import Measure


class ProduceUnavailability(Check):
    """Time between two acknowledgements of a producer's process and partition, while sends were waiting.

    D1. It counts from one second on, or from ten times the 99th percentile of such stretches in the baseline if that is
    longer. It begins at the last acknowledgement, or when the first waiting send was due if that is later: time with
    nothing to send does not count. A stretch that lasts until the last outcome is censored: it lasted at least that
    long. The figures exclude the time in which the producer itself stalled, according to its heartbeats.

    Columns: producer, producer_incarnation, topic, partition, seconds, censored, failed and uncertain (sends with that
    outcome in this time), errors (their names).
    """

    rule = "D1"
    title = "stretches without an acknowledgement"
    counted = ("stretch without an acknowledgement", "stretches without an acknowledgement")
    metrics = ("unavailability", "unavailable_total")
    tables = ("sends",)
    as_recorded = True
    order = ("began", *PLACE, "producer", "producer_incarnation")

    def plain(self, events: Events) -> FewRows:
        """Return outages as information; an objective decides whether they are too long."""
        who = ("producer", "producer_incarnation", *PLACE)
        return informing(
            {name: row[name] for name in ("began", "ended", *who)}
            | {"seconds": (row["ended"] - row["began"]) / 1e9}
            | {name: row[name] for name in ("censored", "failed", "uncertain", "errors")}
            for row in at_a_glance(events.rows)
        )

    def violations(self, events: Events) -> DataFrame:
        """Return the same with Spark."""
        return (
            produce_outages(events)
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(
                *MEANING, "producer", "producer_incarnation", *PLACE, "seconds", "censored", "failed", "uncertain",
                "errors",
            )
        )  # fmt: skip

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``unavailability`` and ``unavailable_total`` of each producer and window; None without sends."""
        rows = found.rows("producer", "began", "ended", "censored")
        outages = [Outage(row["producer"], row["began"], row["ended"], row["censored"]) for row in rows]
        known = unavailability(awake(events.case, outages), events.case.probes("produce"), events.case.windows)
        seen = events.once(activity)
        for measure in known:
            tried = measure.value or total(seen, ("ok", "fail", "info"), measure.subject, measure.window)
            yield measure if tried else measure.model_copy(update={"value": None})

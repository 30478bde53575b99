"""When nothing could be written."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.outages import produce_outages
from chaosk.analysis.histograms import histograms, total
from chaosk.analysis.outages import Outage, awake, unavailability
from chaosk.rundir.verdict import Measure


class ProduceUnavailability(Check):
    """From one acknowledgement to the next of a producer's process and partition, while sends were waiting.

    D1. It counts from a second on, or from ten times the 99th percentile of such stretches in the baseline if that is
    more. It begins when the first send that waited was due, if that was after the last acknowledgement: a producer
    with nothing to send is not kept from sending. What was still going on at the last outcome is censored: it lasted
    at least that long. The figures leave out the time in which the producer itself stood still, as its heartbeats say.

    Columns: producer, producer_incarnation, topic, partition, seconds, censored, failed and uncertain (sends with that
    outcome meanwhile), errors (their names).
    """

    rule = "D1"
    title = "stretches without an acknowledgement"
    counted = ("stretch without an acknowledgement", "stretches without an acknowledgement")
    tables = ("sends",)
    as_recorded = True
    order = ("began", *PLACE, "producer", "producer_incarnation")

    def violations(self, events: Events) -> DataFrame:
        """Rows of outages; they are information, an objective decides whether they are too long."""
        return (
            produce_outages(events)
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(
                *MEANING, "producer", "producer_incarnation", *PLACE, "seconds", "censored", "failed", "uncertain",
                "errors",
            )
        )  # fmt: skip

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``unavailability`` and ``unavailable_total`` of each producer and window; None without anything to send."""
        rows = found.rows("producer", "began", "ended", "censored")
        outages = [Outage(row["producer"], row["began"], row["ended"], row["censored"]) for row in rows]
        known = unavailability(awake(events.case, outages), events.case.probes("produce"), events.case.windows)
        seen = events.once(histograms)
        for measure in known:
            tried = measure.value or total(seen, ("ok", "fail", "info"), measure.subject, measure.window)
            yield measure if tried else measure.model_copy(update={"value": None})

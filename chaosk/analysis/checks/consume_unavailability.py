"""When nothing was delivered although there was something to read."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.found import Found
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.outages import consume_outages
from chaosk.analysis.outages import Outage, awake, unavailability
from chaosk.rundir.verdict import Measure


class ConsumeUnavailability(Check):
    """From one delivery of a partition to the next, to a group or to a consumer without one, while records waited.

    D2. It counts from a second on, and begins when the first record that waited was acknowledged, if that was after
    the last delivery. Waiting are records beyond all that the reader was given, also those that it never gets because
    they are lost: a consumer that stays with a leader which was deposed gets nothing, whatever becomes of the records.
    What is delivered again has not waited. Before the first delivery of a partition it begins with that the reader was
    given the partition, and what was sent before that has waited only if the reader gets it at last. A group's outage
    is one of each of its probes. Records that were never delivered although they are in the log make it censored: it
    lasted at least until the consumers were told to end. The figures leave out the time in which the consumer itself
    stood still, as its heartbeats say.

    Columns: reader (the group, or the probe without one), topic, partition, seconds, censored.
    """

    rule = "D2"
    title = "stretches without a delivery although records waited"
    counted = ("stretch without a delivery", "stretches without a delivery")
    tables = ("reads", "sends", "audit", "assignments")
    order = ("began", *PLACE, "reader")

    def violations(self, events: Events) -> DataFrame:
        """Rows of outages; they are information, an objective decides whether they are too long."""
        return (
            consume_outages(events)
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, "reader", *PLACE, "seconds", "censored")
        )

    def measures(self, events: Events, found: Found) -> Iterable[Measure]:
        """``unavailability`` and ``unavailable_total`` of each consumer and window."""
        rows = found.rows("reader", "began", "ended", "censored")
        outages = [
            Outage(probe, row["began"], row["ended"], row["censored"])
            for probe, reader in events.case.consumers
            for row in rows
            if row["reader"] == reader
        ]
        return unavailability(awake(events.case, outages), events.case.probes("consume"), events.case.windows)

"""Stretches without a delivery although there were records to read."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import CheckRows, FewRows
from chaosk.analysis.checks._contract import INFORMATION, MEANING, Check, informing, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.outages import consume_outages
from chaosk.analysis.glances.outages import consume_outages as at_a_glance
from chaosk.analysis.outages import Outage, awake, unavailability
from chaosk.rundir.verdict import Measure


class ConsumeUnavailability(Check):
    """Time between two deliveries of a partition to a group, or to a consumer without one, while records waited.

    D2. It counts from one second on. It begins at the last delivery, or when the first waiting record was acknowledged
    if that is later. Records beyond all that the reader was given are waiting, also if they are lost later: a consumer
    that stays with a deposed leader gets nothing, regardless of the records' fate. A redelivered record has not waited.
    Before the first delivery of a partition, the stretch begins with the assignment, and a record sent before that has
    waited only if the reader gets it eventually. An outage of a group is one of each of its probes. It is censored if
    records in the log were never delivered: it lasted at least until the consumers were stopped. The figures exclude
    the time in which the consumer itself stalled, according to its heartbeats.

    Columns: reader (the group, or the probe without one), topic, partition, seconds, censored.
    """

    rule = "D2"
    title = "stretches without a delivery although records waited"
    counted = ("stretch without a delivery", "stretches without a delivery")
    metrics = ("unavailability", "unavailable_total")
    tables = ("reads", "sends", "audit", "assignments")
    order = ("began", *PLACE, "reader")

    def plain(self, events: Events) -> FewRows:
        """Return outages as information; an objective decides whether they are too long."""
        return informing(
            {name: row[name] for name in ("began", "ended", "reader", *PLACE)}
            | {"seconds": (row["ended"] - row["began"]) / 1e9, "censored": row["censored"]}
            for row in at_a_glance(events.rows, events.whole.rows)
        )

    def violations(self, events: Events) -> DataFrame:
        """Return the same with Spark."""
        return (
            consume_outages(events)
            .withColumns(meaning(otherwise=INFORMATION))
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, "reader", *PLACE, "seconds", "censored")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Return ``unavailability`` and ``unavailable_total`` of each consumer and window."""
        rows = found.rows("reader", "began", "ended", "censored")
        outages = [
            Outage(probe, row["began"], row["ended"], row["censored"])
            for probe, reader in events.case.consumers
            for row in rows
            if row["reader"] == reader
        ]
        return unavailability(awake(events.case, outages), events.case.probes("consume"), events.case.windows)

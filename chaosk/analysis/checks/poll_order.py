"""A consumer that goes backwards."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, without_seek
from chaosk.analysis.frames.steps import steps


class PollOrder(Check):
    """Within one assignment, and without a seek, a consumer was given a record at or before the one it had last.

    B2 after the definitions that Jepsen's Kafka workload made known (``nonmonotonic-poll``, ``int-`` within one
    poll). Going back across a rebalance is redelivery.

    Columns: probe, incarnation, group, assignment, topic, partition, before (the offset delivered last), offset (the
    one that came then), before_poll, poll, n (delivery order within the process).
    """

    rule = "B2"
    title = "consumers that go backwards"
    counted = ("delivery out of order", "deliveries out of order")
    tables = ("reads", "seeks", "incarnations")
    order = (*MEMBER, "n")
    screens = ("backward",)

    def violations(self, events: Events) -> DataFrame:
        """Rows of deliveries that do not lie after the one before."""
        back = events.frame(steps).filter(F.col("offset") <= F.col("before"))
        return (
            without_seek(events, back)
            .withColumns(meaning(otherwise=("violation", None)))
            .withColumns(during("before_at", "at"))
            .select(*MEANING, *MEMBER, "group", "assignment", *PLACE, "before", "offset", "before_poll", "poll", "n")
        )

"""Consumers that go backwards."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, without_seek
from chaosk.analysis.frames.rewinds import left_to_rewinds
from chaosk.analysis.frames.steps import steps
from chaosk.analysis.frames.truncations import excused


class PollOrder(Check):
    """Within one assignment, and without a seek, a consumer was given an offset at or before its previous one.

    B2, after the definitions of Jepsen's Kafka workload (``nonmonotonic-poll``, ``int-`` within one poll). Going back
    across a rebalance is redelivery, and going back from the last record of a transaction that did not commit is judged
    by ``abort_rewind``. Allowed if the log was seen to be truncated at or before the previous record.

    Columns: probe, incarnation, group, assignment, topic, partition, before (the offset delivered last), offset (the
    one delivered next), before_poll, poll, n (delivery order within the process).
    """

    rule = "B2"
    title = "consumers that go backwards"
    counted = ("delivery out of order", "deliveries out of order")
    tables = ("reads", "seeks", "transactions", "incarnations")
    by_absence_of = ("seeks",)
    order = (*MEMBER, "n")
    screens = ("backward",)

    def violations(self, events: Events) -> DataFrame:
        """Return deliveries at or before the previous offset."""
        back = events.frame(steps).filter(F.col("offset") <= F.col("before"))
        return (
            left_to_rewinds(events, without_seek(events, back))
            .withColumns(
                meaning(
                    *excused(events, F.col("before"), F.col("before_at"), later=F.col("at")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("before_at", "at"))
            .select(*MEANING, *MEMBER, "group", "assignment", *PLACE, "before", "offset", "before_poll", "poll", "n")
        )

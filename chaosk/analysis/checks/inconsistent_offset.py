"""Offsets at which different records were seen."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.placements import crowded, placements
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.takeovers import given_way, with_elections
from chaosk.analysis.frames.truncations import excused


class InconsistentOffset(Check):
    """At one offset of one partition, different observers saw different records.

    A1, after the definitions of Jepsen's Kafka workload (``inconsistent-offsets``). Observers are readers, the tail
    audit, and acknowledgements, which name the assigned offset (an acked-offset mismatch).

    Allowed if all but one of the records are known only from acknowledgements with ``acks`` other than all, and another
    leader was seen to be elected: the log was truncated and its offsets reused. Unproven if the leader was not
    observed. Two records that were both *read* at one offset, or acknowledged with ``acks=all``, are allowed only if
    the log was seen to be truncated at or before it: by an unclean election, or by the loss of power of all hosts with
    that record. An acknowledgement with ``acks=0`` names no offset.

    Columns: topic, partition, offset, one and other (the lowest and highest record there, as producer/incarnation/seq),
    read (number of sightings in the log), acknowledged (number of acknowledgements).
    """

    rule = "A1"
    title = "offsets that hold different records"
    counted = ("offset with different records", "offsets with different records")
    tables = ("sends", "reads", "audit", "incarnations", "partitions")
    order = (*PLACE, "offset")
    screens = ("crowded",)

    def violations(self, events: Events) -> DataFrame:
        """Return offsets at which more than one value was seen."""
        where = [*PLACE, "offset"]
        sightings = with_settings(
            events, events.near(events.frame(crowded)).join(placements(events), on=where, how="inner")
        )
        value = F.struct(*VALUE)
        firm = F.when(F.col("seen") | (F.col("acks") == -1), value)
        at_offset = sightings.groupBy(*where).agg(
            F.min(value).alias("low"), F.max(value).alias("high"),
            F.min(firm).alias("firm_low"), F.max(firm).alias("firm_high"),
            F.count_if("seen").alias("read"), F.count_if(~F.col("seen")).alias("acknowledged"),
        )  # fmt: skip
        alone = F.coalesce(F.col("firm_low") == F.col("firm_high"), F.lit(True))
        return (
            with_elections(events, at_offset)
            .withColumns({"one": _named("low"), "other": _named("high")})
            .withColumns(
                meaning(
                    *excused(events, F.col("offset")),
                    *given_way(alone, F.col("elected").isNotNull()),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during(None, None))
            .select(*MEANING, *where, "one", "other", "read", "acknowledged")
        )


def _named(column: str) -> Column:
    """Format a value as producer/incarnation/seq."""
    value = F.col(column)
    return F.concat_ws("/", *(value[name].cast("string") for name in VALUE))

"""Comparison of a partition's replicas at the offsets of missing records."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE


def with_agreement(events: Events, places: DataFrame) -> DataFrame:
    """Add ``replicas`` to rows with a place and an ``offset``: agree, differ, or null if unknown."""
    told = F.when(F.col("same"), "agree").when(~F.col("same"), "differ")
    held = events.table("copies").select(
        *(F.col(name).alias(f"held_{name}") for name in (*PLACE, "first", "last")), told.alias("replicas")
    )
    here = [F.col(name) == F.col(f"held_{name}") for name in PLACE]
    within = F.col("offset").between(F.col("held_first"), F.col("held_last"))
    return places.join(events.near(held), on=[*here, within], how="left")

"""Gaps in a stream of completions: stretches of a second or more in which none happened, exact and without sorting."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

SHORTEST = 1_000_000_000
"""Nanoseconds from which on a gap counts."""
_CELL = SHORTEST // 2


def gaps(completions: DataFrame, keys: tuple[str, ...], time: str) -> DataFrame:
    """By ``keys`` the gaps of ``SHORTEST`` or more between neighbours in ``time``: columns ``opened``, ``closed``.

    Only the first and last completion of each half-second cell are kept: neighbours that are a second apart lie in
    different cells, so no gap is missed and none is rounded.
    """
    cells = (
        completions.groupBy(*keys, F.floor(F.col(time) / F.lit(_CELL)).alias("cell"))
        .agg(F.min(time).alias("first"), F.max(time).alias("last"))
    )  # fmt: skip
    following = F.lead("first").over(Window.partitionBy(*keys).orderBy("cell"))
    return (
        cells.withColumn("closed", following)
        .filter(F.col("closed") - F.col("last") >= SHORTEST)
        .select(*keys, F.col("last").alias("opened"), "closed")
    )

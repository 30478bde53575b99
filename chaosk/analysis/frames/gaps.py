"""Gaps in a stream of completions: stretches of a second or more in which none happened, exact and without sorting."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

SHORTEST = 1_000_000_000
"""Nanoseconds from which on a gap counts."""
CELL = SHORTEST // 4
"""Nanoseconds of one cell."""


def cell(time: str) -> Column:
    """The number of the cell that a time lies in."""
    return F.floor(F.col(time) / F.lit(CELL))


def gaps(completions: DataFrame, keys: tuple[str, ...], time: str) -> DataFrame:
    """By ``keys`` the gaps of ``SHORTEST`` or more between neighbours in ``time``: columns ``opened``, ``closed``.

    Only the first and last completion of each cell are kept: neighbours that are a second apart lie in different
    cells, so no gap is missed and none is rounded.
    """
    cells = completions.groupBy(*keys, cell(time).alias("cell")).agg(
        F.min(time).alias("first"), F.max(time).alias("last")
    )
    return gaps_of(cells, keys)


def gaps_of(cells: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """The same from the ``first`` and ``last`` completion of each cell, or of parts of cells that do not overlap."""
    following = F.lead("first").over(Window.partitionBy(*keys).orderBy("first", "last"))
    return (
        cells.withColumn("closed", following)
        .filter(F.col("closed") - F.col("last") >= SHORTEST)
        .select(*keys, F.col("last").alias("opened"), "closed")
    )

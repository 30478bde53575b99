"""Gaps of a second or more in a stream of completions, exact and without sorting all of them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

SHORTEST = 1_000_000_000
"""Shortest gap that counts, in nanoseconds."""
CELL = SHORTEST // 4
"""Length of a cell in nanoseconds."""


def cell(time: str) -> Column:
    """Return the number of the cell that contains a time."""
    return F.floor(F.col(time) / F.lit(CELL))


def gaps(completions: DataFrame, keys: tuple[str, ...], time: str) -> DataFrame:
    """Return by ``keys`` the gaps of ``SHORTEST`` or more between neighbours in ``time``: ``opened``, ``closed``.

    Only the first and last completion of each cell are kept. Neighbours that are a second apart are in different cells,
    so no gap is missed and none is rounded.
    """
    cells = completions.groupBy(*keys, cell(time).alias("cell")).agg(
        F.min(time).alias("first"), F.max(time).alias("last")
    )
    return gaps_of(cells, keys)


def gaps_of(cells: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """Return the gaps from the ``first`` and ``last`` completion of each cell, or of disjoint parts of cells."""
    following = F.lead("first").over(Window.partitionBy(*keys).orderBy("first", "last"))
    return (
        cells.withColumn("closed", following)
        .filter(F.col("closed") - F.col("last") >= SHORTEST)
        .select(*keys, F.col("last").alias("opened"), "closed")
    )

"""Quantiles by integer histogram: the same figures however Spark splits the rows, and quick at any size."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

BITS = 11
"""Significant bits that a bucket keeps: figures are right to 0.05 %."""


def bucket(value: Column) -> Column:
    """A long as the lower bound of its bucket: its first ``BITS`` bits, the rest zero; negative ones as 0."""
    whole = F.greatest(value, F.lit(0))
    length = F.length(F.conv(whole.cast("string"), 10, 2))
    cut = F.greatest(length - F.lit(BITS), F.lit(0))
    return F.call_function("shiftleft", F.call_function("shiftright", whole, cut), cut)


def quantiles(histogram: DataFrame, keys: tuple[str, ...], wanted: Mapping[str, float]) -> DataFrame:
    """By ``keys`` the quantiles ``wanted`` (column name to share) of a histogram with columns bucket and count.

    A quantile is the lowest bucket that at least that share of the values does not exceed.
    """
    group = Window.partitionBy(*keys)
    upto = group.orderBy("bucket").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ranked = histogram.withColumn("upto", F.sum("count").over(upto)).withColumn("total", F.sum("count").over(group))
    figures = [
        F.min(F.when(F.col("upto") >= F.ceil(F.col("total") * F.lit(share)), F.col("bucket"))).alias(name)
        for name, share in wanted.items()
    ]
    return ranked.groupBy(*keys).agg(*figures, F.sum("count").alias("count")).select(*keys, *wanted, "count")

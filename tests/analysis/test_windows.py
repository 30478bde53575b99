"""To which windows a row belongs, told by segments: the same as each window says by itself."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from chaosk.analysis.case import TimeSpan
from chaosk.analysis.windows import Segments

pytestmark = pytest.mark.spark

WINDOWS = (
    TimeSpan("run", 10, 90), TimeSpan("baseline", 10, 20), TimeSpan("fault", 30, 60), TimeSpan("other", 50, 70),
    TimeSpan("at once", 40, 40), TimeSpan("after", 60, 90), TimeSpan("again", 30, 60),
)  # fmt: skip
TIMES = (None, 0, 9, *(time for cut in range(10, 100, 10) for time in (cut, cut + 1, cut + 9)))


def rows(
    spark: SparkSession, windows: tuple[TimeSpan, ...], *, moments: bool
) -> dict[tuple[int | None, int | None], str]:
    """By beginning and end the windows that Spark and the segments find."""
    pairs = [
        (began, ended) for began in TIMES for ended in TIMES if began == ended or not (moments or _odd(began, ended))
    ]
    segments = Segments(windows)
    ended = None if moments else F.col("ended")
    frame = spark.createDataFrame(pairs, "began long, ended long").select("*", *segments.of(F.col("began"), ended))
    return {(row["began"], row["ended"]): " ".join(segments.windows(row)) for row in frame.collect()}


def _odd(began: int | None, ended: int | None) -> bool:
    """No stretch of time: it lacks an end, or ends before it begins."""
    return began is None or ended is None or ended < began


@pytest.mark.parametrize("moments", [True, False])
def test_a_row_belongs_to_the_windows_it_overlaps(spark: SparkSession, *, moments: bool) -> None:
    """From a window's beginning on and before its end, around every cut; a row without a time belongs to none."""
    found = rows(spark, WINDOWS, moments=moments)
    assert len(found) == len(TIMES) if moments else len(found) > len(TIMES)
    for (began, ended), names in found.items():
        known = began is not None and ended is not None
        wanted = [w.name for w in WINDOWS if known and (ended or 0) >= w.began and (began or 0) < w.ended]
        assert names == " ".join(wanted), (began, ended)


def test_without_windows_there_are_none(spark: SparkSession) -> None:
    """A run that broke off before its first phase has no windows, and no row is in any."""
    assert set(rows(spark, (), moments=True).values()) == {""}


def test_many_windows_take_few_comparisons() -> None:
    """Of two hundred windows a moment is compared with no more than nine cuts, one in another."""
    windows = [TimeSpan(str(n), n, n + 1) for n in range(200)]
    column, _ = Segments(windows).of(F.lit(0))
    assert str(column).count("CASE WHEN") == 201
    deepest, depth = 0, 0
    for word in str(column).replace("(", " ").split():
        depth += {"CASE": 1, "END": -1}.get(word.rstrip(",)"), 0)
        deepest = max(deepest, depth)
    assert deepest <= 9

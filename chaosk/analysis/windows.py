"""Windows of a run as array expressions: to which of them a moment belongs."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from chaosk.analysis.case import Span

ALL = ""
"""Name of the window that holds every row, whenever it was."""


def windows_of(windows: Sequence[Span], time: Column) -> Column:
    """The names of the windows that a time lies in, as an array of strings: from ``began`` on, before ``ended``."""
    if not windows:
        return F.array().cast("array<string>")
    spans = [
        F.struct(F.lit(span.name).alias("name"), F.lit(span.began).alias("began"), F.lit(span.ended).alias("ended"))
        for span in windows
    ]
    inside = F.filter(F.array(*spans), lambda span: (time >= span["began"]) & (time < span["ended"]))
    return F.transform(inside, lambda span: span["name"])


def windows_and_all(windows: Sequence[Span], time: Column, every: str = ALL) -> Column:
    """The windows that a time lies in, and ``every`` in any case."""
    return F.array_append(F.coalesce(windows_of(windows, time), F.array().cast("array<string>")), F.lit(every))

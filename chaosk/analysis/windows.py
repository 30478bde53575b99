"""Windows of a run as expressions of Spark: to which of them a stretch of time belongs."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from chaosk.analysis.case import Span

ALL = ""
"""Name of the window that holds every row, whenever it was."""
_PER_MASK = 60
"""Windows that one long has bits for."""


def masks_of(windows: Sequence[Span], began: Column, ended: Column) -> dict[str, Column]:
    """The windows that a stretch of time overlaps as bits of one or more longs; a moment begins when it ends.

    Quick, because Spark compiles plain arithmetic.
    """
    masks: dict[str, Column] = {}
    for start in range(0, len(windows), _PER_MASK):
        mask = F.lit(0).cast("long")
        for bit, span in enumerate(windows[start : start + _PER_MASK]):
            overlaps = (ended >= span.began) & (began < span.ended)
            mask = mask + F.when(overlaps, F.lit(1 << bit).cast("long")).otherwise(0)
        masks[f"mask_{start // _PER_MASK}"] = mask
    return masks


def names_of(windows: Sequence[Span], masks: Sequence[int]) -> tuple[str, ...]:
    """The names of the windows whose bits are set."""
    return tuple(
        span.name for place, span in enumerate(windows) if masks[place // _PER_MASK] >> (place % _PER_MASK) & 1
    )

"""Number of acknowledged records of each topic: the denominator for losses and duplicates."""

from __future__ import annotations

from collections import Counter

import numpy as np
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames.sends import sends
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.written import written
from chaosk.analysis.windows import Segments

Counts = Counter[tuple[str, str]]
"""By topic and window."""


def acknowledged(events: Events) -> Counts:
    """Count written records by topic and the window in which they were sent; the whole run's count includes all."""
    if events.glances:
        return at_a_glance(events.rows)
    return by_spark(events)


def at_a_glance(rows: EventRows) -> Counts:
    """Count records of a small run, without Spark."""
    counts, wanted = Counts(), written(rows)
    topics, sent = (column[wanted] for column in rows.columns("sends", "topic", "invoked"))
    for topic in np.unique(topics).tolist():
        mine, name = sent[topics == topic], rows.word("topic", topic) or ""
        whole, *others = rows.case.windows
        counts[name, whole.name] = len(mine)
        for window in others:
            counts[name, window.name] = int(((mine >= window.began) & (mine < window.ended)).sum())
    return counts


def by_spark(events: Events) -> Counts:
    """Count records of any run with Spark."""
    whole, *others = events.case.windows
    segments, counts = Segments(others), Counts()
    rows = sends(events).filter("written").groupBy("topic", *segments.of(F.col("invoked"))).count()
    for row in events.gathered(rows).collect():
        for window in (whole.name, *segments.windows(row)):
            counts[row["topic"], window] += int(row["count"])
    return counts

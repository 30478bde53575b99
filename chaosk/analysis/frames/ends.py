"""Log ends reported by leaders, and offsets that the logs were proven to have reached before."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.proven import by_then
from chaosk.analysis.glances.asof import highest_before, last_until
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers

SURE = 5_000_000_000
"""Nanoseconds that a change of leadership may precede the first sample that names it."""
TERM = (*PLACE, "leader", "leader_epoch")
"""Columns that identify a broker's term as leader of a partition."""
_ALL = -1
"""acks=all as a number."""
_ANSWER = (*PLACE, "asked", "at", "log_end", "high_watermark")


def ends(events: Events) -> DataFrame:
    """Return one row per answer of a leader: place, leader, leader_epoch, at, log_end, high_watermark, firm, firm_at.

    ``firm``: the highest offset that was proven to be in the log before the leader was asked (``frames.proven``). A
    deposed broker that does not know it answers as a leader, and is not wrong: offsets proven later than ``SURE``
    before a later leader was first named do not count against it. The epoch is the broker's own, from right before the
    request for its offsets; an answer without it is excluded.
    """
    answers = _with_view(events).filter(F.col("leader") == F.col("asked"))
    terms = answers.select(*TERM).distinct()
    named = (
        events.table("partitions")
        .filter(F.col("leader_epoch").isNotNull())
        .groupBy(*PLACE, F.col("leader").alias("other"), F.col("leader_epoch").alias("later"))
        .agg(F.min("at").alias("named"))
    )
    over = (
        terms.join(events.near(named), on=list(PLACE), how="inner")
        .filter((F.col("later") > F.col("leader_epoch")) & (F.col("other") != F.col("leader")))
        .groupBy(*TERM)
        .agg(F.min("named").alias("named"))
    )
    judged = answers.join(events.near(over), on=list(TERM), how="left").withColumn(
        "until", F.least("asked_at", F.col("named") - F.lit(SURE))
    )
    return by_then(events, judged, "until").select(*TERM, "at", "log_end", "high_watermark", "firm", "firm_at")


def _with_view(events: Events) -> DataFrame:
    """Return answers of leaders with the broker's latest earlier metadata of the partition: leader, epoch, and when."""
    answers = events.table("offsets").filter("leader").select(*_ANSWER)
    view = F.struct("leader", "leader_epoch", F.col("at").alias("asked_at"))
    views = events.table("partitions").select(*PLACE, "asked", "at", view.alias("view"))
    until = Window.partitionBy(*PLACE, "asked").orderBy("at", F.col("view").isNull())
    return (
        answers.unionByName(views, allowMissingColumns=True)
        .withColumn("known", F.last("view", ignorenulls=True).over(until))
        .filter(F.col("view").isNull() & F.col("known.leader_epoch").isNotNull())
        .select(*_ANSWER, "known.*")
    )


def ended(rows: EventRows) -> tuple[Numbers, Numbers, Numbers]:
    """Return for glances log_end, high_watermark and the highest proven offset of each answer of a leader.

    Answers of deposed leaders are included.
    """
    leads = rows.column("offsets", "leader") == 1
    at, asked, places = (column[leads] for column in (*rows.columns("offsets", "at", "asked"), rows.places("offsets")))
    viewed, by = rows.columns("partitions", "at", "asked")
    view = last_until(_of_broker(rows.places("partitions"), by), viewed, _of_broker(places, asked), at)
    known = view != EMPTY
    log_end, high_watermark = (column[leads][known] for column in rows.columns("offsets", "log_end", "high_watermark"))
    return log_end, high_watermark, _proven(rows, places[known], viewed[view[known]])


def _proven(rows: EventRows, places: Numbers, times: Numbers) -> Numbers:
    acks = rows.column("incarnations", "acks")
    careful = np.isin(rows.processes("sends"), rows.processes("incarnations")[acks == _ALL])
    acked = careful & (rows.column("sends", "outcome") == rows.code("outcome", "ok"))
    acked &= rows.column("sends", "offset") >= 0
    keys = np.concatenate([rows.places("sends")[acked], rows.places("reads")])
    known = np.concatenate([rows.column("sends", "completed")[acked], rows.column("reads", "at")])
    offsets = np.concatenate([rows.column("sends", "offset")[acked], rows.column("reads", "offset")])
    return highest_before(keys, known, offsets, places, times)


def shown_in_the_end(rows: EventRows, places: Numbers) -> Numbers:
    """Return for glances the highest offset ever proven at each place; ``EMPTY`` for none."""
    return _proven(rows, places, np.full(len(places), np.iinfo(np.int64).max))


def _of_broker(places: Numbers, brokers: Numbers) -> Numbers:
    return (places << 20) | brokers

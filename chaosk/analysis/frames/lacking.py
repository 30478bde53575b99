"""Acknowledged records that a reader was not given, each with a severity and a reason."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED, absent
from chaosk.analysis.frames.debts import OWED, debts, while_away
from chaosk.analysis.frames.holdings import holdings, in_blind
from chaosk.analysis.frames.late_removals import in_time
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.truncations import SURE, excused, truncations
from chaosk.analysis.frames.values import given_to, values

BEFORE = "it lies before the position at which the reader began"
"""Reason why a record is not owed."""
ABSENT = "it was acknowledged while no process of the reader was there, which begins at the end each time"
"""Reason why a record is not owed by a reader that was restarted."""
OVERWRITTEN = "the log was cut back below the reader's position, and the reader went on from there"
"""Reason why a record of the new leader is unproven: a client that checks leader epochs notices the truncation."""
AHEAD = "automatic commits ran ahead of a process that was killed"
_ANSWER = ("severity", "reason")


def lacking(events: Events) -> DataFrame:
    """Return one row per acknowledged record and reader that reads its topic and was not given it.

    Columns: reader, the value, topic, partition, offset, rule (``A4`` with the log's answer if the log does not show
    the record; else ``B3`` or ``A5``), severity and reason (see ``checks._contract``, and ``EXCUSED``), reached (the
    highest offset that the reader was given), scheduled, invoked, completed, dismissed_at (see ``frames.debts``). The
    log's answer does not count if the record left the log only after the reader had passed it
    (``frames.late_removals``).
    """
    owed = events.frame(debts)
    readers = owed.select("reader", "topic").distinct()
    unread = (
        events.frame(values)
        .filter("written")
        .join(events.near(readers), on="topic", how="inner")
        .filter(~given_to(events.case, F.col("reader")))
        .select("reader", *VALUE, *PLACE, "offset", "scheduled", "invoked", "completed")
        .join(events.near(owed), on=list(OWED), how="inner")
    )
    answers = (F.col(name).alias(f"log_{name}") for name in _ANSWER)
    gone = events.frame(absent).filter("written").select(*VALUE, *answers, "lone")
    return (
        in_time(events, _marked(events, unread).join(gone, on=list(VALUE), how="left"))
        .withColumns(_answers(events))
        .withColumns(
            {
                "severity": F.coalesce("log_severity", "severity"),
                "reason": F.when(F.col("log_severity").isNotNull(), F.col("log_reason")).otherwise(F.col("reason")),
            }
        )
        .withColumn("rule", _rule())
        .select(
            "reader", *VALUE, *PLACE, "offset", "rule", *_ANSWER, "reached", "scheduled", "invoked", "completed",
            "dismissed_at",
        )
    )  # fmt: skip


def _marked(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``blind`` (a killed process may have had it), ``ahead`` (automatic commits passed it) and ``overwritten``."""
    group = ("group", *PLACE)
    committed = events.frame(holdings).select(*group, "committed", "automatic")
    named = rows.withColumn("group", F.col("reader")).join(events.near(committed), on=list(group), how="left")
    ahead = F.coalesce(
        F.col("automatic") & (F.col("offset") < F.col("committed")) & F.col("start").isNotNull(), F.lit(False)
    )
    marked = in_blind(events, named).withColumn("ahead", ahead).drop("group", "committed", "automatic")
    return _with_cuts(events, marked)


def _with_cuts(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``overwritten``: True if the reader had passed the offset before the record was sent."""
    if not events.once(truncations):
        return rows.withColumn("overwritten", F.lit(False))
    given = events.frame(polled).select(*OWED, "high", F.col("at").alias("given_at"))
    here = [F.col(f"row.{name}") == F.col(f"given.{name}") for name in OWED]
    before = (F.col("given.high") >= F.col("row.offset")) & (F.col("given.given_at") <= F.col("row.invoked"))
    key = ("reader", *VALUE)
    passed = (
        rows.alias("row")
        .join(events.near(given).alias("given"), on=[*here, before], how="left_semi")
        .select(*key, F.lit(True).alias("overwritten"))
    )
    return rows.join(passed, on=list(key), how="left").withColumn(
        "overwritten", F.coalesce("overwritten", F.lit(False))
    )


def _passed() -> Column:
    return F.coalesce(F.col("offset") <= F.col("reached"), F.lit(False))


def _sought() -> Column:
    return F.coalesce(F.col("offset") < F.col("beyond"), F.lit(False))


def _answers(events: Events) -> dict[str, Column]:
    case = events.case
    cut = [(F.col("overwritten") & holds, "unproven", OVERWRITTEN) for holds, *_ in excused(events, F.col("offset"))]
    began, unknown = F.col("start"), F.col("start").isNull()
    too_far = (F.col("offset") < began) & (F.col("invoked") > F.col("known_at"))
    excuse = [(too_far & holds, word, why) for holds, word, why in excused(events, F.col("offset"))]
    certain = F.coalesce(F.col("offset") >= F.col("lowest"), F.lit(False))
    sent_before = F.col("latest") & ~F.col("mixed") & (F.col("completed") <= F.col("since"))
    nobody = F.col("orphaned").isNotNull() & ~_passed()
    since = F.greatest("orphaned", F.col("completed"), F.lit(case.last_heal).cast("long"))
    waited = F.lit(case.run.ended) - since > F.col("patience")
    just_then = F.col("completed") >= F.col("dismissed_at") - F.lit(SURE)
    dismissed = F.col("dismissed").isNotNull() & ~_passed()
    return meaning(
        *excuse,
        (too_far, "unproven", "it was sent after the reader had begun beyond it, where the log had not come to yet"),
        (F.col("offset") < began, EXCUSED, BEFORE),
        (while_away(F.col("completed")), EXCUSED, ABSENT),
        (unknown & sent_before, EXCUSED, "it was acknowledged before the reader came, which begins at the end"),
        (dismissed & just_then, EXCUSED, "the reader had been ended on purpose"),
        (dismissed, "unproven", "the reader had not come so far when it was ended on purpose"),
        (F.col("ahead") & F.col("blind") & ~_sought(), EXCUSED, AHEAD),
        (nobody & waited, "violation", None),
        (nobody, "unproven", "no member of the reader held the partition in the end"),
        (F.col("reached").isNull(), "unproven", "the reader was given nothing of this partition"),
        (~_passed(), "unproven", "the reader had not come so far when the run ended"),
        (unknown & ~certain, "unproven", "where the reader began is not known"),
        *cut,
        (F.col("blind"), "unproven", "a process that was killed may have had it: its log is cut short"),
        (_sought(), "unproven", "a member sought in this partition"),
        otherwise=("violation", None),
    )  # fmt: skip


def _rule() -> Column:
    return F.when(F.col("log_severity").isNotNull(), "A4").when(F.col("reason") == AHEAD, "B3").otherwise(F.lit("A5"))

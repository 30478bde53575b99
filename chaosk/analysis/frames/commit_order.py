"""Order in which commits of a group and partition took effect, and the offset that a member had to find.

The highest commit is not always the newest one. Readers that assign themselves partitions may share a group, and each
commits its own position. The answers to asynchronous commits of one client may arrive in any order.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import among
from chaosk.analysis.events import Events
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.holdings import OWNED
from chaosk.analysis.frames.terms import TERM, elsewhere, terms

_TERM = (*MEMBER, *OWNED, "assignment")
_COMMITTER = ("committer", "its_incarnation")


def answered_commits(events: Events) -> DataFrame:
    """Return acknowledged commits: ``OWNED``, offset, invoked, completed, sure, followed, issued, and their member.

    ``sure`` is the earliest time at which the commit may have been asked for. ``issued`` is the time at which it was
    asked for; null for automatic commits. The member's columns are committer and its_incarnation. ``followed`` is the
    time at which the member's next commit was acknowledged; null for asynchronous commits, which need not wait for each
    other.
    """
    given = terms(events).select(*TERM, "given")
    sure = F.when(F.col("kind") != "auto", F.col("invoked")).otherwise(F.coalesce("given", F.lit(0)))
    in_turn = Window.partitionBy(*MEMBER, *OWNED).orderBy("completed", "offset")
    return (
        events.table("commits")
        .filter((F.col("outcome") == "ok") & F.col("completed").isNotNull())
        .join(events.near(given), on=list(TERM), how="left")
        .withColumn("sure", sure)
        .withColumn("followed", F.when(F.col("kind") != "async", F.lead("completed").over(in_turn)))
        .withColumn("issued", F.when(F.col("kind") != "auto", F.col("invoked")))
        .select(*OWNED, "offset", "invoked", "completed", "sure", "followed", "issued", *_committer())
    )


def superseded(newest: Column, asked: Column) -> Column:
    """Return a condition on an acknowledged commit: another one had certainly replaced it when a member asked.

    ``newest``: the latest time at which a commit that was acknowledged before ``asked`` was surely asked for.
    """
    return F.coalesce((F.col("completed") < newest) | (F.col("followed") < asked), F.lit(False))


def committed_before(events: Events) -> DataFrame:
    """Return what each term's member had to find when it asked for the committed offset.

    Without an answer to the probe, its client asks again by itself, after the partition was assigned. If the probe is
    configured to begin elsewhere, its first term of a partition is excluded, and those without an answer.

    Columns: ``MEMBER``, ``OWNED``, assignment, ``committed`` (the lowest offset that may have been the newest commit),
    ``perhaps`` (the highest such offset that was acknowledged before the request), ``found`` (the answer's offset),
    ``recommitted`` (the last time at which a commit of that offset was asked for before the answer). An answer settles
    which commit was the newest: if that may be the one found, ``committed`` and ``perhaps`` are its offset.
    """
    first = F.col("asked").isNull() | (F.col("assignment") == 0)
    own_choice = among(F.col("probe"), elsewhere(events.case)) & first
    asked = events.frame(terms).filter(F.col("group").isNotNull() & ~own_choice)
    when = asked.select(*_TERM, F.coalesce("asked", "given").alias("asked"), "found", "answered")
    done, open_ended = answered_commits(events), _open_ended(events).withColumn("open", F.lit(True))
    state = _acknowledged(done, events.near(when))
    in_turn = F.coalesce(F.col("invoked") < F.element_at("issues", F.struct(*_COMMITTER)), F.lit(False))
    certain = F.col("completed") < F.col("asked")
    older = superseded(F.col("newest"), F.col("asked"))
    commits = done.withColumn("open", F.lit(False)).unionByName(open_ended, allowMissingColumns=True)
    same = (F.col("offset") == F.col("found")) & (F.col("invoked") < F.col("answered"))
    replaced = in_turn | F.when(F.col("open"), F.col("invoked") < F.col("newest")).otherwise(older)
    newest = ~F.coalesce(replaced, F.lit(False))
    may_be = newest & (F.col("invoked") < F.col("asked"))
    answers = (
        commits.join(events.near(state), on=list(OWNED), how="inner")
        .groupBy(*_TERM, "found", "answered", "highest")
        .agg(
            F.min(F.when(may_be, F.col("offset"))).alias("lowest"),
            F.max(F.when(may_be & certain & ~F.col("open"), F.col("offset"))).alias("perhaps"),
            F.max(F.when(same & ~F.col("open"), F.col("invoked"))).alias("recommitted"),
            F.coalesce(F.bool_or(same & newest), F.lit(False)).alias("explained"),
        )
    )
    by_answer = F.when(F.col("explained"), F.least("found", "highest")).otherwise(F.col("highest"))
    known = F.col("answered").isNotNull()
    return answers.select(
        *_TERM,
        F.when(known, by_answer).otherwise(F.coalesce("lowest", "highest")).alias("committed"),
        F.when(known, by_answer).otherwise(F.coalesce("perhaps", "highest")).alias("perhaps"),
        "found",
        "recommitted",
    )


def _acknowledged(done: DataFrame, when: DataFrame) -> DataFrame:
    """Return the terms before which any commit was acknowledged: ``highest``, ``newest``, and ``issues``.

    ``issues`` maps each committer to the last time at which it issued one of these commits: a client issues its commits
    in turn, whatever the order of the answers. Automatic ones are excluded, since nobody knows when they were sent.
    """
    before = done.join(when, on=list(OWNED), how="inner").filter(F.col("completed") < F.col("asked"))
    by_committer = before.groupBy(*_TERM, "asked", "found", "answered", *_COMMITTER).agg(
        F.max("offset").alias("highest"), F.max("sure").alias("newest"), F.max("issued").alias("issued")
    )
    issue = F.struct(F.struct(*_COMMITTER).alias("key"), F.col("issued").alias("value"))
    return by_committer.groupBy(*_TERM, "asked", "found", "answered").agg(
        F.max("highest").alias("highest"),
        F.max("newest").alias("newest"),
        F.map_from_entries(F.collect_list(issue)).alias("issues"),
    )


def _open_ended(events: Events) -> DataFrame:
    """Return the commits of unknown fate."""
    rows = events.table("commits").filter(F.col("outcome") == "info")
    return rows.select(*OWNED, "offset", "invoked", *_committer())


def _committer() -> tuple[Column, ...]:
    return tuple(F.col(name).alias(other) for name, other in zip(MEMBER, _COMMITTER, strict=True))

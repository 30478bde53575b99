"""Regressions of committed offsets."""

from __future__ import annotations

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.commit_order import answered_commits, superseded
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.holdings import OWNED
from chaosk.analysis.frames.terms import TERM, by_hand, elsewhere, terms
from chaosk.analysis.frames.truncations import SURE, Truncation, excused
from chaosk.analysis.glances.before import Marks, earlier, highest, members, owned, passed_on
from chaosk.analysis.glances.rows import EMPTY, EventRows


class CommitRegression(Check):
    """The committed offset of a group and partition regresses, although no member went back.

    B6. ``kind`` is

    - ``lost_commit``: a member that was assigned the partition found no committed offset, or an older one than the
      group had acknowledged before the member asked. The same applies to the offset that the cluster reports after the
      run; that row names no process. The offset found counts as older if every commit of that offset was acknowledged
      before a later one was asked for. A commit of unknown fate is never assumed to be stored, but it explains the
      offset if it matches.
    - ``unrestored``: the same for an application that keeps its offsets in its own topic, and restored an older one.
    - ``self``: a member committed a lower offset than before in the same generation (if that is unknown: in the same
      assignment), without a seek in between. librdkafka (2.16) does this with automatic commits: it delays them while
      the group has no coordinator, and has been seen to send the older one after the newer one. A process that dies
      before the next commit reads the records in between again.
    - ``zombie``: a commit was acknowledged to a member although another one had been assigned the partition before the
      commit was asked for. Automatic commits are excluded, because the time at which they were sent is unknown.

    Members with manual assignment are not fenced by the group, so only the first kind applies to them. If members
    sought and a process has no end marker, an unrecorded commit may explain the offset: unproven. It is allowed if the
    log was seen to be truncated before the earlier committed offset: the records are gone, and later commits are lower.
    But committed offsets are in another log. So an offset that a member found below the truncation is allowed only if
    it was committed after it. It is unproven if a process of the group has no end marker.

    Columns: kind, probe, incarnation, group, topic, partition, assignment, offset (found or committed; None: there was
    none), committed (the highest offset acknowledged before; for a zombie its own offset).
    """

    rule = "B6"
    title = "committed offsets that go back"
    counted = ("commit gone back", "commits gone back")
    tables = ("commits", "fetched", "groups", "assignments", "seeks")
    by_absence_of = ("commits", "assignments", "seeks", "txn_offsets", "transactions")
    order = ("kind", *OWNED, "began", *MEMBER, "offset")
    suspects = ("librdkafka #4134", "librdkafka #1092", "librdkafka #2782")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a member found less than was committed, commits decrease, or a non-owner commits."""
        done = rows.column("commits", "outcome") == rows.code("outcome", "ok")
        return bool(done.any()) and (_found_less(rows) or _goes_down(rows) or _passed_on(rows, done))

    def violations(self, events: Events) -> DataFrame:
        """Return offsets, found or committed, that are lower than an earlier commit."""
        unended = {worker.group for worker in events.case.workers if (worker.probe, worker.incarnation) in
                   events.case.unended and worker.group}  # fmt: skip
        killed = among(F.col("group"), unended)
        unknown = F.col("sought") & killed
        cut = list(excused(events, F.col("committed") - 1, F.col("began"), later=F.col("ended")))
        of_cut = excused(events, F.col("committed") - 1, F.col("began"), later=F.col("ended"), also=_found_after)
        rows = lost_commits(events)
        for more in (own(events), zombies(events)):
            rows = rows.unionByName(more, allowMissingColumns=True)
        return (
            rows.join(events.near(_sought(events)), on=list(OWNED), how="left")
            .withColumns(
                meaning(
                    (
                        F.col("kind").isin("lost_commit", "unrestored") & unknown,
                        "unproven",
                        f"members sought, and {_UNRECORDED}",
                    ),
                    *of_cut,
                    *((holds & killed, "unproven", _UNRECORDED) for holds, *_ in cut),
                    otherwise=("violation", None),
                )
            )
            .select(*MEANING, "kind", *MEMBER, *OWNED, "assignment", "offset", "committed")
        )


def _sought(events: Events) -> DataFrame:
    """Return the partitions in which a group's member sought, or was to begin elsewhere, with ``sought``.

    A member that begins elsewhere seeks, even if the cluster did not answer where, so that no row says so.
    """
    seeks = events.table("seeks").join(
        events.near(events.table("incarnations").select(*MEMBER, "group")), on=list(MEMBER), how="inner"
    )
    chosen = events.table("assignments").filter(among(F.col("probe"), elsewhere(events.case)))
    return seeks.select(*OWNED).unionByName(chosen.select(*OWNED)).distinct().withColumn("sought", F.lit(True))


_UNRECORDED = "a process that was killed may have committed without writing it down"


def _found_after(cut: Truncation) -> Column:
    """Return a condition: the offset is one that members commit after a truncation, rather than one before it."""
    recommitted = F.coalesce(F.col("recommitted") >= cut.since - SURE, F.lit(False))
    return (F.col("kind") != "lost_commit") | F.coalesce(F.col("offset") >= cut.cut_at, F.lit(False)) | recommitted


_NOBODY = -1
"""Incarnation and assignment of the query after the run, which no member makes."""
_ANSWER = (*TERM, "group")
"""Key of one answer of a committed offset. It includes the group, since after the run several groups are asked about
one partition."""
_ASKED = (*_ANSWER, "found", "asked", "answered")
_COLUMNS = (*MEMBER, *OWNED, "assignment", "offset", "committed")


def lost_commits(events: Events) -> DataFrame:
    """Return terms whose member found an older offset than the group had acknowledged."""
    done = answered_commits(events)
    asked = terms(events).filter(F.col("group").isNotNull() & F.col("asked").isNotNull())
    asked = asked.select(*_ASKED).unionByName(_told(events).select(*_ASKED))
    before = (
        done.join(events.near(asked.select(*_ANSWER, "asked")), on=list(OWNED), how="inner")
        .filter(F.col("completed") < F.col("asked"))
        .groupBy(*_ANSWER)
        .agg(
            F.max("offset").alias("committed"), F.max("sure").alias("newest"),
            F.min_by("completed", F.struct(-F.col("offset"), "completed")).alias("since"),
        )
    )  # fmt: skip
    behind = asked.join(events.near(before), on=list(_ANSWER), how="inner")
    stale = F.col("found").isNull() | (F.col("found") < F.col("committed")) | F.coalesce("once", F.lit(False))
    return (
        behind.join(events.near(_explained(events, done, behind)), on=list(_ANSWER), how="left")
        .filter(stale & ~F.coalesce("explained", F.lit(False)))
        .join(events.near(_own_stores(events)), on=list(OWNED), how="left")
        .withColumn("kind", F.when(F.col("own"), "unrestored").otherwise("lost_commit"))
        .withColumns(during("since", "answered"))
        .withColumns({name: F.when(F.col("incarnation") != _NOBODY, F.col(name)) for name in (*MEMBER, "assignment")})
        .select("kind", "began", "ended", *_COLUMNS[:-2], F.col("found").alias("offset"), "committed", "recommitted")
    )


def _own_stores(events: Events) -> DataFrame:
    """Return the partitions whose offsets an application keeps in its own topic, with ``own``."""
    kept = events.table("commits").filter(F.col("kind") == "topic")
    return kept.select(*OWNED).distinct().withColumn("own", F.lit(True))


def _told(events: Events) -> DataFrame:
    """Return the offsets that the cluster reported after the run, in the form of terms.

    Groups that keep their offsets outside of Kafka are excluded.
    """
    case = events.case
    audits = [span for span in case.phases if span.name == "audit"]
    began, ended = (audits[-1].began, audits[-1].ended) if audits else (case.record.ended, case.record.ended)
    own = events.table("commits").filter(F.col("kind") == "topic").select("group").distinct()
    who = {"probe": F.lit(""), "incarnation": F.lit(_NOBODY), "assignment": F.lit(_NOBODY)}
    return (
        events.table("groups")
        .join(events.near(own), on="group", how="left_anti")
        .withColumns({**who, "asked": F.lit(began), "answered": F.lit(ended)})
        .withColumnRenamed("offset", "found")
    )


def _explained(events: Events, done: DataFrame, behind: DataFrame) -> DataFrame:
    """Return answers that match a commit: ``_ANSWER``, ``explained``, ``once``, ``recommitted``.

    ``explained``: such a commit may be the newest one. ``once``: such a commit was acknowledged before the question.
    ``recommitted``: the last time at which such a commit was asked for.
    """
    open_ended = events.table("commits").filter(F.col("outcome") == "info")
    carried = done.select(*OWNED, "offset", "invoked", "completed", "followed").unionByName(
        open_ended.select(*OWNED, "offset", "invoked"), allowMissingColumns=True
    )
    older = superseded(F.col("newest"), F.col("asked"))
    return (
        carried.withColumnRenamed("offset", "found")
        .join(events.near(behind.select(*_ASKED, "newest")), on=[*OWNED, "found"])
        .filter(F.col("invoked") < F.col("answered"))
        .groupBy(*_ANSWER)
        .agg(
            F.bool_or(~older).alias("explained"),
            F.coalesce(F.bool_or(F.col("completed") < F.col("asked")), F.lit(False)).alias("once"),
            F.max("invoked").alias("recommitted"),
        )
    )


def own(events: Events) -> DataFrame:
    """Return commits of a member below an earlier one of its own in the same generation, with no seek in between."""
    term = F.coalesce("generation", "assignment")
    in_turn = Window.partitionBy(*MEMBER, *OWNED, "term").orderBy("invoked", "completed", "offset")
    # The first automatic commit of a term may have been sent before the partition was assigned again, and answered
    # after.
    doubtful = (F.col("kind") == "auto") & (F.row_number().over(in_turn) == 1)
    sent = F.when(~doubtful, F.struct("offset", "invoked"))
    lower = (
        _acknowledged(events)
        .withColumn("term", term)
        .withColumn("sent", sent)
        .withColumn("before", F.max("sent").over(in_turn.rowsBetween(Window.unboundedPreceding, -1)))
        .filter(F.col("offset") < F.col("before.offset"))
        .withColumns({"committed": F.col("before.offset"), "since": F.col("before.invoked")})
    )
    seeks = events.table("seeks").select(*MEMBER, *PLACE, F.col("at").alias("sought"))
    between = [F.col(f"row.{name}") == F.col(f"seek.{name}") for name in (*MEMBER, *PLACE)]
    between.append(F.col("seek.sought").between(F.col("row.since"), F.col("row.completed")))
    return (
        lower.alias("row")
        .join(events.near(seeks).alias("seek"), on=between, how="left_anti")
        .withColumn("kind", F.lit("self"))
        .withColumns(during("since", "completed"))
        .select("kind", "began", "ended", *_COLUMNS)
    )


def zombies(events: Events) -> DataFrame:
    """Return acknowledged commits that were asked for after another member had been assigned the partition."""
    later = terms(events).select(
        *OWNED, F.col("given").alias("passed_on"), F.col("probe").alias("owner"), F.col("incarnation").alias("its")
    )
    other = (F.col("owner") != F.col("probe")) | (F.col("its") != F.col("incarnation"))
    return (
        _acknowledged(events)
        .filter(F.col("kind") != "auto")
        .join(events.near(later), on=list(OWNED), how="inner")
        .filter(other & (F.col("passed_on") > F.col("given")) & (F.col("passed_on") < F.col("invoked")))
        .groupBy(*MEMBER, *OWNED, "assignment", "offset", "invoked", "completed")
        .agg(F.min("passed_on").alias("since"))
        .withColumns({"kind": F.lit("zombie"), "committed": F.col("offset")})
        .withColumns(during("since", "completed"))
        .select("kind", "began", "ended", *_COLUMNS)
    )


def _acknowledged(events: Events) -> DataFrame:
    """Return acknowledged commits of group members that were asked for while they were assigned the partition."""
    given = terms(events).select(*TERM, "given")
    return (
        events.table("commits")
        .filter((F.col("outcome") == "ok") & ~among(F.col("probe"), by_hand(events.case)))
        .join(events.near(given), on=list(TERM), how="inner")
        .filter(F.col("invoked") >= F.col("given"))
    )


def _found_less(rows: EventRows) -> bool:
    """Return True if a member, or the query after the run, found less than its group had acknowledged before."""
    commits = rows.column("commits", "outcome") == rows.code("outcome", "ok")
    asking = rows.count("fetched") + rows.count("groups")
    keys = owned(rows, "fetched", "groups", "commits")
    asks = np.concatenate([np.ones(asking, np.bool_), np.zeros(len(commits), np.bool_)])
    after = np.full(rows.count("groups"), np.iinfo(np.int64).max)
    times = np.concatenate([rows.column("fetched", "invoked"), after, rows.column("commits", "completed")])
    found = np.concatenate([rows.column(table, "offset") for table in ("fetched", "groups", "commits")])
    counts = np.concatenate([np.zeros(asking, np.bool_), commits])
    order = np.lexsort((~asks, times, keys))
    most = highest(keys[order], np.where(counts, found, EMPTY)[order])
    return bool((asks[order] & (found[order] < most)).any())


def _goes_down(rows: EventRows) -> bool:
    """Return True if acknowledged commits of a group, or of one process, ever decrease."""
    done = rows.column("commits", "outcome") == rows.code("outcome", "ok")
    offsets = rows.column("commits", "offset")[done]
    for keys, times in ((owned(rows, "commits"), "completed"), (members(rows, "commits"), "invoked")):
        order = np.lexsort((rows.column("commits", times)[done], keys[done]))
        if (offsets[order] < earlier(keys[done][order], highest(keys[done][order], offsets[order]))).any():
            return True
    return False


def _passed_on(rows: EventRows, done: Marks) -> bool:
    """Return True if a commit was acknowledged to another process than the last one assigned."""
    return bool((done & passed_on(rows, "commits", "invoked")).any())

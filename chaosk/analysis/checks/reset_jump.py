"""Members that did not begin at the committed offset."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, with_isolation
from chaosk.analysis.frames.holdings import OWNED
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.removals import before_deletion, deletions, with_kept_until
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.terms import TERM, elsewhere, terms
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.frames.visible import skipped
from chaosk.analysis.glances.before import coded, first, last, members, owned
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.observed_settings import compacted

_TABLES = ("assignments", "fetched", "reads")
_OFFSET_BITS = 42
_UNKNOWN = -1


class ResetJump(Check):
    """The first record given to a member is not the first visible record from the committed offset on.

    B7, for members that found a committed offset when they were assigned the partition, and did not seek. If a topic
    was deleted and recreated, a member that held its partition counts as assigned the new one at offset 0. ``kind`` is

    - ``earlier``: the member was given a record below it, as after a reset to the earliest offset: a replay.
    - ``later``: records between it and the first record given are proven to be visible: the group skips them, as after
      a reset to the latest offset.
    - ``uncommitted``: there was no committed offset although the group had read the partition before, so
      ``auto.offset.reset`` decided. This is information: it is normal for a group that does not commit, and lost
      commits are judged by ``commit_regression``.
    - ``unrestored``: the same for an application that keeps its offsets in its own topic, although a commit there was
      acknowledged before: it mistook an empty poll, or a missing answer, for a topic without offsets.

    It is also information if the log start passed the committed offset of a member that began ``later``, and the member
    was given the first record that was left: a reset is then correct, unless a leader reported after the member had
    begun that its log still began before it. A reset to the end that passes records which the log still had is a
    violation: they are lost to the group. Allowed if the
    log was seen to be truncated before the committed offset: it may end there. Unproven if compaction removes records.

    Columns: kind, probe, incarnation, group, topic, partition, assignment, committed, offset (of the first record
    given), skipped (the first record that was not given).
    """

    rule = "B7"
    title = "members that began elsewhere than at the committed offset"
    counted = ("jump away from the committed offset", "jumps away from the committed offset")
    tables = ("reads", "assignments", "fetched", "seeks", "audit", "sends", "offsets", "incarnations", "commits")
    by_absence_of = ("reads", "assignments", "fetched", "seeks", "commits")
    order = (*OWNED, "began", *MEMBER, "assignment")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a first delivery is below the committed offset, or beyond any other known offset."""
        if not rows.count("fetched") or not rows.count("reads"):
            return False
        found, begun, place = _begins(rows)
        beyond = (found != EMPTY) & (begun > found)
        if (begun < found).any() or _again(rows):
            return True
        return bool(beyond.any()) and _between(rows, place[beyond], found[beyond], begun[beyond])

    def violations(self, events: Events) -> DataFrame:
        """Return terms with a wrong start."""
        rows = begins(events)
        earlier = rows.filter(F.col("offset") < F.col("found")).withColumn("kind", F.lit("earlier"))
        jumps = earlier.unionByName(_later(events, rows), allowMissingColumns=True)
        jumps = jumps.unionByName(_uncommitted(events, rows), allowMissingColumns=True)
        case = events.case
        cleaned = [topic for topic in case.topics if compacted(case, topic)]
        # a delivery below the committed offset proves that the log start had not passed it
        passed = (F.col("kind") == "later") & (F.col("log_start") > F.col("found")) & F.col("kept").isNull()
        passed = passed & ~before_deletion(F.col("at"))
        return (
            with_kept_until(events, jumps, "found")
            .join(events.near(events.frame(retained).select(*PLACE, "log_start")), on=list(PLACE), how="left")
            .withColumns(
                meaning(
                    (F.col("kind") == "unrestored", "violation", None),
                    (F.col("kind") == "uncommitted", "information", "there was no committed offset"),
                    (passed, "information", "the log's start passed the committed offset"),
                    (among(F.col("topic"), cleaned), "unproven", "compaction removes records of a key"),
                    *excused(events, F.col("found") - 1, later=F.col("at")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("given", "at"))
            .withColumn("committed", F.col("found"))
            .select(*MEANING, "kind", *MEMBER, *OWNED, "assignment", "committed", "offset", "skipped")
        )


def begins(events: Events) -> DataFrame:
    """Return one row per term with records and an answer to its OffsetFetch, with its first record.

    Columns: ``TERM``, group, given, found, offset, at and epoch (of the first record). Terms of members that sought
    before the first record, or that are configured to begin elsewhere, are excluded.
    """
    firsts = (
        events.table("reads")
        .groupBy(*TERM)
        .agg(
            F.min_by("offset", "n").alias("offset"), F.min_by("at", "n").alias("at"),
            F.min_by(F.coalesce("leader_epoch", F.lit(_UNKNOWN)), "n").alias("epoch"),
        )
        .withColumn("epoch", F.when(F.col("epoch") != _UNKNOWN, F.col("epoch")))
    )  # fmt: skip
    own_choice = among(F.col("probe"), elsewhere(events.case)) & (F.col("assignment") == 0)
    asked = terms(events).filter(F.col("asked").isNotNull() & F.col("group").isNotNull() & ~own_choice)
    rows = asked.join(events.near(firsts), on=list(TERM), how="inner")
    seeks = events.table("seeks").select(*MEMBER, *PLACE, F.col("at").alias("sought"))
    same = [F.col(f"row.{name}") == F.col(f"seek.{name}") for name in (*MEMBER, *PLACE)]
    same.append(F.col("seek.sought").between(F.col("row.given"), F.col("row.at")))
    return (
        rows.alias("row")
        .join(events.near(seeks).alias("seek"), on=same, how="left_anti")
        .select(*TERM, "group", "given", "found", "offset", "at", "epoch")
    )


def _later(events: Events, rows: DataFrame) -> DataFrame:
    """Return terms that began beyond a visible record after the committed offset, with the first one (``skipped``).

    ``kept`` is the first one that the log still had then; None if all of them had been deleted.
    """
    beyond = with_isolation(events, rows.filter(F.col("offset") > F.col("found")))
    passing = {
        "low": F.col("found"), "high": F.col("offset"), "passed": F.col("at"),
        "low_epoch": F.lit(None).cast("int"), "high_epoch": F.col("epoch"),
    }  # fmt: skip
    over = skipped(events, beyond.withColumns(passing), deleted=True).withColumn("kind", F.lit("later"))
    if not events.once(deletions):
        return over.select(*rows.columns, "kind", "skipped", F.col("skipped").alias("kept"))
    still = skipped(events, beyond.withColumns(passing)).select(*TERM, F.col("skipped").alias("kept"))
    known = over.join(events.near(still), on=list(TERM), how="left")
    return known.select(*rows.columns, "kind", F.coalesce("kept", "skipped").alias("skipped"), "kept")


def _uncommitted(events: Events, rows: DataFrame) -> DataFrame:
    """Return terms that found no committed offset although their group had been given records before."""
    done = events.table("commits").filter((F.col("kind") == "topic") & (F.col("outcome") == "ok"))
    stored = done.groupBy(*OWNED).agg(F.min("completed").alias("stored"))
    before = events.frame(polled).groupBy(*OWNED).agg(F.min("at").alias("since"))
    return (
        rows.filter(F.col("found").isNull())
        .join(events.near(before), on=list(OWNED), how="inner")
        .filter(F.col("since") < F.col("given"))
        .join(events.near(stored), on=list(OWNED), how="left")
        .withColumn("kind", F.when(F.col("stored") < F.col("given"), "unrestored").otherwise("uncommitted"))
        .drop("since", "stored")
    )


def _begins(rows: EventRows) -> tuple[Numbers, Numbers, Numbers]:
    """Return for each OffsetFetch the offset found, the first offset given in its term (or the same), and the place."""
    changes, asks = rows.count("assignments"), rows.count("fetched")
    whole = members(rows, *_TABLES)
    numbers = rows.column("assignments", "assignment")
    times = np.concatenate([rows.column("assignments", "at"), rows.column("fetched", "completed")])
    order = np.lexsort((times, whole[: changes + asks]))
    carried = np.empty(changes + asks, dtype=np.int64)
    known = np.concatenate([numbers, np.full(asks, EMPTY)])
    carried[order] = last(whole[: changes + asks][order], known[order], (known != EMPTY)[order])
    keys = coded(whole, np.concatenate([carried, rows.column("reads", "assignment")]))
    reads = keys[changes + asks :]
    in_turn = np.lexsort((rows.column("reads", "n"), reads))
    begin = first(reads[in_turn])
    term, offset = reads[in_turn][begin], rows.column("reads", "offset")[in_turn][begin]
    mine = keys[changes : changes + asks]
    where = np.minimum(np.searchsorted(term, mine), len(term) - 1)
    found = rows.column("fetched", "offset")
    return found, np.where(term[where] == mine, offset[where], found), rows.places("fetched")


def _again(rows: EventRows) -> bool:
    """Return True if a member found no committed offset after its group had been given records of the partition."""
    keys = owned(rows, "reads", "fetched")
    given = np.concatenate([np.ones(rows.count("reads"), np.bool_), np.zeros(rows.count("fetched"), np.bool_)])
    none = np.concatenate([np.zeros(rows.count("reads"), np.bool_), rows.column("fetched", "offset") == EMPTY])
    if not none.any():
        return False
    times = np.concatenate([rows.column("reads", "at"), rows.column("fetched", "completed")])
    order = np.lexsort((times, keys))
    return bool((none[order] & (last(keys[order], times[order], given[order]) != EMPTY)).any())


def _between(rows: EventRows, places: Numbers, low: Numbers, high: Numbers) -> bool:
    """Return True if any known offset of these places is in the range from ``low`` to below ``high``."""
    tables = ("reads", "audit", "sends")
    _, codes = np.unique(np.concatenate([places, *(rows.places(table) for table in tables)]), return_inverse=True)
    offsets = np.concatenate([np.zeros(len(places), np.int64), *(rows.column(table, "offset") for table in tables)])
    known = np.sort(((codes << _OFFSET_BITS) + offsets)[len(places) :][offsets[len(places) :] >= 0])
    base = codes[: len(places)] << _OFFSET_BITS
    return bool((np.searchsorted(known, base + low) < np.searchsorted(known, base + high)).any())

"""Position of a transactional application after a transaction that did not commit."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.frames.visible import skipped, visible
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.readers import readers

_TERM = (*MEMBER, *PLACE, "assignment")
_LEFT = "the run ended before the application was given them again"
_UNKNOWN = -1
_NEAR = 1 << 16
"""Distance in offsets within which the next record is searched for; it affects only the column ``expected``."""


class AbortRewind(Check):
    """After an aborted transaction, the application did not continue at the offset at which the transaction had begun.

    B11, for applications that consume, produce and commit in transactions, within one assignment. ``advance``: it
    skipped inputs without a committed output, so the application lost them: a violation. ``further``: it went back
    before the start and repeats finished work: also a violation. After a transaction with unknown outcome, both its
    start and the record after its last input are correct positions; ``eos`` then compares the outputs. ``left``: no
    member of the group was given the inputs of an aborted transaction again before the run ended. It is then unknown
    whether the application would have continued with them: unproven, unless it was ended on purpose.

    Nobody is owed inputs that the log has lost meanwhile, by its settings. So an application that advances must have
    passed a record that was there when it went on, and ``left`` counts only inputs that the tail audit found. If the
    log was seen to be truncated at such an input, or before the transaction's start, the row is allowed.

    Columns: kind, probe, incarnation, topic, partition, assignment, txn, outcome (of the transaction), first and last
    (offsets of its inputs), next (the offset delivered after it; empty if there was none), expected (the next offset
    with a record visible to a reader; empty for an aborted transaction, and if there is none nearby).
    """

    rule = "B11"
    title = "applications that read on elsewhere after a transaction that was not committed"
    counted = ("wrong position after an abort", "wrong positions after aborts")
    tables = ("reads", "transactions", "audit", "audit_ranges", "offsets", "sends", "incarnations")
    by_absence_of = ("reads", "seeks", "transactions")
    order = (*_TERM, "txn")

    def glance(self, rows: EventRows) -> bool:
        """Return True if the next delivery is not the transaction's first input, or if there is none."""
        txns = rows.column("reads", "txn")
        if not np.any(txns != EMPTY):
            return False
        mine = np.flatnonzero(txns != EMPTY)
        who, places = rows.processes("reads")[mine], rows.places("reads")[mine]
        terms, numbers, offsets = (each[mine] for each in rows.columns("reads", "assignment", "n", "offset"))
        order = np.lexsort((numbers, terms, places, who))
        keys = np.stack([who[order], places[order], terms[order]])
        txn, offset = txns[mine][order], offsets[order]
        same = np.all(keys[:, 1:] == keys[:, :-1], axis=0)
        begins = np.concatenate([[True], ~same | (txn[1:] != txn[:-1])])
        firsts = np.flatnonzero(begins)
        follows = same[firsts[1:] - 1]
        names, outcomes = rows.columns("transactions", "txn", "outcome")
        open_ended = names[outcomes != rows.code("outcome", "committed")]
        lasts = np.flatnonzero(np.concatenate([~same, [True]]))
        left = np.isin(txn[lasts], names[outcomes == rows.code("outcome", "aborted")])
        wrong = follows & np.isin(txn[firsts[:-1]], open_ended) & (offset[firsts[1:]] != offset[firsts[:-1]])
        return bool(np.any(wrong) or np.any(left))

    def violations(self, events: Events) -> DataFrame | None:
        """Return transactions after which the next delivery had a wrong offset, or there was no delivery."""
        if not events.case.transactional:
            return None
        ends = _ends(events)
        after = ends.filter((F.col("next") >= 0) & (F.col("next") != F.col("first")))
        undecided = after.filter(F.col("outcome") == "info")
        far = F.greatest("last", "next") + _NEAR
        spans = undecided.select(*PLACE, F.col("last").alias("low"), far.alias("high"))
        shown = visible(events, spans).filter(F.col("isolation") == "read_committed")
        following = shown.select(*PLACE, F.col("offset").alias("last"), F.col("following").alias("expected"))
        wrong = after.join(following, on=[*PLACE, "last"], how="left").withColumn(
            "expected", F.when(F.col("outcome") == "info", F.col("expected"))
        )
        right = (F.col("outcome") == "info") & (F.col("next") > F.col("last"))
        right = right & F.coalesce(F.col("next") <= F.col("expected"), F.lit(True))
        further = F.col("next") < F.col("first")
        back = wrong.filter(~right & further).withColumns({"kind": F.lit("further"), "cut": F.col("first") - 1})
        return (
            _advances(events, wrong.filter(~right & ~further))
            .unionByName(back, allowMissingColumns=True)
            .unionByName(_left(events, ends.filter(F.col("next") < 0)), allowMissingColumns=True)
            .withColumns(
                meaning(
                    (F.col("kind") == "left", "unproven", _LEFT),
                    *excused(events, F.col("cut"), F.col("began"), later=F.col("until")),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during(F.col("began"), F.col("until")))
            .select(*MEANING, "kind", *_TERM, "txn", "outcome", "first", "last", "next", "expected")
        )


def _ends(events: Events) -> DataFrame:
    """Return one row per term and transaction that did not commit: its first and last input, and what came next."""
    in_turn = Window.partitionBy(*_TERM).orderBy("n")
    ended = events.table("transactions").filter(F.col("outcome") != "committed").select("txn", "outcome", "ended")
    return (
        events.table("reads")
        .filter(F.col("txn").isNotNull())
        .withColumn("next", F.lead("offset").over(in_turn))
        .withColumn("next_at", F.lead("at").over(in_turn))
        .withColumn("next_epoch", F.lead("leader_epoch").over(in_turn))
        .groupBy(*_TERM, "group", "txn")
        .agg(
            F.min_by("offset", "n").alias("first"), F.max_by("offset", "n").alias("last"),
            F.max_by(F.coalesce("next", F.lit(-1)), "n").alias("next"), F.min("at").alias("began"),
            F.max_by(F.coalesce("next_at", "at"), "n").alias("until"),
            F.max_by(F.coalesce("next_epoch", F.lit(_UNKNOWN)), "n").alias("next_epoch"),
        )
        .withColumn("next_epoch", F.when(F.col("next_epoch") != _UNKNOWN, F.col("next_epoch")))
        .join(events.near(ended), on="txn", how="inner")
    )  # fmt: skip


def _advances(events: Events, rows: DataFrame) -> DataFrame:
    """Return the rows that passed a record which was there then, with ``cut``, the offset of the first one."""
    onward = (F.col("outcome") == "info") & (F.col("next") > F.col("last"))
    passing = {
        "isolation": F.lit("read_committed"), "low": F.when(onward, F.col("last") + 1).otherwise(F.col("first")),
        "high": F.col("next"), "passed": F.col("until"), "low_epoch": F.lit(None).cast("int"),
        "high_epoch": F.col("next_epoch"),
    }  # fmt: skip
    passed = skipped(events, rows.withColumns(passing))
    return passed.select(*rows.columns, F.col("skipped").alias("cut")).withColumn("kind", F.lit("advance"))


def _remaining(events: Events, last: DataFrame) -> DataFrame:
    """Add ``due``, the first input that the log still has; drop rows without any.

    All inputs count in a partition that was not audited completely.
    """
    found = events.table("audit").filter("intact").filter(F.col("isolation") == "read_committed")
    found = found.select(*VALUE, *PLACE, F.lit(True).alias("kept"))
    given = events.table("reads").select(*_TERM, "txn", "offset", *VALUE)
    mine = given.join(events.near(last.select(*_TERM, "txn")), on=[*_TERM, "txn"], how="left_semi")
    still = mine.join(found, on=[*VALUE, *PLACE], how="left_semi").groupBy(*_TERM, "txn")
    complete = events.frame(retained).filter("complete").select(*PLACE, "complete")
    due = F.when(F.col("complete").isNull(), F.col("first")).otherwise(F.col("still"))
    return (
        last.join(events.near(still.agg(F.min("offset").alias("still"))), on=[*_TERM, "txn"], how="left")
        .join(events.near(complete), on=list(PLACE), how="left")
        .withColumn("due", due)
        .filter(F.col("due").isNotNull())
        .drop("still", "complete")
    )


def _left(events: Events, last: DataFrame) -> DataFrame:
    """Return the last transaction of each term if no member of the group was given its inputs again.

    An earlier delivery in a committed transaction counts as well: a fenced client may read on after its successor.
    """
    on_purpose = sorted({reader.name for reader in readers(events.case) if reader.dismissed is not None})
    done = events.table("transactions").filter(F.col("outcome") == "committed").select("txn", F.lit(True).alias("done"))
    again = events.table("reads").select("group", *PLACE, F.col("offset").alias("due"), "at", "txn")
    again = again.join(events.near(done), on="txn", how="left").drop("txn")
    key = ("group", *PLACE, "due")
    aborted = _remaining(events, last.filter((F.col("outcome") == "aborted") & ~F.col("group").isin(on_purpose)))
    few = events.near(aborted.select(*key).distinct())
    others = again.join(few, on=list(key), how="left_semi")
    same = [F.col(f"mine.{name}") == F.col(f"again.{name}") for name in key]
    same.append((F.col("again.at") > F.col("mine.until")) | F.coalesce("again.done", F.lit(False)))
    open_ended = aborted.alias("mine").join(events.near(others).alias("again"), on=same, how="left_anti")
    return open_ended.withColumns({"kind": F.lit("left"), "next": F.lit(None).cast("long")})

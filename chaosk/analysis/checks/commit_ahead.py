"""Committed beyond what was read, or beyond the end of the log."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, with_isolation
from chaosk.analysis.frames.holdings import OWNED
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.truncations import excused
from chaosk.analysis.frames.visible import skipped
from chaosk.analysis.glances.before import highest, members
from chaosk.analysis.glances.rows import EMPTY, Numbers, Rows

_LEFT = "group string, topic string, partition int, offset long, position long"
_TABLES = ("reads", "fetched", "seeks", "commits", "txn_offsets")


class CommitAhead(Check):
    """A member committed an offset although records lie before it that it had not been given, or that are to come.

    B5 after the definitions that Jepsen's Kafka workload made known (``committed-too-far``). What a member may commit
    is one past the highest record it was given by then, or the offset it began at: the committed one that it found,
    or the one it sought. A commit beyond that counts only where a record in between is proven to be visible at its
    isolation level: control records and aborted ones lift the position rightly. Of an automatic commit nobody knows
    when it was sent, so everything counts that the member was given until the answer came, and by the poll that was
    under way then: librdkafka marks records for the next commit as it takes them for a poll, and serves answers in it.

    Only acknowledged commits count, and of offsets that transactions commit those of transactions that committed.
    Unproven where the process has no end marker, because its log may lack its last deliveries. A member of which nobody
    knows where it began is not judged.

    What the cluster says after the run that a group committed may not lie beyond the end of the log, as the audit read
    it: the group would not be given what is written next. Allowed where the log was seen to be cut back; information
    where the topic was made again, in which commits of the old one end up.

    Columns: probe, incarnation, group, topic, partition, assignment, offset (as committed), position (the highest it
    might have committed), skipped (the first record it was not given). What the cluster says has no member.
    """

    rule = "B5"
    title = "commits beyond what the member was given"
    counted = ("commit ahead", "commits ahead")
    tables = (
        "commits", "txn_offsets", "transactions", "reads", "fetched", "seeks", "polls", "audit", "audit_ranges",
        "sends", "incarnations", "groups",
    )  # fmt: skip
    by_absence_of = ("reads", "fetched", "seeks", "polls")
    order = (*MEMBER, *PLACE, "began", "offset")

    def glance(self, rows: Rows) -> bool:
        """Whether a commit lies beyond the position of its member, or what the cluster says beyond its log."""
        if any(True for _ in _beyond_the_log(rows.case)):
            return True
        done = rows.column("commits", "outcome") == rows.code("outcome", "ok")
        kept = _committed(rows)
        if not done.any() and not kept.any():
            return False
        automatic = rows.column("commits", "kind") == rows.code("kind", "auto")
        asked, answered = rows.columns("commits", "invoked", "completed")
        keys = members(rows, *_TABLES)
        commits = _joined(rows, commits=done.astype(np.int64), txn_offsets=kept.astype(np.int64)) == 1
        times = _joined(
            rows, reads=rows.column("reads", "at"), fetched=rows.column("fetched", "completed"),
            seeks=rows.column("seeks", "at"), commits=np.where(automatic, answered, asked),
            txn_offsets=rows.column("txn_offsets", "at"),
        )  # fmt: skip
        positions = _joined(
            rows, reads=rows.column("reads", "offset") + 1, fetched=rows.column("fetched", "offset"),
            seeks=rows.column("seeks", "offset"), commits=np.full(len(done), EMPTY),
        )  # fmt: skip
        wanted = _joined(
            rows, commits=rows.column("commits", "offset"), txn_offsets=rows.column("txn_offsets", "offset")
        )
        order = np.lexsort((commits, times, keys))
        reached = highest(keys[order], positions[order])
        return bool((commits[order] & (reached != EMPTY) & (wanted[order] > reached)).any())

    def violations(self, events: Events) -> DataFrame:
        """Rows of commits with a visible record between the member's position and the committed offset."""
        ahead = with_isolation(events, beyond(events))
        anyone, ever = F.lit(None).cast("int"), F.lit(None).cast("long")  # what comes there later is passed over, too
        passing = {"low": F.col("position"), "high": F.col("offset"), "passed": ever}
        passing |= {"low_epoch": anyone, "high_epoch": anyone}
        unended = [f"{probe} {incarnation}" for probe, incarnation in sorted(events.case.unended)]
        cut_short = F.concat_ws(" ", *MEMBER).isin(unended)
        left = events.spark.createDataFrame(list(_beyond_the_log(events.case)), _LEFT)
        remade = among(F.col("topic"), events.case.former.topics)
        return (
            skipped(events, ahead.withColumns(passing), deleted=True)
            .unionByName(left, allowMissingColumns=True)
            .withColumns(
                meaning(
                    *((F.col("probe").isNull() & cut, word, why) for cut, word, why in excused(events)),
                    (F.col("probe").isNull() & remade, "information", "the topic was made again"),
                    (cut_short, "unproven", "its process has no end marker: its last deliveries may not be written"),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, *MEMBER, *OWNED, "assignment", "offset", "position", "skipped")
        )


def _beyond_the_log(case: Case) -> Iterator[tuple[str, str, int, int, int]]:
    """Group, topic, partition, committed offset and end of the log, where that was audited and the offset is beyond."""
    ends = {
        (row["topic"], row["partition"]): row["end"] for row in case.ranges if row["isolation"] == "read_uncommitted"
    }
    for each in case.committed:
        place = each.topic, each.partition
        if each.offset is not None and place in case.complete and each.offset > ends.get(place, each.offset):
            yield each.group, *place, each.offset, ends[place]


def beyond(events: Events) -> DataFrame:
    """Acknowledged commits beyond the position of their member, with that ``position``."""
    read = (
        events.frame(polled)
        .groupBy(*MEMBER, *PLACE, "poll")
        .agg(F.min("at").alias("time"), (F.max("high") + 1).alias("position"))
        .select(*MEMBER, *PLACE, "time", "position")
    )
    found = events.table("fetched").select(
        *MEMBER, *PLACE, F.col("completed").alias("time"), F.col("offset").alias("position")
    )
    sought = events.table("seeks").select(*MEMBER, *PLACE, F.col("at").alias("time"), F.col("offset").alias("position"))
    commits = _timed(events).select(
        *MEMBER, *PLACE, "time", "group", "assignment", "offset", "invoked", "completed", F.lit(True).alias("commit")
    )
    rows = read.unionByName(found).unionByName(sought).unionByName(commits, allowMissingColumns=True)
    so_far = Window.partitionBy(*MEMBER, *PLACE).orderBy("time").rangeBetween(Window.unboundedPreceding, 0)
    return (
        events.gathered(rows)
        .withColumn("position", F.max("position").over(so_far))
        .filter("commit")
        .filter(F.col("offset") > F.col("position"))
        .select(*MEMBER, *OWNED, "assignment", "offset", "position", "invoked", "completed")
    )


def _timed(events: Events) -> DataFrame:
    """Acknowledged commits with the ``time`` until which what the member was given counts for them."""
    done = events.table("commits").filter(F.col("outcome") == "ok")
    asked = done.filter(F.col("kind") != "auto").withColumn("time", F.col("invoked"))
    asked = asked.unionByName(_in_transactions(events), allowMissingColumns=True)
    answered = done.filter(F.col("kind") == "auto").withColumns({"time": F.col("completed"), "answer": F.lit(True)})
    polls = events.table("polls").select(*MEMBER, F.col("invoked").alias("time"), F.col("completed").alias("returned"))
    so_far = Window.partitionBy(*MEMBER).orderBy("time").rangeBetween(Window.unboundedPreceding, 0)
    served = (
        answered.unionByName(polls, allowMissingColumns=True)
        .withColumn("time", F.greatest("time", F.max("returned").over(so_far)))
        .filter("answer")
        .select(*asked.columns)
    )
    return asked.unionByName(served)


def _in_transactions(events: Events) -> DataFrame:
    """Offsets that transactions committed, by the time at which they were handed over."""
    ended = events.table("transactions").filter(F.col("outcome") == "committed").select("txn", "ended")
    return (
        events.table("txn_offsets")
        .join(events.near(ended), on="txn", how="inner")
        .select(
            *MEMBER, *OWNED, "offset", F.col("at").alias("time"), F.col("at").alias("invoked"),
            F.col("ended").alias("completed"),
        )
    )  # fmt: skip


def _committed(rows: Rows) -> NDArray[np.bool_]:
    """Which rows of ``txn_offsets`` are of transactions that committed."""
    outcomes, txns = rows.columns("transactions", "outcome", "txn")
    return np.isin(rows.column("txn_offsets", "txn"), txns[outcomes == rows.code("outcome", "committed")])


def _joined(rows: Rows, **known: Numbers) -> Numbers:
    """A column of all the tables, one after the other; ``EMPTY`` for the tables that do not have it."""
    return np.concatenate([known.get(table, np.full(rows.count(table), EMPTY)) for table in _TABLES])

"""Commits beyond the member's position, or beyond the end of the log."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, Worker
from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE
from chaosk.analysis.frames.deliveries import MEMBER, with_isolation
from chaosk.analysis.frames.holdings import OWNED
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.truncations import excused, truncations
from chaosk.analysis.frames.visible import skipped
from chaosk.analysis.glances.before import highest, members
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers

_LEFT = "group string, topic string, partition int, offset long, position long"
_TABLES = ("reads", "fetched", "seeks", "commits", "txn_offsets")


class CommitAhead(Check):
    """A member committed an offset beyond a record that it had not been given, or beyond the end of the log.

    B5, after the definitions of Jepsen's Kafka workload (``committed-too-far``). A member may commit one past the
    highest record it had been given by then, or its start position: the committed offset that it found, or the offset
    it sought. A commit beyond that counts only if a record in between is proven to be visible at the member's isolation
    level, because control records and aborted records advance the position too. The time at which an automatic commit
    was sent is unknown. For it, everything counts that the member was given until the answer, and by the poll in
    progress at that time: librdkafka marks records for the next commit when it takes them for a poll, and it serves
    answers in the poll. Only acknowledged commits count, and transactional offsets only of committed transactions. Rows
    are unproven if the process has no end marker, because its last deliveries may not be recorded. A member with
    unknown start position is not judged.

    The committed offset that the cluster reports after the run must not lie beyond the end of the log in the audit:
    otherwise the group would miss the next writes. It is allowed if the log was seen to be truncated, and the offset is
    at most the highest end that any client or broker reported. It is unproven beyond that end if markers may have been
    there, or a killed process may have read more. It is information if the topic was recreated, since commits of the
    old topic apply to the new one.

    Columns: probe, incarnation, group, topic, partition, assignment, offset (as committed), position (the highest
    offset that it was permitted to commit), skipped (the first record that it was not given). Rows from the cluster's
    report have no member.
    """

    rule = "B5"
    title = "commits beyond what the member was given"
    counted = ("commit ahead", "commits ahead")
    tables = (
        "commits", "txn_offsets", "transactions", "reads", "fetched", "seeks", "polls", "audit", "audit_ranges",
        "sends", "incarnations", "groups", "offsets",
    )  # fmt: skip
    by_absence_of = ("reads", "fetched", "seeks", "polls", "offsets")
    order = (*MEMBER, *PLACE, "began", "offset")

    def glance(self, rows: EventRows) -> bool:
        """Return True if a commit lies beyond its member's position, or a reported offset beyond the log."""
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
        """Return commits with a visible record between the member's position and the committed offset."""
        ahead = with_isolation(events, beyond(events))
        anyone, ever = F.lit(None).cast("int"), F.lit(None).cast("long")  # later records there are passed over, too
        passing = {"low": F.col("position"), "high": F.col("offset"), "passed": ever}
        passing |= {"low_epoch": anyone, "high_epoch": anyone}
        unended = [f"{probe} {incarnation}" for probe, incarnation in sorted(events.case.unended)]
        cut_short = F.concat_ws(" ", *MEMBER).isin(unended)
        left = events.local(list(_beyond_the_log(events.case)), _LEFT)
        nobody, reached = F.col("probe").isNull(), F.coalesce(F.col("offset") <= F.col("furthest"), F.lit(False))
        cut = [(nobody & holds, word, why) for holds, word, why in excused(events)]
        ending = sorted(
            {worker.group for worker in events.case.workers if worker.group and _process(worker) in unended}
        )
        open_ended = among(F.col("group"), ending) | F.lit(events.case.transactional)
        remade = among(F.col("topic"), events.case.former.topics)
        return (
            skipped(events, ahead.withColumns(passing), deleted=True)
            .unionByName(_with_furthest(events, left), allowMissingColumns=True)
            .withColumns(
                meaning(
                    *((holds & reached, word, why) for holds, word, why in cut),
                    *((holds & open_ended, "unproven", why) for holds, _, why in cut),
                    (nobody & remade, "information", "the topic was made again"),
                    (cut_short, "unproven", "its process has no end marker: its last deliveries may not be written"),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("invoked", "completed"))
            .select(*MEANING, *MEMBER, *OWNED, "assignment", "offset", "position", "skipped")
        )


def _beyond_the_log(case: Case) -> Iterator[tuple[str, str, int, int, int]]:
    """Yield group, topic, partition, committed offset and audited log end, if the offset is beyond that end."""
    ends = {
        (row["topic"], row["partition"]): row["end"] for row in case.ranges if row["isolation"] == "read_uncommitted"
    }
    for each in case.committed:
        place = each.topic, each.partition
        if each.offset is not None and place in case.complete and each.offset > ends.get(place, each.offset):
            yield each.group, *place, each.offset, ends[place]


def _with_furthest(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``furthest``: the highest end that each log is known to have had, by any client or broker."""
    if not events.once(truncations):
        return rows.withColumn("furthest", F.lit(None).cast("long"))
    ends = events.table("offsets").select(*PLACE, F.greatest("log_end", "high_watermark").alias("end"))
    for table in ("sends", "reads", "audit"):
        ends = ends.unionByName(events.table(table).select(*PLACE, (F.col("offset") + 1).alias("end")))
    furthest = ends.groupBy(*PLACE).agg(F.max("end").alias("furthest"))
    return rows.join(events.near(furthest), on=list(PLACE), how="left")


def _process(worker: Worker) -> str:
    return f"{worker.probe} {worker.incarnation}"


def beyond(events: Events) -> DataFrame:
    """Return acknowledged commits beyond the position of their member, with that ``position``."""
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
    """Return acknowledged commits with ``time``: deliveries to the member until then count for the commit."""
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
    """Return offsets of committed transactions, with the time at which they were handed over."""
    ended = events.table("transactions").filter(F.col("outcome") == "committed").select("txn", "ended")
    return (
        events.table("txn_offsets")
        .join(events.near(ended), on="txn", how="inner")
        .select(
            *MEMBER, *OWNED, "offset", F.col("at").alias("time"), F.col("at").alias("invoked"),
            F.col("ended").alias("completed"),
        )
    )  # fmt: skip


def _committed(rows: EventRows) -> NDArray[np.bool_]:
    """Mark the rows of ``txn_offsets`` whose transaction committed."""
    outcomes, txns = rows.columns("transactions", "outcome", "txn")
    return np.isin(rows.column("txn_offsets", "txn"), txns[outcomes == rows.code("outcome", "committed")])


def _joined(rows: EventRows, **known: Numbers) -> Numbers:
    """Concatenate one column of all tables; ``EMPTY`` for tables without it."""
    return np.concatenate([known.get(table, np.full(rows.count(table), EMPTY)) for table in _TABLES])

"""Consumers that never make progress again."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.checks._contract import MEANING, Check, among, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deliveries import MEMBER, with_isolation
from chaosk.analysis.frames.polled import polled
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.suspects import suspected, suspected_audit
from chaosk.analysis.frames.terms import elsewhere, terms
from chaosk.analysis.frames.values import given_to, values
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.readers import at_the_end
from chaosk.core.units import parse_duration

PATIENCE = 30_000_000_000
"""Nanoseconds without a delivery after which a consumer counts as stuck."""

_HELD = ("reader", *PLACE, *MEMBER, "assignment")


class StuckConsumer(Check):
    """A consumer owned a partition, records waited there, and nothing was delivered until the end.

    B9. It counts from 30 s on. It begins with the last of these: the end of the last fault, the assignment, the last
    delivery, and the time at which the first waiting record was available (acknowledged, or its transaction ended).
    Waiting are records beyond all that the group (or the consumer without one) was given, and that the tail audit saw
    at the consumer's isolation level. If the audit is incomplete, it is unknown whether an acknowledged record is in
    the log: unproven. Killed consumers own no partition. A stretch that ended is ``consume_unavailability``.

    A consumer with ``processing`` polls nothing while it works. So time also begins at the planned end of its work on
    the records of its last poll before that, and its longest planned work between two polls is added to the 30 s.

    Columns: reader (the group, or the probe without one), topic, partition, probe, incarnation, assignment, reached
    (the highest offset delivered; None: nothing was), first (the lowest waiting offset), waiting (records), seconds.
    """

    rule = "B9"
    title = "consumers that never go on"
    counted = ("partition in which a consumer is stuck", "partitions in which a consumer is stuck")
    tables = ("assignments", "reads", "polls", "audit", "sends", "transactions", "ends")
    by_absence_of = ("reads", "assignments", "polls")
    by_waiting = True
    order = ("reader", *PLACE, *MEMBER)

    def glance(self, rows: EventRows) -> bool:
        """Return True if there was time to be stuck, and a reader has not reached the end of an assigned partition."""
        time = _time(rows.case)
        if time.ended - time.began <= PATIENCE:
            return False
        tables = ("audit", "sends", "reads", "assignments")
        names, codes = np.unique(np.concatenate([rows.places(table) for table in tables]), return_inverse=True)
        audit, sends, read, given = np.split(codes, np.cumsum([rows.count(table) for table in tables])[:-1])
        top = np.full(len(names), EMPTY)
        np.maximum.at(top, audit, rows.column("audit", "offset"))
        np.maximum.at(top, sends, rows.column("sends", "offset"))
        for probe, reader in rows.case.consumers:
            name, whose = ("probe", probe) if reader == probe else ("group", reader)
            reached = np.full(len(names), EMPTY)
            mine = rows.column("reads", name) == rows.code(name, whose)
            np.maximum.at(reached, read[mine], rows.column("reads", "offset")[mine])
            held = given[rows.column("assignments", name) == rows.code(name, whose)]
            if (top[held] > reached[held]).any():
                return True
        return False

    def violations(self, events: Events) -> DataFrame:
        """Return partitions that were owned until the end while records waited too long."""
        time = _time(events.case)
        began = F.greatest("given", "stopped", "due", F.lit(time.began))
        waiting = (
            _waiting(events)
            .groupBy(*_HELD, "given", "stopped", "reached")
            .agg(
                F.min("offset").alias("first"), F.count("*").alias("waiting"), F.min("due").alias("due"),
                F.bool_or("known").alias("known"),
            )
            .filter(F.col("due").isNotNull())
            .withColumns({"began": began, "ended": F.lit(time.ended)})
        )  # fmt: skip
        return (
            _with_work(events, waiting)
            .filter(F.col("ended") - F.col("began") > F.col("work") + PATIENCE)
            .withColumns(
                meaning(
                    (~F.col("known"), "unproven", "the tail audit is not complete: the records may not be there"),
                    otherwise=("violation", None),
                )
            )
            .withColumn("seconds", (F.col("ended") - F.col("began")) / F.lit(1e9))
            .select(*MEANING, *_HELD, "reached", "first", "waiting", "seconds")
        )


def _with_work(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``work``, the member's longest planned work between two polls, and defer ``began`` until its work is done.

    The work that counts for ``began`` is that of polls that returned records before it.
    """
    works = _works(events.case)
    if not works:
        return rows.withColumn("work", F.lit(0))
    polls = events.table("polls").filter(among(F.col("probe"), works) & (F.col("records") > 0))
    planned = F.lit(0).cast("long")
    for probe, (seconds, per) in works.items():
        count = F.col("records").cast("long") if per == "record" else F.lit(1)
        planned = F.when(F.col("probe") == probe, F.lit(round(seconds * 1e9)) * count).otherwise(planned)
    done = polls.select(*MEMBER, F.col("completed").alias("polled"), planned.alias("takes"))
    until = F.max(F.when(F.col("polled") <= F.col("began"), F.col("polled") + F.col("takes")))
    names = rows.columns
    return (
        rows.join(done, on=list(MEMBER), how="left")
        .groupBy(*names)
        .agg(until.alias("until"), F.coalesce(F.max("takes"), F.lit(0)).alias("work"))
        .withColumn("began", F.greatest("began", "until"))
        .drop("until")
    )


def _works(case: Case) -> dict[str, tuple[float, str]]:
    """Return the planned work of each probe with ``processing``: seconds, and ``record`` or ``batch``."""
    planned = {name: (kinds.get("consume") or {}).get("processing") for name, kinds in case.plan.probes.items()}
    parts = {name: str(work).partition("/") for name, work in sorted(planned.items()) if work}
    return {name: (parse_duration(duration), per) for name, (duration, _, per) in parts.items()}


def _time(case: Case) -> TimeSpan:
    """Return the time from the end of the last fault until the consumers were asked to end."""
    last = max((span.ended for span in case.phases if span.name == "drain"), default=case.run.ended)
    began = case.run.began if case.last_heal is None else max(case.last_heal, case.run.began)
    return TimeSpan("after", began, last)


def _held(events: Events) -> DataFrame:
    """Return one row per partition that a reader owned until the end.

    Columns: ``_HELD``, isolation, given, stopped (time of its last delivery), reached, beginning (its position, None if
    unknown). A process that begins at the end of the log does so wherever an earlier one had come to.
    """
    delivered = (
        events.frame(polled)
        .groupBy("reader", *PLACE)
        .agg(F.max("high").alias("reached"), F.max("at").alias("stopped"))
    )  # fmt: skip
    killed = [f"{probe} {incarnation}" for probe, incarnation in sorted(events.case.unended)]
    kept = terms(events).filter(
        (F.col("taken").isNull() | (F.col("taken") >= events.case.run.ended)) & ~F.concat_ws(" ", *MEMBER).isin(killed)
    )
    own_choice = among(F.col("probe"), elsewhere(events.case))
    anew = among(F.col("probe"), at_the_end(events.case)) & (own_choice | F.col("group").isNull())
    anew = anew & (F.col("assignment") == 0)
    begun = F.coalesce(F.col("reached") + 1, F.when(~own_choice, F.col("found")))
    return (
        with_isolation(events, kept.withColumn("reader", F.coalesce("group", "probe")))
        .join(events.near(delivered), on=["reader", *PLACE], how="left")
        .join(events.near(_own_starts(events)), on=[*MEMBER, *PLACE], how="left")
        .withColumn("begun", F.when(~anew, begun).when(F.col("own").isNotNull(), F.greatest("own", begun)))
        .select(*_HELD, "isolation", "given", "stopped", "reached", F.col("begun").alias("beginning"))
    )


def _own_starts(events: Events) -> DataFrame:
    """Return for each process and partition ``own``, the first position that it sought, or was reset to."""
    return events.table("seeks").groupBy(*MEMBER, *PLACE).agg(F.min_by("offset", "at").alias("own"))


def _waiting(events: Events) -> DataFrame:
    """Return one row per owned partition and waiting record: the columns of ``_held``, offset, due, known.

    ``known`` is false for a record that was only acknowledged. For a reader of unknown position, only records sent
    after its assignment wait.
    """
    held = events.near(_held(events))
    complete = events.frame(retained).filter("complete").select(*PLACE)
    known = (F.col("offset").alias("seen"), F.lit(True).alias("known"))
    audited = suspected_audit(events).filter("intact").select("isolation", *PLACE, *VALUE, *known)
    columns = (*_HELD, "given", "stopped", "reached", "beginning")
    there = audited.join(held, on=["isolation", *PLACE], how="inner").select(*columns, *VALUE, "seen", "known")
    owed = events.frame(values).join(_dues(events), on=list(VALUE), how="left")
    ready = owed.filter("written").drop(*PLACE)
    acked = (
        owed.filter(F.col("written") & ~F.col("audited"))
        .join(events.near(complete), on=list(PLACE), how="left_anti")
        .join(held, on=list(PLACE), how="inner")
        .withColumns({"seen": F.col("offset"), "known": F.lit(False)})
    )
    rows = there.join(ready, on=list(VALUE), how="inner").unionByName(acked, allowMissingColumns=True)
    passed = F.coalesce(F.col("seen") <= F.col("reached"), F.lit(False))  # it was skipped, and does not wait
    since = F.col("beginning").isNull() & (F.col("invoked") > F.col("given"))
    beyond = ((F.col("seen") >= F.col("beginning")) | since) & ~passed
    return (
        rows.filter(beyond & ~given_to(events.case, F.col("reader")))
        .select(*columns, F.col("seen").alias("offset"), "due", "known")
    )  # fmt: skip


def _dues(events: Events) -> DataFrame:
    """Return the time at which each value was readable: acknowledgement, or end of its transaction (None: unknown)."""
    ends = events.table("transactions").select("txn", "ended")
    due = F.when(F.col("txn").isNull(), F.col("completed")).otherwise(F.col("ended"))
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER)
    return suspected(events, sent).join(events.near(ends), on="txn", how="left").select(*VALUE, due.alias("due"))

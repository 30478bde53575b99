"""Records that failed in processing and were committed past."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.check_rows import CheckRows
from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.counts import counted
from chaosk.analysis.events import SMALL, Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.deleted_retries import without_deleted
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.holdings import OWNED, holdings, in_blind
from chaosk.analysis.frames.values import values_of
from chaosk.analysis.glances.rows import EventRows
from chaosk.rundir.verdict import Measure

_RECORD = ("group", *VALUE)


class Swallowed(Check):
    """Every attempt of a group at processing a record failed, and the group has committed past it.

    B3, for consumers that record failures: the group was given the record, and the application has lost it permanently.
    A delivery without a failure means that the record was processed. One such delivery is enough, to any member and at
    any position of the record. A record that the group has not committed past will be delivered again, and is not lost.
    Nor is a record whose dead letter is in the log of its topic, or was acknowledged; ``lost`` judges that letter. It
    is unproven if a killed process may have had the record again without recording it, or was given it by its last poll
    and may not have processed it. It is also unproven if its dead letter has no outcome and the letters' topic was not
    audited from its first record on.

    A record that the group sought back to is not swallowed if retention or compaction removed it before the group went
    on beyond it (see ``frames.deleted_retries``). If the log's start moved later than that, within 5 s, it is unproven.

    Columns: group, topic, partition, offset, the value, attempts (failed ones), handling (action after the last
    failure: ``swallow``, ``leave``, ``seek_back``, ``stop`` or ``dead_letter``), letters (number of dead letters sent,
    none of which is in the log), committed (the group's final committed offset).
    """

    rule = "B3"
    title = "records that failed in processing and that a group committed past"
    counted = ("record swallowed", "records swallowed")
    metrics = ("swallowed_records",)
    tables = (
        "failures", "reads", "commits", "groups", "fetched", "seeks", "assignments", "outputs", "sends", "audit",
        "audit_ranges", "offsets", "topic_settings",
    )  # fmt: skip
    by_absence_of = ("reads", "outputs", "sends", "audit")
    order = (*OWNED, "offset")

    def glance(self, rows: EventRows) -> bool:
        """Return True if any processing failed."""
        return rows.count("failures") > 0

    def violations(self, events: Events) -> DataFrame:
        """Return records below a group's committed offset for which every attempt failed."""
        failed = _with_letters(events, events.table("failures").filter(F.col("group").isNotNull()))
        last = {name: F.max_by(name, F.struct("at", "n")).alias(name) for name in (*PLACE, "offset", "handling")}
        failures = failed.groupBy(*_RECORD).agg(
            F.count("*").alias("attempts"), F.min("at").alias("first_at"), F.max("at").alias("last_at"),
            F.max(_retried(events)).alias("retried"), F.bool_or("kept").alias("kept"),
            F.bool_or("unknown").alias("unknown"), F.max("letters").alias("letters"), *last.values(),
        ).filter(~F.col("kept"))  # fmt: skip
        done = events.frame(holdings).select(*OWNED, "committed")
        swallowed = (
            failures.join(_few(events, _processed(events, failures)), on=list(_RECORD), how="left")
            .filter(F.coalesce("processed", F.lit(0)) <= F.col("attempts"))
            .withColumn("begun", F.coalesce(F.col("deliveries") > F.col("attempts"), F.lit(False)))
            .join(events.near(done), on=list(OWNED), how="inner")
            .filter(F.col("offset") < F.col("committed"))
            .drop("deliveries", "processed")
        )
        late = "it was to be read again, and may have been deleted before that"
        unsure = "a dead letter has no outcome, and the log of its topic was not read from its first record on"
        cut = "a process that was killed may have had it again: its log is cut short"
        return (
            in_blind(events, without_deleted(events, swallowed))
            .withColumns(
                meaning(
                    (F.col("blind") | F.col("retried"), "unproven", cut),
                    (F.col("begun"), "unproven", "a killed process was given it last, and may not have come to it"),
                    (F.col("unknown"), "unproven", unsure),
                    (F.col("late"), "unproven", late),
                    otherwise=("violation", None),
                )
            )
            .withColumns(during("first_at", "last_at"))
            .select(*MEANING, *OWNED, "offset", *VALUE, "attempts", "handling", "letters", "committed")
        )

    def measures(self, events: Events, found: CheckRows) -> Iterable[Measure]:
        """Yield ``swallowed_records`` of each group: the proven ones."""
        return counted(events.case, found.where(("violation",)), "swallowed_records", "group", events.case.groups)


def _with_letters(events: Events, failed: DataFrame) -> DataFrame:
    """Return failures with the state of the record's dead letters: ``letters``, ``kept``, ``unknown``.

    ``kept``: one is in its topic's log, or was acknowledged. ``unknown``: the evidence does not tell.
    """
    into = letters_into(events.case)
    none = {"letters": F.lit(0).cast("long"), "kept": F.lit(False), "unknown": F.lit(False)}
    if not events.case.rows["outputs"] or not into:
        return failed.withColumns(none)
    workers = {(w.probe, w.incarnation): w for w in events.case.workers}
    deaf = [f"{probe}/{number}" for (probe, number), worker in sorted(workers.items()) if worker.acks == 0]
    heard = ~F.concat_ws("/", "producer", "producer_incarnation").isin(deaf)
    about = events.table("outputs").filter(among(F.col("probe"), into)).withColumnsRenamed(OF_PRODUCER)
    groups = (
        events.table("incarnations").withColumnsRenamed(OF_PRODUCER).select("producer", "producer_incarnation", "group")
    )
    half = [probe for probe, topic in into.items() if not events.case.whole(topic)]
    kept = F.coalesce(F.col("audited") | (F.col("written") & heard), F.lit(False))
    open_ended = (F.col("outcome").isNull() | (F.col("outcome") != "fail")) & among(F.col("producer"), half)
    fates = values_of(events, about).select(*VALUE, "audited", "written", "outcome")
    letters = (
        about.join(events.near(groups), on=["producer", "producer_incarnation"], how="inner")
        .join(fates, on=list(VALUE), how="left")
        .groupBy("group", *PLACE, "offset")
        .agg(F.count("*").alias("letters"), F.bool_or(kept).alias("kept"), F.bool_or(open_ended).alias("unknown"))
    )
    known = failed.join(letters, on=["group", *PLACE, "offset"], how="left")
    return known.withColumns({name: F.coalesce(name, value) for name, value in none.items()})


def letters_into(case: Case) -> dict[str, str]:
    """Return the dead-letter topic of each probe that has one."""
    failing = {name: (kinds.get("consume") or {}).get("failing") or {} for name, kinds in case.plan.probes.items()}
    return {name: str(each["topic"]) for name, each in sorted(failing.items()) if each.get("topic")}


def _few(events: Events, rows: DataFrame) -> DataFrame:
    """Mark a frame with one row per failed record as small for a join, unless there are very many failures."""
    return events.near(rows) if events.case.rows["failures"] <= SMALL else rows


def _processed(events: Events, failures: DataFrame) -> DataFrame:
    """Count for each failed record its deliveries to the group (``deliveries``), and the certain ones (``processed``).

    A killed process may not have processed the records of its last poll, except those it recorded a failure for.
    """
    failed = events.table("failures").select(*MEMBER, "n", F.lit(True).alias("failed"))
    return (
        events.table("reads")
        .join(_few(events, failures.select(*_RECORD)), on=list(_RECORD), how="left_semi")
        .join(_few(events, failed.distinct()), on=[*MEMBER, "n"], how="left")
        .withColumn("open", _in_last_poll(events) & F.col("failed").isNull())
        .groupBy(*_RECORD)
        .agg(F.count("*").alias("deliveries"), F.count_if(~F.col("open")).alias("processed"))
    )


def _in_last_poll(events: Events) -> Column:
    """Return a condition: the delivery is of the last poll of a killed process, so its processing is unknown."""
    if not events.case.unended:
        return F.lit(False)
    last = events.table("reads").filter(_cut_short(events)).groupBy(*MEMBER).agg(F.max("poll").alias("poll"))
    names = [f"{row['probe']}/{row['incarnation']}/{row['poll']}" for row in last.collect()]
    return F.concat_ws("/", *MEMBER, "poll").isin(names)


def _cut_short(events: Events) -> Column:
    """Return a condition: the row is of a process without an end marker."""
    names = [f"{probe}/{incarnation}" for probe, incarnation in sorted(events.case.unended)]
    return F.concat_ws("/", *MEMBER).isin(names)


def _retried(events: Events) -> Column:
    """Return a condition: the failure was to be retried, and the log of its process is incomplete."""
    return (F.col("handling") == "seek_back") & _cut_short(events)

"""Exactly one output for each input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.absent import EXCUSED
from chaosk.analysis.frames.deliveries import MEMBER
from chaosk.analysis.frames.pipe_removals import INPUT, LATE, UNDECIDED, with_input_answers, with_output_answers
from chaosk.analysis.frames.sends import committed_reads
from chaosk.analysis.frames.truncations import Truncation, excused, truncations
from chaosk.analysis.glances.rows import EMPTY, EventRows
from chaosk.analysis.glances.transacted import index_of, shown_committed
from chaosk.analysis.observed_settings import compacted

_UNSURE = "a log of the outputs' topic may have been cut back"


class Eos(Check):
    """An input that a group committed past has no output at read_committed, several, or an output without the commit.

    C4, for applications that consume, produce and commit in transactions. Inputs are all records that they polled,
    whether or not an output of them was recorded; the commit is the group's final one. ``missing``: no committed
    transaction has an output of the input. ``uncommitted`` is the reverse: the output is visible, and the group's
    offset is not past its input, or the cluster reports none (C3). ``repeated``: two transactions with the same input
    were committed.

    Missing outputs are unproven if the outputs' topic was not audited completely, if records were deleted from its
    start, or if it holds outputs whose inputs a killed process did not record. They are allowed if the log that had an
    output was seen to be truncated there, after the input was polled; unproven if it is not known which log had one. No
    output is missing that retention or compaction removed, nor one of an input that was removed after an abort, before
    the application could read it again. If the inputs' log was truncated, one offset may have held two inputs: that is
    allowed, too. Inputs that were never polled are judged by ``commit_skip``.

    Columns: kind, group, topic, partition, offset (of the input), outputs (number of visible ones), attempts, committed
    (the group's final offset), into (the outputs' topic).
    """

    rule = "C4"
    title = "inputs without exactly one output"
    counted = ("input without exactly one output", "inputs without exactly one output")
    tables = ("outputs", "sends", "reads", "audit", "audit_ranges", "groups", "incarnations", "transactions", "offsets")
    by_absence_of = ("audit", "outputs", "reads", "sends", "transactions", "txn_offsets")
    order = INPUT

    def glance(self, rows: EventRows) -> bool:
        """Return True if an input has several visible outputs, none and a commit past it, or one and no commit."""
        pipes = [rows.code("probe", name) for name in _into(rows.case.plan.probes)]
        polled = np.isin(rows.column("reads", "probe"), pipes)
        written = np.isin(rows.column("outputs", "probe"), pipes)  # others' are dead letters
        if not polled.any() and not written.any():
            return False
        made = rows.values("outputs")[written]
        there = np.concatenate([np.isin(made, shown_committed(rows)), np.zeros(int(polled.sum()), dtype=np.bool_)])
        who, places, offsets = (
            np.concatenate([mine[written], read[polled]])
            for mine, read in (
                (rows.processes("outputs"), rows.processes("reads")),
                (rows.places("outputs"), rows.places("reads")),
                (rows.column("outputs", "offset"), rows.column("reads", "offset")),
            )
        )
        processes, groups = rows.processes("incarnations"), rows.column("incarnations", "group")
        order = np.argsort(processes)
        place = index_of(processes[order], who)
        known = place != EMPTY  # a process without a row of its start is in no group
        there, places, offsets, mine = there[known], places[known], offsets[known], groups[order][place[known]]
        committed = zip(
            rows.column("groups", "group"), rows.places("groups"), rows.column("groups", "offset"), strict=True
        )
        ends = {(group, place): max(end, 0) for group, place, end in committed}
        for group in np.unique(mine):
            for place in np.unique(places[mine == group]):
                inputs = (mine == group) & (places == place)
                _, times = np.unique(offsets[inputs & there], return_counts=True)
                due = np.unique(offsets[inputs & (offsets < ends.get((group, place), 0))])
                beyond = offsets[inputs & there] >= ends.get((group, place), np.inf)
                if np.any(times > 1) or np.any(beyond) or not np.all(np.isin(due, offsets[inputs & there])):
                    return True
        return False

    def violations(self, events: Events) -> DataFrame | None:
        """Return inputs with several visible outputs, a missing one, or one without the group's commit."""
        into = _into(events.case.plan.probes)
        if not into:
            return None
        tried = _tried(events)
        repeated = F.col("outputs") > 1
        missing = (F.col("outputs") == 0) & (F.col("offset") < F.col("committed"))
        beyond = F.col("offset") >= F.coalesce("committed", F.lit(0))  # nothing committed: every input is beyond
        uncommitted = (F.col("outputs") > 0) & F.col("told") & beyond
        kind = F.when(repeated, "repeated").when(F.col("outputs") > 0, "uncommitted").otherwise("missing")
        rows = _counted(events, tried, into).filter(repeated | missing | uncommitted)
        rows = with_output_answers(events, with_input_answers(events, rows, into), tried)
        owed = (F.col("outputs") > 0) | (~F.col("out_removed") & ~_removed())
        return (
            rows.filter(owed)
            .crossJoin(F.broadcast(_strangers(events, tried, into)))
            .withColumn("kind", kind)
            .withColumns(_meaning(events))
            .withColumns(during(F.col("began"), F.col("until")))
            .select(*MEANING, "kind", *INPUT, "outputs", "attempts", "committed", "into")
        )


def _removed() -> Column:
    """Return a condition: the log lost the input as its topic's settings allow, so that nobody is owed its output."""
    return F.coalesce(F.col("input_severity") == EXCUSED, F.lit(False))


def _into(probes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the output topic of each probe that transforms."""
    return {name: str(kinds["transform"]["to"]) for name, kinds in sorted(probes.items()) if "transform" in kinds}


def _tried(events: Events) -> DataFrame:
    """Return a row for each output made of an input, and one for each input polled, with the group that read it."""
    into = _into(events.case.plan.probes)
    workers = events.table("incarnations").select("probe", "incarnation", "group")
    made = events.table("outputs").filter(among(F.col("probe"), into))
    polled = events.table("reads").filter(among(F.col("probe"), into)).select(*MEMBER, *PLACE, "offset", "at")
    both = made.unionByName(polled, allowMissingColumns=True)
    joined = events.gathered(both).join(events.near(workers), on=list(MEMBER), how="inner")
    return joined.withColumnsRenamed(OF_PRODUCER)


def _counted(events: Events, tried: DataFrame, into: dict[str, str]) -> DataFrame:
    """Return a row for each input: its attempts, its visible outputs, and the group's committed offset."""
    seen = committed_reads(events).withColumn("seen", F.lit(True))
    topic = F.create_map(*(F.lit(each) for pair in into.items() for each in pair))
    ends = events.table("groups").select("group", *PLACE, F.col("offset").alias("committed"), F.lit(True).alias("told"))
    return (
        _with_places(events, tried)
        .join(seen, on=list(VALUE), how="left")
        .groupBy(*INPUT)
        .agg(
            F.count_if(F.col("seen")).alias("outputs"), F.count("seq").alias("attempts"), F.min("at").alias("began"),
            F.max("at").alias("until"), F.max(topic[F.col("producer")]).alias("into"),
            F.collect_list("place").alias("places"),
        )
        .join(events.near(ends), on=["group", *PLACE], how="left")
    )  # fmt: skip


def _with_places(events: Events, tried: DataFrame) -> DataFrame:
    """Add ``place``: partition, offset and acknowledgement of an acknowledged output, if any log was truncated."""
    if not events.once(truncations):
        return tried.withColumn("place", F.lit(None).cast("struct<partition: int, offset: long, completed: long>"))
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER).filter(F.col("outcome") == "ok")
    place = F.struct(F.col("partition").cast("int").alias("partition"), "offset", "completed").alias("place")
    return tried.join(sent.select(*VALUE, place), on=list(VALUE), how="left")


def _took_output(cut: Truncation) -> Column:
    """Return a condition: a truncation removed an acknowledged output of the input."""

    def removed(place: Column) -> Column:
        return (place["partition"] == cut.partition) & (place["offset"] >= cut.cut_at) & (
            place["completed"].between(cut.after, cut.until)
        )  # fmt: skip

    return (F.col("into") == cut.topic) & F.exists("places", removed)


def _may_have_had_output(cut: Truncation, *, killed: bool) -> Column:
    """Return a condition: a truncation may have removed an output, because no acknowledged output is known.

    ``killed``: a process that was killed may have left no row of an output.
    """

    def there(place: Column) -> Column:
        return (place["partition"] == cut.partition) & place["offset"].isNull()

    made = (F.col("attempts") > 0) | F.lit(killed)
    unknown = (F.size("places") == 0) & made | F.exists("places", there)
    return (F.col("into") == cut.topic) & (unknown | _took_output(cut)) & (F.col("began") <= cut.until)


def _any(conditions: Iterable[Column]) -> Column:
    return reduce(or_, conditions, F.lit(False))


def _strangers(events: Events, tried: DataFrame, into: dict[str, str]) -> DataFrame:
    """Return one row: True if there are visible outputs without a recorded input."""
    mine = committed_reads(events).filter(among(F.col("producer"), into))
    return mine.join(tried.select(*VALUE), on=list(VALUE), how="left_anti").agg((F.count("*") > 0).alias("strange"))


def _meaning(events: Events) -> dict[str, Column]:
    case = events.case
    whole = [t for t, shape in case.topics.items() if all((t, n) in case.complete for n in range(shape.partitions))]
    cut = {row["topic"] for row in case.ranges if row["log_start"] > 0} | set(case.former.topics)
    cuts = events.once(truncations)
    killed = any(worker.kind == "transform" and (worker.probe, worker.incarnation) in case.unended for worker in
                 case.workers)  # fmt: skip
    into, there, lost = F.col("into"), F.col("outputs") > 0, F.col("input_severity")
    input_cut = [(there & holds, word, why) for holds, word, why in excused(events, F.col("offset"), F.col("began"))]
    gone = excused(events, F.col("offset"), F.col("began"), later=F.col("passed_at"))
    input_gone = [((lost == "allowed") & holds, word, why) for holds, word, why in gone]
    compact = [topic for topic in case.topics if compacted(case, topic)]
    return meaning(
        *input_cut,
        (there, "violation", None),
        *input_gone,
        (lost == "unproven", "unproven", "it is not known whether the log still had the input"),
        (lost == LATE, "unproven", "the log may have lost the input before the application could read it again"),
        (~among(into, whole), "unproven", "the outputs' topic was not audited completely"),
        (among(into, cut), "unproven", "records were deleted from the start of the outputs' topic"),
        (F.col("strange"), "unproven", "a killed process left outputs without recorded inputs"),
        (_any(_took_output(each) for each in cuts if each.seen), "allowed", "a log of the outputs' topic was cut back"),
        (F.col("out_undecided") & among(into, compact), "unproven", UNDECIDED),
        (F.col("out_open").isNotNull(), "unproven", "it is not known whether the log still has to have its output"),
        (_any(_may_have_had_output(each, killed=killed) for each in cuts), "unproven", _UNSURE),
        otherwise=("violation", None),
    )

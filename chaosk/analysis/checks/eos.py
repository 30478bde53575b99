"""One output for each input, no more and no less."""

from __future__ import annotations

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import MEANING, Check, among, during, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.sends import committed_reads
from chaosk.analysis.glances.rows import EMPTY, Rows
from chaosk.analysis.glances.transacted import shown_committed

_INPUT = ("group", *PLACE, "offset")


class Eos(Check):
    """An input that a group has committed past has no output at read_committed, another one has, or one has several.

    C4, for applications that read, write and commit in transactions: inputs are those of the table ``outputs``, the
    commit is the group's in the end. ``missing``: the transaction that committed the input's offset was not committed
    as a whole. ``uncommitted`` is the reverse: the output is visible, and the group's offset is not past its input
    (C3). ``repeated``: two transactions with the same input were committed.

    Missing ones are left open (unproven) where the outputs' topic was not audited completely, where records were
    deleted from its start, or where it holds outputs of which a killed process had not written down whose they are;
    they are allowed where an unclean election was. Inputs that were never tried are judged by ``commit_skip``.

    Columns: kind, group, topic, partition, offset (of the input), outputs (how many are visible), attempts, committed
    (the group's offset in the end), into (the outputs' topic).
    """

    rule = "C4"
    title = "inputs without exactly one output"
    counted = ("input without exactly one output", "inputs without exactly one output")
    tables = ("outputs", "sends", "reads", "audit", "audit_ranges", "groups", "incarnations")
    order = _INPUT

    def glance(self, rows: Rows) -> bool:
        """Whether any input has several visible outputs, or none and a commit past it."""
        if not rows.count("outputs"):
            return False
        who = rows.processes("outputs")
        there = np.isin((who << 32) | rows.column("outputs", "seq"), shown_committed(rows))
        places, offsets = rows.places("outputs"), rows.column("outputs", "offset")
        processes, groups = rows.processes("incarnations"), rows.column("incarnations", "group")
        order = np.argsort(processes)
        mine = groups[order][np.minimum(np.searchsorted(processes[order], who), processes.size - 1)]
        committed = zip(
            rows.column("groups", "group"), rows.places("groups"), rows.column("groups", "offset"), strict=True
        )
        ends = {(group, place): end for group, place, end in committed if end != EMPTY}
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
        """Rows of inputs with no visible output or with several."""
        into = _into(events)
        if not events.case.rows["outputs"] or not into:
            return None
        tried = _tried(events)
        repeated = F.col("outputs") > 1
        missing = (F.col("outputs") == 0) & (F.col("offset") < F.col("committed"))
        uncommitted = (F.col("outputs") > 0) & (F.col("offset") >= F.col("committed"))
        kind = F.when(repeated, "repeated").when(F.col("outputs") > 0, "uncommitted").otherwise("missing")
        return (
            _counted(events, tried, into)
            .filter(repeated | missing | uncommitted)
            .crossJoin(F.broadcast(_strangers(events, tried, into)))
            .withColumn("kind", kind)
            .withColumns(_meaning(events.case))
            .withColumns(during(F.col("began"), F.col("until")))
            .select(*MEANING, "kind", *_INPUT, "outputs", "attempts", "committed", "into")
        )


def _into(events: Events) -> dict[str, str]:
    """By probe that transforms, the topic it writes to."""
    probes = events.case.plan.probes
    return {name: str(kinds["transform"]["to"]) for name, kinds in sorted(probes.items()) if "transform" in kinds}


def _tried(events: Events) -> DataFrame:
    """A row for each output that was made of an input, with the group that read it."""
    workers = events.table("incarnations").select("probe", "incarnation", "group")
    made = events.table("outputs").filter(among(F.col("probe"), _into(events)))
    joined = made.join(events.near(workers), on=["probe", "incarnation"], how="inner")
    return joined.withColumnsRenamed(OF_PRODUCER)


def _counted(events: Events, tried: DataFrame, into: dict[str, str]) -> DataFrame:
    """A row for each input: how often it was tried, how many outputs are visible, what the group committed."""
    seen = committed_reads(events).withColumn("seen", F.lit(True))
    topic = F.create_map(*(F.lit(each) for pair in into.items() for each in pair))
    ends = events.table("groups").select("group", *PLACE, F.col("offset").alias("committed"))
    return (
        tried.join(seen, on=list(VALUE), how="left")
        .groupBy(*_INPUT)
        .agg(
            F.count_if(F.col("seen")).alias("outputs"), F.count("*").alias("attempts"), F.min("at").alias("began"),
            F.max("at").alias("until"), F.max(topic[F.col("producer")]).alias("into"),
        )
        .join(events.near(ends), on=["group", *PLACE], how="left")
    )  # fmt: skip


def _strangers(events: Events, tried: DataFrame, into: dict[str, str]) -> DataFrame:
    """One row: whether there are visible outputs of which nobody wrote down what they were made of."""
    mine = committed_reads(events).filter(among(F.col("producer"), into))
    return mine.join(tried.select(*VALUE), on=list(VALUE), how="left_anti").agg((F.count("*") > 0).alias("strange"))


def _meaning(case: Case) -> dict[str, Column]:
    whole = [t for t, shape in case.topics.items() if all((t, n) in case.complete for n in range(shape.partitions))]
    cut = {row["topic"] for row in case.ranges if row["log_start"] > 0} | set(case.former.topics)
    unclean = filter(case.unclean, case.topics)
    into = F.col("into")
    return meaning(
        (F.col("outputs") > 0, "violation", None),
        (~among(into, whole), "unproven", "the outputs' topic was not audited completely"),
        (among(into, cut), "unproven", "records were deleted from the start of the outputs' topic"),
        (F.col("strange"), "unproven", "a killed process left outputs of which nobody knows the inputs"),
        (among(into, unclean), "allowed", "an unclean election was allowed for the outputs' topic"),
        otherwise=("violation", None),
    )

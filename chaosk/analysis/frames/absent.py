"""Records that the log does not show at both isolation levels, each with a severity and a reason."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.case import Case
from chaosk.analysis.checks._contract import among, meaning
from chaosk.analysis.events import Events
from chaosk.analysis.frames import OF_PRODUCER, PLACE, VALUE
from chaosk.analysis.frames.compaction import with_compaction
from chaosk.analysis.frames.packed import offset_of
from chaosk.analysis.frames.retained import retained
from chaosk.analysis.frames.retention import AGE, SIZE, UNMEASURED, with_retention
from chaosk.analysis.frames.sends import with_settings
from chaosk.analysis.frames.takeovers import ALONE, with_leaders, with_replicated
from chaosk.analysis.frames.truncations import NO_OFFSET, Truncation, excused, truncations
from chaosk.analysis.frames.unmarked import HELD, PERHAPS, UNMARKED, with_unmarked
from chaosk.analysis.frames.values import values
from chaosk.analysis.host_clocks import unmeasured
from chaosk.analysis.observed_settings import compacted, reported

EXCUSED = "excused"
"""Severity of a record that need not be in the log: no finding, but a line of the ledger."""
UNAUDITED = "the tail audit of its partition is not complete"
UNREPORTED = "the log's start moved past it, and no broker reported the settings that may delete it"
DELETED_OTHERWISE = (
    "deleted, as by another client's DeleteRecords: the log's start moved past it, and no setting or step of this run "
    "explains that"
)
"""Reason of a violation."""
REMADE = "its topic was deleted and made again"
SUPERSEDED = "compaction keeps only the latest record of a key"
DELETED = (AGE, SIZE, UNREPORTED, UNMEASURED)
"""Reasons that name a deletion from the start of the log."""
_UNHEARD = "acks is 0: no broker had acknowledged it"
_UNKEYED = "compaction removes records of a key, and its key is not known"
_BETWEEN = "compaction may have removed it while the audit was reading"


def absent(events: Events) -> DataFrame:
    """Return one row per acknowledged or read value that the audit did not find at both isolation levels.

    Columns: the value, topic, partition, offset (as read, else as acknowledged), kind, severity and reason (see
    ``checks._contract``, and ``EXCUSED``), written, read, acks, scheduled, invoked, completed, read_at. ``kind``:
    ``hidden`` (only at read_uncommitted), ``deleted`` (below the log start), ``truncated_after_read`` or ``lost``.
    ``lone``: the reason for which its producer's ``acks`` allow the loss, whatever else explains it; None if they do
    not. Records of open and of aborted transactions are excluded.
    """
    gone = ~F.col("stored") & ~F.col("visible") & (F.col("written") | F.col("read"))
    half = (F.col("stored") != F.col("visible")) & (F.col("written") | F.col("plain"))
    missing = events.frame(values).filter(gone | half)
    offset = F.when(F.col("audited"), F.col("first")).otherwise(F.coalesce("read_place", "acked"))
    rows = _with_deletion(
        events,
        with_settings(events, missing)
        .drop("offset")
        .withColumn("offset", offset_of(offset))
        .join(events.near(events.frame(retained)), on=list(PLACE), how="left"),
    )
    marked = _with_markers(events, _with_elections(events, rows)).withColumn("lone", _lone())
    return marked.withColumns(_answers(events)).withColumn("kind", _kind()).select(
        *VALUE, *PLACE, "offset", "kind", "severity", "reason", "lone", "written", "read", "acks", "scheduled",
        "invoked", "completed", "read_at",
    )  # fmt: skip


def _with_elections(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``deposed``, ``replicated``, ``amid``, ``served_epoch``, ``least`` and ``most``: what elections may excuse.

    The joins are skipped if all producers use ``acks=all`` and no log was truncated.
    """
    alone = not all(worker.acks in (None, -1) for worker in events.case.workers)
    if not alone and not events.once(truncations):
        unknown = {name: F.lit(None).cast("long") for name in ("served_epoch", "least", "most")}
        return rows.withColumns({name: F.lit(False) for name in ("deposed", "replicated", "amid")} | unknown)
    return _with_bounds(events, _amid(events, with_replicated(events, with_leaders(events, rows))))


def _with_markers(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``unmarked``, and ``held``: the same of the record at which the audit at read_committed ended."""
    marked = with_unmarked(events, rows).drop("cut_since")
    ends = with_unmarked(
        events, rows.select(*PLACE, F.col("visible_end").alias("offset")).distinct(), (*PLACE, "offset")
    )
    held = ends.select(*PLACE, F.col("unmarked").alias("held"))
    return marked.join(events.near(held), on=list(PLACE), how="left")


def _with_bounds(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``least`` and ``most``, between which a record's offset lies; both are its offset if that is known.

    A record without an offset lies between its neighbours of the same producer, if the producer keeps the order.
    """
    sent = events.table("sends").filter((F.col("outcome") == "ok") & (F.col("offset") >= 0))
    sent = sent.withColumnsRenamed(OF_PRODUCER).select(
        *VALUE[:-1], *PLACE, F.col("seq").alias("other"), F.col("offset").alias("its")
    )
    before, behind = F.col("other") < F.col("seq"), F.col("other") > F.col("seq")
    nearest = (
        rows.filter(F.col("offset").isNull() & F.col("idempotent"))
        .select(*VALUE, *PLACE)
        .join(sent, on=[*VALUE[:-1], *PLACE], how="inner")
        .groupBy(*VALUE)
        .agg(
            (F.max_by(F.when(before, F.col("its")), F.when(before, F.col("other"))) + 1).alias("least"),
            F.min_by(F.when(behind, F.col("its")), F.when(behind, F.col("other"))).alias("most"),
        )
    )
    known = {name: F.coalesce("offset", name) for name in ("least", "most")}
    return rows.join(events.near(nearest), on=list(VALUE), how="left").withColumns(known)


def bereft(events: Events) -> dict[tuple[object, object], int]:
    """Return the lowest offset gone from each log that lost a record, allowed or not, or was truncated.

    Keys are topic and partition as displayed. It is 0 if the offset of a lost record, or of a truncation, is unknown.
    """
    gone = events.frame(absent).filter(F.col("severity").isin("violation", "allowed")).groupBy(*PLACE)
    lowest = gone.agg(F.min(F.coalesce("offset", F.lit(0))).alias("offset")).collect()
    found = [(row["topic"], row["partition"], int(row["offset"])) for row in lowest]
    found += [(cut.topic, cut.partition, cut.cut_at) for cut in events.once(truncations)]
    losses: dict[tuple[object, object], int] = {}
    for topic, partition, offset in found:
        place = events.case.former.told(topic, partition)
        losses[place] = min(offset, losses.get(place, offset))
    return losses


def _amid(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``amid``: True if records of one leader are on both sides of the offset, and none at it.

    A truncation in favour of another leader removes the end of a log, and the new leader's records take its place. So
    no truncation leaves a hole. Where a marker, another client's record or a record that compaction removed may have
    taken the place, it is True only if that leader, or a later one, had acknowledged an earlier record of the producer.
    """
    audit = events.table("audit")
    reigns = _with_mixed(events, audit).filter(F.col("leader_epoch") >= 0).groupBy(*PLACE, "leader_epoch", "mixed")
    spans = reigns.agg(F.min("offset").alias("low"), F.max("offset").alias("high"))
    here = [F.col(f"row.{name}") == F.col(f"span.{name}") for name in PLACE]
    here += [F.col("row.offset") > F.col("span.low"), F.col("row.offset") < F.col("span.high")]
    here.append(~F.col("span.mixed") | (F.col("row.served_epoch") >= F.col("span.leader_epoch")))
    within = (
        rows.select(*VALUE, *PLACE, "offset", "served_epoch")
        .join(audit.select(*PLACE, "offset"), on=[*PLACE, "offset"], how="left_anti")
        .alias("row")
        .join(events.near(spans).alias("span"), on=here, how="left_semi")
        .select(*VALUE, F.lit(True).alias("amid"))
    )
    return rows.join(within, on=list(VALUE), how="left").withColumn("amid", F.coalesce("amid", F.lit(False)))


def _with_mixed(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``mixed``: True if a log holds, or held, more than the records of this run's producers.

    That is a log that is compacted, that is written in transactions, or in which readers saw a foreign record.
    """
    case = events.case
    topics = {topic for topic in case.topics if compacted(case, topic)} | _transactional(case)
    others = []
    if case.transactional:
        others.append(events.table("sends").filter(F.col("txn").isNotNull()).select(*PLACE))
    if case.foreign:
        others += [events.table(table).filter(~F.col("intact")).select(*PLACE) for table in ("audit", "reads")]
    mixed = among(F.col("topic"), topics)
    if not others:
        return rows.withColumn("mixed", mixed)
    places = reduce(DataFrame.unionByName, others).distinct().withColumn("others", F.lit(True))
    joined = rows.join(events.near(places), on=list(PLACE), how="left")
    return joined.withColumn("mixed", mixed | F.col("others").isNotNull())


def _transactional(case: Case) -> set[str]:
    """Return the topics that the plan's probes write to in transactions."""
    topics = set()
    for probe in case.plan.probes.values():
        produce, transform = probe.get("produce") or {}, probe.get("transform") or {}
        if produce.get("transaction"):
            topics.add(str(produce["topic"]))
        if transform:
            topics.add(str(transform["to"]))
    return topics


def _by_old_leader(cut: Truncation) -> Column:
    """Return a condition: the record may have been acknowledged by the leader before a truncation."""
    return ~F.col("amid") & ~cut.renewed(F.col("served_epoch"))


def _kind() -> Column:
    below = F.col("offset") < F.col("log_start")
    return (
        F.when(F.col("audited"), "hidden")
        .when(below, "deleted")
        .otherwise(F.when(F.col("read"), "truncated_after_read").otherwise("lost"))
    )


def _answers(events: Events) -> dict[str, Column]:
    case = events.case
    below = F.col("offset") < F.col("log_start")
    known = among(F.col("topic"), reported(case))
    beyond = F.col("stored") & (F.col("offset") >= F.col("visible_end"))
    held_back = "the last stable offset stood before it when the audit read at read_committed"
    at = F.coalesce("completed", "read_at")
    cut = excused(events, F.col("least"), at, also=_by_old_leader)
    perhaps = excused(events, F.col("most"), at, also=_by_old_leader)
    return meaning(
        (F.col("remade"), EXCUSED, REMADE),
        (~F.coalesce("complete", F.lit(False)), "unproven", UNAUDITED),
        (F.col("visible"), "unproven", "the audit has it at read_committed alone, so its other pass lacks rows"),
        (F.col("superseded") & F.col("audited"), "unproven", _BETWEEN),
        (F.col("superseded"), EXCUSED, SUPERSEDED),
        (F.col("cleaned"), EXCUSED, "compaction removes the records of aborted transactions"),
        (F.col("compactable") & ~F.col("keyed"), "unproven", _UNKEYED),
        (F.col("stored") & (F.col("unmarked") == UNMARKED), "allowed", UNMARKED),
        (beyond & (F.col("held") == UNMARKED), "allowed", HELD),
        (beyond, "unproven", held_back),
        (F.col("stored") & (F.col("unmarked") == PERHAPS), "unproven", PERHAPS),
        (F.col("deletable") == AGE, EXCUSED, AGE),
        (F.col("deletable") == SIZE, EXCUSED, SIZE),
        (below & ~known, "unproven", UNREPORTED),
        (below & F.lit(unmeasured(case)), "unproven", UNMEASURED),
        (F.col("offset").isNull() & F.col("trimmed") & (F.col("lone") == _UNHEARD), "allowed", _UNHEARD),
        (F.col("offset").isNull() & F.col("trimmed"), "unproven", "its offset is unknown, and records were deleted"),
        *((holds & F.col("least").isNotNull(), word, why) for holds, word, why in cut),
        *((F.col("lone") == why, "allowed", why) for why in (_UNHEARD, ALONE)),
        *((holds & F.col("offset").isNull(), "unproven", NO_OFFSET) for holds, *_ in perhaps),
        (below, "violation", DELETED_OTHERWISE),
        otherwise=("violation", None),
    )


def _lone() -> Column:
    alone = (F.col("acks") != -1) & F.col("deposed") & ~F.col("amid") & ~F.col("replicated")
    return F.when(~F.col("read"), F.when(F.col("acks") == 0, _UNHEARD).when(alone, ALONE))


def _with_deletion(events: Events, rows: DataFrame) -> DataFrame:
    """Add reasons of a deletion: ``remade``, ``deletable``, ``cleaned`` and those of ``with_compaction``."""
    remade = F.lit(False)
    for topic, remaking in events.case.former.topics.items():
        remade = remade | ((F.col("topic") == topic) & (F.col("partition") >= remaking.apart))
    dated = rows.withColumns({"remade": remade, "since": F.coalesce("invoked", "read_at")})
    bounded = _with_least_deleted(events, dated)
    marked = with_compaction(events, _with_aborted(events, with_retention(events, bounded).drop("below")))
    cleaned = F.col("compactable") & F.col("aborted") & ~F.col("written")
    return marked.withColumn("cleaned", cleaned).drop("aborted", "since")


def _with_least_deleted(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``below``, an offset that was deleted and that the record was not beyond; its own offset if that is known.

    The offset of a record with ``acks=0`` is not known. If it was in the log, it stood before the later ones of its
    producer; of these, readers had the lowest that was deleted.
    """
    if not events.case.deaf:
        return rows.withColumn("below", F.col("offset"))
    deaf = [f"{probe}/{number}" for probe, number in sorted(events.case.deaf)]
    silent = F.concat_ws("/", "producer", "producer_incarnation").isin(deaf)
    starts = events.frame(retained).select(*PLACE, "log_start")
    given = (
        events.table("reads").filter(F.col("intact") & silent).select(*VALUE, *PLACE, F.col("offset").alias("below"))
    )
    gone = given.join(events.near(starts), on=list(PLACE), how="inner").filter(F.col("below") < F.col("log_start"))
    points = rows.filter(F.col("offset").isNull() & silent).select(*VALUE, *PLACE)
    behind = Window.partitionBy(*VALUE[:-1], *PLACE).orderBy(F.desc("seq")).rowsBetween(Window.unboundedPreceding, -1)
    bounds = (
        points.withColumn("asked", F.lit(True))
        .unionByName(gone.select(*VALUE, *PLACE, "below"), allowMissingColumns=True)
        .withColumn("later", F.min("below").over(behind))
        .filter("asked")
        .select(*VALUE, F.col("later").alias("below"))
    )
    joined = rows.join(bounds, on=list(VALUE), how="left")
    return joined.withColumn("below", F.coalesce("offset", "below"))


def _with_aborted(events: Events, rows: DataFrame) -> DataFrame:
    """Add ``aborted``: True if their transaction is known to be aborted; False in runs without compaction."""
    case = events.case
    if not case.transactional or not any(compacted(case, topic) for topic in case.topics):
        return rows.withColumn("aborted", F.lit(False))
    over = events.table("transactions").filter(F.col("outcome") == "aborted").select("txn")
    sent = events.table("sends").withColumnsRenamed(OF_PRODUCER).join(over, on="txn", how="left_semi")
    aborted = sent.select(*VALUE).distinct().withColumn("aborted", F.lit(True))
    return rows.join(aborted, on=list(VALUE), how="left").withColumn("aborted", F.coalesce("aborted", F.lit(False)))

"""Records, their transactions, and the markers that ended the transactions around them in the log."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from chaosk.analysis.events import Events
from chaosk.analysis.frames import PLACE, VALUE
from chaosk.analysis.frames.epochs import audited, sent_in_transactions


def written_in_turn(events: Events) -> DataFrame:
    """Return audited records of a known transaction before a marker, in logs that were read completely.

    ``txn`` is the transaction in which the record was sent. ``marker`` is the offset of the marker that ends its
    transaction in the log. ``owner`` is, of the transactions of all records that this marker ended, the last to begin.
    ``home`` is the marker that ended the first record of ``txn`` in the log. For a record out of turn, ``owner`` or
    ``home`` differ from its own. Further columns: value, place, offset, ``visible``, producer_id, of its send invoked
    and completed, and ``since``, the first send of the transaction.
    """
    sent = sent_in_transactions(events).withColumn("since", F.min("invoked").over(Window.partitionBy("txn")))
    known = sent.select(*VALUE, "txn", "since", "invoked", "completed")
    in_one = Window.partitionBy(*PLACE, "marker")
    of_one = Window.partitionBy(*PLACE, "txn")
    return (
        _ended(events)
        .join(known, on=list(VALUE), how="inner")
        .withColumn("owner", F.max(F.struct("since", "txn")).over(in_one)["txn"])
        .withColumn("home", F.min(F.struct("offset", "marker")).over(of_one)["marker"])
        .select(
            *VALUE, *PLACE, "offset", "visible", "txn", "marker", "producer_id", "owner", "home", "since", "invoked",
            "completed",
        )
    )  # fmt: skip


def _ended(events: Events) -> DataFrame:
    """Return audited records with marker and producer_id of the stretch that contains them, if that has ended."""
    whole = events.table("dumps").filter("complete").select(*PLACE)
    stretches = events.table("stretches").select(
        *PLACE, F.col("first").alias("offset"), F.struct("last", "marker", "producer_id").alias("stretch")
    )
    both = stretches.unionByName(audited(events), allowMissingColumns=True)
    so_far = Window.partitionBy(*PLACE).orderBy("offset", F.col("stretch").isNull())
    return (
        both.join(events.near(whole), on=list(PLACE), how="left_semi")
        .withColumn("within", F.last("stretch", ignorenulls=True).over(so_far))
        .filter(F.col("stretch").isNull() & (F.col("offset") <= F.col("within.last")))
        .select(*VALUE, *PLACE, "offset", "visible", "within.marker", "within.producer_id")
        .filter(F.col("marker").isNotNull())
    )

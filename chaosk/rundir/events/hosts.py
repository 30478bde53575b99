"""Tables of the brokers' own files, fetched from the hosts after healing; see ``chaosk.run.replica_logs``."""

from __future__ import annotations

from chaosk.rundir.events.table import PLACE, table

MARKERS = table(
    "markers",
    "one row per record by which a broker ended a transaction in a partition's log, as its leader has it",
    *PLACE,
    ("offset", "long", "offset"),
    ("producer_id", "long", "producer id of the transaction that it ended"),
    ("producer_epoch", "int", "the producer's epoch, or a higher one if the producer was fenced"),
    ("kind", "string", "commit or abort"),
)
STRETCHES = table(
    "stretches",
    "one row per stretch of a partition's log in which only one producer wrote, in one transaction",
    *PLACE,
    ("first", "long", "first offset"),
    ("last", "long", "last offset"),
    ("producer_id", "long", "the producer's id"),
    ("producer_epoch", "int", "the producer's epoch"),
    ("marker", "long", "offset of the marker that ended the transaction; empty if there is none", True),
)
DUMPS = table(
    "dumps",
    "one row per partition whose log was searched for transactions on its leader's disk",
    *PLACE,
    ("broker", "int", "the leader; -1 if none"),
    ("log_start", "long", "first offset of its first segment; empty if none was read", True),
    ("end", "long", "one past the last offset that was read", True),
    ("complete", "bool", "whether all of the log was read"),
    ("why", "string", "what stopped it", True),
)
COPIES = table(
    "copies",
    "one row per stretch of a partition's log in which replicas were compared: where records are missing, or all of it",
    *PLACE,
    ("first", "long", "first offset"),
    ("last", "long", "last offset"),
    (
        "same",
        "bool",
        "whether every replica holds the same batches there, or none; empty if one is unknown",
        True,
    ),
    ("held", "string", "where they do not: by broker the batch that it holds at the first of these offsets", True),
    ("why", "string", "reason why it is unknown", True),
)

TABLES = (MARKERS, STRETCHES, DUMPS, COPIES)

"""The event tables: the one schema that the run writes and the analysis reads.

Every time is in nanoseconds of the monotonic clock of chaosk's machine (``CLOCK_MONOTONIC``, shared by all its
processes), so durations are differences; the ``clocks`` table ties it to the wall clock, sampled once a second.
A record's value is named by (``producer``, ``incarnation``, ``seq``) and unique in a run; a row of ``sends`` is one
attempt. Table names are words; the letters in brackets are those of the definitions the checks cite.

An incarnation is one process of one probe: a probe that is killed and started again has two. ``incarnations`` has a
row when it starts and ``ends`` a row when it ended by itself: without that end marker its log is cut short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["long", "int", "short", "bool", "string", "ints", "double"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, kind, meaning, and whether it may be empty."""

    name: str
    kind: Kind
    meaning: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One event table, in the order its columns are written."""

    name: str
    meaning: str
    columns: tuple[Column, ...]


def _table(name: str, meaning: str, *columns: tuple[str, Kind, str] | tuple[str, Kind, str, bool]) -> Table:
    return Table(name, meaning, tuple(Column(*column) for column in columns))


_WHO: tuple[tuple[str, Kind, str], ...] = (
    ("probe", "string", "the probe's name in the scenario"),
    ("incarnation", "int", "which process of that probe, from 0"),
)
_PLACE: tuple[tuple[str, Kind, str], ...] = (("topic", "string", "topic"), ("partition", "int", "partition"))
_VALUE: tuple[tuple[str, Kind, str, bool], ...] = (
    ("producer", "string", "the probe that wrote the record, from its payload; empty if the payload is not ours", True),
    ("producer_incarnation", "int", "its incarnation", True),
    ("seq", "long", "its sequence number in that incarnation, from 0", True),
    ("intact", "bool", "whether the payload's checksum and run id are right", False),
)

SENDS = _table(
    "sends",
    "[S] one row per attempt to write a record, written when its outcome is known",
    *_WHO,
    ("seq", "long", "sequence number in this incarnation, from 0; never reused"),
    ("topic", "string", "topic"),
    ("partition", "int", "partition; empty if the client never chose one", True),
    ("scheduled", "long", "when the record was due, by the probe's rate; latency counts from here"),
    ("invoked", "long", "when it was handed to the client"),
    ("completed", "long", "when the outcome was known; empty when the probe ended before", True),
    ("outcome", "string", "ok (acknowledged), fail (definitely not written), info (may have been written)"),
    ("error", "string", "librdkafka's name of the error, like _MSG_TIMED_OUT", True),
    ("offset", "long", "offset the acknowledgement named", True),
    ("resend_of", "long", "seq of the record the application sent again with this one", True),
    ("txn", "string", "transaction the send was in", True),
    ("producer_epoch", "int", "producer epoch of that transaction", True),
)
READS = _table(
    "reads",
    "[R] one row per record delivered to a consumer",
    *_WHO,
    ("group", "string", "consumer group; empty for a consumer that assigns itself partitions", True),
    ("assignment", "int", "how often this member was given this partition anew, from 0"),
    ("poll", "long", "which poll of this incarnation delivered it"),
    ("n", "long", "delivery order within this incarnation, from 0"),
    *_PLACE,
    ("offset", "long", "offset"),
    *_VALUE,
    ("leader_epoch", "int", "leader epoch the record came with", True),
    ("at", "long", "when it was delivered"),
    ("txn", "string", "transaction the poll took place in", True),
)
POLLS = _table(
    "polls",
    "[P] one row per poll, the empty ones too",
    *_WHO,
    ("poll", "long", "number of the poll in this incarnation, from 0"),
    ("invoked", "long", "when it was called"),
    ("completed", "long", "when it returned"),
    ("records", "int", "how many records it returned"),
    ("error", "string", "the error it returned", True),
)
SEEKS = _table(
    "seeks",
    "[K] one row per seek or reset of a position",
    *_WHO,
    *_PLACE,
    ("offset", "long", "the new position"),
    ("at", "long", "when"),
    ("kind", "string", "seek or reset"),
)
ASSIGNMENTS = _table(
    "assignments",
    "[A] one row per partition given to or taken from a member",
    *_WHO,
    ("group", "string", "consumer group", True),
    ("at", "long", "when"),
    ("kind", "string", "assign, revoke or lost"),
    *_PLACE,
    ("assignment", "int", "number of the assignment of that partition to this member, from 0"),
    ("rebalance", "int", "which rebalance of this incarnation, from 0"),
)
COMMITS = _table(
    "commits",
    "[C] one row per partition and commit",
    *_WHO,
    ("group", "string", "consumer group"),
    ("assignment", "int", "assignment of that partition; empty if it had none", True),
    ("generation", "int", "generation of the group, where the client tells", True),
    *_PLACE,
    ("offset", "long", "the offset to read next (one past the last processed)"),
    ("invoked", "long", "when it was asked for; for automatic commits the completed poll before it"),
    ("completed", "long", "when the answer came; empty when the probe ended before", True),
    ("outcome", "string", "ok, fail or info"),
    ("error", "string", "librdkafka's name of the error", True),
    ("kind", "string", "sync, async or auto"),
)
FETCHED = _table(
    "fetched",
    "[F] committed offset a member found when it was given a partition",
    *_WHO,
    ("group", "string", "consumer group"),
    *_PLACE,
    ("offset", "long", "the committed offset; empty if there was none", True),
    ("invoked", "long", "when it was asked for"),
    ("completed", "long", "when the answer came"),
)
TRANSACTIONS = _table(
    "transactions",
    "[X] one row per transaction, written when it ended",
    *_WHO,
    ("txn", "string", "unique name of the transaction in this run"),
    ("transactional_id", "string", "transactional.id"),
    ("producer_epoch", "int", "producer epoch", True),
    ("initialized", "long", "when init_transactions of this epoch returned"),
    ("begun", "long", "when it began"),
    ("ending", "long", "when commit or abort was called", True),
    ("ended", "long", "when that call returned", True),
    ("outcome", "string", "committed, aborted or info"),
)
PARTITIONS = _table(
    "partitions",
    "[M] one sample per partition, as one broker described it",
    ("at", "long", "when the answer came"),
    ("asked", "int", "the broker that answered"),
    *_PLACE,
    ("leader", "int", "leader; -1 if none"),
    ("leader_epoch", "int", "leader epoch", True),
    ("replicas", "ints", "assigned replicas, preferred leader first"),
    ("isr", "ints", "in-sync replicas"),
)
OFFSETS = _table(
    "offsets",
    "[M] one sample of a partition's offsets, as one replica reported them",
    ("at", "long", "when the answer came"),
    ("asked", "int", "the broker that answered"),
    *_PLACE,
    ("leader", "bool", "whether that broker held itself to be the leader"),
    ("log_start", "long", "log start offset", True),
    ("high_watermark", "long", "high watermark; leaders only", True),
    ("last_stable", "long", "last stable offset; leaders only", True),
    ("log_end", "long", "log end offset of that replica", True),
)
BROKERS = _table(
    "brokers",
    "one sample of the cluster's membership, as one broker described it",
    ("asked", "int", "the broker asked"),
    ("invoked", "long", "when it was asked"),
    ("completed", "long", "when it answered or the attempt ended"),
    ("controller", "int", "the controller it names; -1 if none", True),
    ("alive", "ints", "the brokers it names", True),
    ("error", "string", "why there was no answer", True),
)
ZOOKEEPERS = _table(
    "zookeepers",
    "one sample of a ZooKeeper node's role",
    ("node", "int", "ZooKeeper id"),
    ("at", "long", "when the answer came or the attempt ended"),
    ("mode", "string", "leader, follower, standalone, or empty when it does not serve", True),
    ("error", "string", "why there was no answer", True),
)
FAULTS = _table(
    "faults",
    "[FT] one row per timeline entry that acted, written when it was done",
    ("fault", "string", "the entry's name in the plan"),
    ("step", "string", "the step"),
    ("targets", "string", "what it was aimed at, resolved, like `broker 2 on node3`"),
    ("invoked", "long", "when injecting began"),
    ("applied", "long", "when its effect was first verified; empty if never", True),
    ("heal_invoked", "long", "when undoing began; empty if it has no undo", True),
    ("healed", "long", "when the undo was verified; empty if never", True),
    ("took", "bool", "whether the effect was verified after injecting and still before undoing"),
    ("undone", "bool", "whether the undo was verified, or there is none"),
    ("why", "string", "what was seen, when it did not take or was not undone", True),
)
AUDIT = _table(
    "audit",
    "[TL] one row per record that a fresh reader found after healing, from log start to end",
    ("isolation", "string", "read_uncommitted or read_committed"),
    *_PLACE,
    ("offset", "long", "offset"),
    *_VALUE,
    ("leader_epoch", "int", "leader epoch", True),
)
AUDIT_RANGES = _table(
    "audit_ranges",
    "what the tail audit covered, one row per partition and isolation level",
    ("isolation", "string", "read_uncommitted or read_committed"),
    *_PLACE,
    ("log_start", "long", "log start offset"),
    ("end", "long", "high watermark, or last stable offset for read_committed"),
    ("complete", "bool", "whether every offset below end was read or is known to hold no record"),
    ("why", "string", "what stopped it", True),
)
GROUPS = _table(
    "groups",
    "committed offset of a group after the run, one row per partition",
    ("group", "string", "consumer group"),
    *_PLACE,
    ("offset", "long", "committed offset", True),
)
ERRORS = _table(
    "errors",
    "errors a client reported outside of any call",
    *_WHO,
    ("at", "long", "when"),
    ("error", "string", "librdkafka's name of it, like _ALL_BROKERS_DOWN"),
    ("message", "string", "what it said"),
    ("fatal", "bool", "whether the client is unusable from here on"),
)
INCARNATIONS = _table(
    "incarnations",
    "one row per started process of a probe",
    *_WHO,
    ("kind", "string", "produce or consume"),
    ("group", "string", "consumer group", True),
    ("started", "long", "when it was ready"),
    ("pid", "int", "process id"),
    ("acks", "int", "acks of a producer; -1 is all", True),
    ("idempotent", "bool", "enable.idempotence of a producer", True),
    ("max_in_flight", "int", "max.in.flight of a producer", True),
    ("isolation", "string", "isolation level of a consumer", True),
    ("commit", "string", "automatic, sync, async or none", True),
    ("client", "string", "librdkafka's version"),
)
ENDS = _table(
    "ends",
    "the end marker: one row per process of a probe that ended by itself and wrote all it knew",
    *_WHO,
    ("at", "long", "when"),
    ("scheduled", "long", "how many records were due (a producer), or 0"),
    ("rows", "long", "how many rows of sends or reads it wrote"),
)
CLOCKS = _table(
    "clocks",
    "monotonic and wall clock of chaosk's machine, once a second",
    ("monotonic", "long", "nanoseconds"),
    ("wall", "long", "nanoseconds since 1970, UTC"),
)
HOST_CLOCKS = _table(
    "host_clocks",
    "one four-timestamp comparison of a host's wall clock with this machine's",
    ("host", "string", "host"),
    ("at", "long", "when"),
    ("offset", "long", "host minus this machine, nanoseconds"),
    ("error", "long", "bound of that offset's error: half the round trip, nanoseconds"),
)
PHASES = _table(
    "phases",
    "one row per phase of the run",
    ("phase", "string", "warm_up, baseline, timeline, heal, settle, drain or audit"),
    ("began", "long", "when"),
    ("ended", "long", "when; empty if the run was cut short", True),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        SENDS, READS, POLLS, SEEKS, ASSIGNMENTS, COMMITS, FETCHED, TRANSACTIONS, PARTITIONS, OFFSETS, BROKERS,
        ZOOKEEPERS, FAULTS, AUDIT, AUDIT_RANGES, GROUPS, ERRORS, INCARNATIONS, ENDS, CLOCKS, HOST_CLOCKS, PHASES,
    )
}  # fmt: skip
"""By name."""

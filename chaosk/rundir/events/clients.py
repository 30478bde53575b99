"""Tables of the clients' requests and results: one stream folder for each process of a probe."""

from __future__ import annotations

from chaosk.rundir.events.table import PLACE, VALUE, WHO, table

SENDS = table(
    "sends",
    "[S] one row per attempt to write a record, written when its outcome is known",
    *WHO,
    ("seq", "long", "sequence number in this incarnation, from 0; never reused"),
    ("topic", "string", "topic"),
    ("partition", "int", "partition; empty if the client never chose one", True),
    ("scheduled", "time", "when the record was due, by the probe's rate; latency counts from here"),
    ("invoked", "time", "when it was handed to the client"),
    ("completed", "time", "when the outcome was known; empty when the probe ended before", True),
    ("outcome", "string", "ok (acknowledged), fail (definitely not written), info (may have been written)"),
    ("error", "string", "librdkafka's name of the error, like _MSG_TIMED_OUT", True),
    ("offset", "long", "offset the acknowledgement named", True),
    ("resend_of", "long", "seq of the record the application sent again with this one", True),
    ("txn", "string", "transaction the send was in", True),
    ("producer_epoch", "int", "epoch of that transaction, counted as in transactions", True),
)
READS = table(
    "reads",
    "[R] one row per record delivered to a consumer",
    *WHO,
    ("group", "string", "consumer group; empty for a consumer that assigns itself partitions", True),
    ("assignment", "int", "how often this member was given this partition again, from 0"),
    ("poll", "long", "which poll of this incarnation delivered it"),
    ("n", "long", "delivery order within this incarnation, from 0"),
    *PLACE,
    ("offset", "long", "offset"),
    *VALUE,
    ("leader_epoch", "int", "leader epoch the record came with", True),
    ("at", "time", "when it was delivered"),
    ("scheduled", "time", "when the record was due, from its payload; empty if the payload is not ours", True),
    ("txn", "string", "transaction the poll took place in", True),
)
POLLS = table(
    "polls",
    "[P] one row per poll, the empty ones too",
    *WHO,
    ("poll", "long", "number of the poll in this incarnation, from 0"),
    ("invoked", "time", "when it was called"),
    ("completed", "time", "when it returned"),
    ("records", "int", "how many records it returned"),
    ("error", "string", "the error it returned", True),
)
SEEKS = table(
    "seeks",
    "[K] one row per seek or reset of a position",
    *WHO,
    *PLACE,
    ("offset", "long", "the new position"),
    ("at", "time", "when"),
    ("kind", "string", "seek or reset"),
)
ASSIGNMENTS = table(
    "assignments",
    "[A] one row per partition given to or taken from a member",
    *WHO,
    ("group", "string", "consumer group", True),
    ("at", "time", "when"),
    ("kind", "string", "assign, revoke or lost"),
    *PLACE,
    ("assignment", "int", "number of the assignment of that partition to this member, from 0"),
    ("rebalance", "int", "which rebalance of this incarnation, from 0"),
)
JOINS = table(
    "joins",
    "one row per rebalance in which a member of a group was given partitions: its way to the first record, in stages",
    *WHO,
    ("group", "string", "consumer group"),
    ("rebalance", "int", "which rebalance of this incarnation, from 0, as in assignments"),
    ("partitions", "int", "how many it was given"),
    ("began", "time", "when it subscribed, or lost the partitions it had; empty if it had and lost none", True),
    ("coordinator", "time", "when it connected to the coordinator; empty if no statistics arrived in time", True),
    ("assigned", "time", "when it was given the partitions: joining and syncing are over"),
    ("fetched", "time", "when it knew the committed offsets of them; empty if it got no answer", True),
    ("first", "time", "when a poll returned the first records after that; empty if none did", True),
)
GENERATIONS = table(
    "generations",
    "one sample a second of a group's generation, as a member knows it, and one as soon as it has changed",
    *WHO,
    ("group", "string", "consumer group"),
    ("at", "time", "when"),
    ("generation", "int", "the generation of which it is a member"),
)
COMMITS = table(
    "commits",
    "[C] one row per partition and commit",
    *WHO,
    ("group", "string", "consumer group"),
    ("assignment", "int", "assignment of that partition; empty if it had none", True),
    ("generation", "int", "generation of the group, if the client reports it", True),
    *PLACE,
    ("offset", "long", "the offset to read next (one past the last processed)"),
    ("invoked", "time", "when it was asked for; for automatic commits the completed poll before it"),
    ("completed", "time", "when the answer came; empty when the probe ended before", True),
    ("outcome", "string", "ok, fail or info"),
    ("error", "string", "librdkafka's name of the error", True),
    ("kind", "string", "sync, async, auto, or topic (a record in the application's own topic, waited for)"),
)
FETCHED = table(
    "fetched",
    "[F] committed offset a member found when it was given a partition, or restored from its own topic",
    *WHO,
    ("group", "string", "consumer group"),
    *PLACE,
    ("offset", "long", "the committed offset; empty if there was none", True),
    ("invoked", "time", "when it was asked for"),
    ("completed", "time", "when the answer came"),
)
TRANSACTIONS = table(
    "transactions",
    "[X] one row per transaction, written when it ended",
    *WHO,
    ("txn", "string", "unique name of the transaction in this run"),
    ("transactional_id", "string", "transactional.id"),
    (
        "producer_epoch",
        "int",
        "earlier clients of this process with the id; librdkafka reports no epoch",
        True,
    ),
    ("initialized", "time", "when init_transactions of this client returned; that orders the clients of all processes"),
    ("begun", "time", "when it began"),
    ("ending", "time", "when commit or abort was called", True),
    ("ended", "time", "when that call, and an abort after it, returned", True),
    ("outcome", "string", "committed, aborted (without a commit call) or info"),
)
TXN_OFFSETS = table(
    "txn_offsets",
    "one row per partition and transaction that was to commit an offset of a group",
    *WHO,
    ("txn", "string", "the transaction"),
    ("group", "string", "consumer group"),
    *PLACE,
    ("offset", "long", "the offset to read next (one past the last input)"),
    ("at", "time", "when it was handed to the transaction"),
)
OUTPUTS = table(
    "outputs",
    "one row per record that was written for a record that was read: outputs of a transform, dead letters",
    *WHO,
    ("seq", "long", "the output's sequence number, as in sends"),
    ("topic", "string", "topic of the input"),
    ("partition", "int", "partition of the input"),
    ("offset", "long", "offset of the input"),
    ("at", "time", "when the input was delivered"),
)
FAILURES = table(
    "failures",
    "one row per attempt of a consumer at processing a record that failed",
    *WHO,
    ("group", "string", "consumer group; empty for a consumer that assigns itself partitions", True),
    ("n", "long", "which delivery of this incarnation it was"),
    *PLACE,
    ("offset", "long", "offset"),
    *VALUE,
    ("attempt", "int", "which attempt of this incarnation at this record, from 1"),
    ("at", "time", "when it failed"),
    (
        "handling",
        "string",
        "swallow or dead_letter (go on, it counts as done), leave (go on, not committed), seek_back or stop",
    ),
)
HEALTH_CHECKS = table(
    "health_checks",
    "one row per health check of a broker: connecting to it, and closing again",
    *WHO,
    ("broker", "int", "broker id"),
    ("due", "time", "when it was due, by the probe's rate; latency counts from here"),
    ("began", "time", "when connecting began; empty if it never had its turn", True),
    ("connected", "time", "when the connection was established; empty if it never was", True),
    ("answered", "time", "when the broker's answer had come, where the probe asks for one", True),
    ("closed", "time", "when it was over"),
    (
        "outcome",
        "string",
        "ok (connected, and answered where that is asked for), fail, or info (this machine could not try)",
    ),
    (
        "error",
        "string",
        "the system's name, like ECONNREFUSED, or TIMEOUT, CLOSED, NOT_KAFKA, NO_TURN (others hung)",
        True,
    ),
)
CALLS = table(
    "calls",
    "one row per call of the probe call, which asks the cluster one question over and over",
    *WHO,
    ("operation", "string", "what was asked, like end_offsets"),
    ("began", "time", "when the call was made; includes connecting if each call has its own client"),
    ("completed", "time", "when it returned, or was given up at the probe's end"),
    ("outcome", "string", "ok, fail, or info (under way when the probe ended)"),
    ("error", "string", "librdkafka's name of the error, like _TIMED_OUT, UNFINISHED or UNANSWERED", True),
)
CONNECTIONS = table(
    "connections",
    "one row per change of a client's connections, from its statistics; a killed client reports none after that",
    *WHO,
    ("client", "string", "consumer or producer: a probe may be both"),
    ("role", "string", "bootstrap (the first of a client), group_coordinator, transaction_coordinator or data"),
    ("broker", "int", "broker id; empty while the client does not know it", True),
    ("address", "string", "where the client connects to, host:port; empty while it does not know", True),
    ("event", "string", "opened, closed, or failed (an attempt at opening one)"),
    ("count", "int", "how many times, between the two samples"),
    ("at", "time", "when; empty if it is only known to be between the two samples", True),
    ("since", "time", "when the sample before was taken"),
    ("seen", "time", "when the sample was taken that shows it"),
    ("idle", "bool", "whether nothing had gone over a closed one for the client's connections.max.idle.ms"),
)
ERRORS = table(
    "errors",
    "errors a client reported outside of any call",
    *WHO,
    ("at", "time", "when"),
    ("error", "string", "librdkafka's name of it, like _ALL_BROKERS_DOWN"),
    ("message", "string", "the message of the error"),
    ("fatal", "bool", "whether the client is unusable from here on"),
)
INCARNATIONS = table(
    "incarnations",
    "one row per started process of a probe",
    *WHO,
    ("kind", "string", "produce, consume, transform, health_check or call"),
    ("group", "string", "consumer group", True),
    ("started", "time", "when it was ready"),
    ("pid", "int", "process id"),
    ("acks", "int", "acks of a producer; -1 is all", True),
    ("idempotent", "bool", "enable.idempotence of a producer", True),
    ("max_in_flight", "int", "max.in.flight of a producer", True),
    ("isolation", "string", "isolation level of a consumer", True),
    ("commit", "string", "automatic, sync, async or none", True),
    ("client", "string", "librdkafka's version"),
)
ENDS = table(
    "ends",
    "the end marker: one row per process of a probe that ended normally and wrote all its rows",
    *WHO,
    ("at", "time", "when"),
    ("scheduled", "long", "how many records (a producer), health checks or calls were due, or 0"),
    ("rows", "long", "how many rows of sends, reads, health_checks or calls it wrote"),
)
TALLIES = table(
    "tallies",
    "the counts that a probe's process kept of its outcomes and deliveries; they equal its rows if these are complete",
    *WHO,
    ("tally", "int", "number of the tally in this incarnation, from 0; each counts from the beginning"),
    ("at", "time", "when; covers all outcomes and deliveries until then"),
    ("what", "string", "ok, fail, info, unanswered (sends by outcome), answer (any outcome), read, poll, gap"),
    ("topic", "string", "topic, of figures by partition", True),
    ("partition", "int", "partition, of figures by partition; empty if the client never chose one", True),
    ("bucket", "long", "least latency of the bucket in nanoseconds, of histograms by outcome", True),
    ("count", "long", "how many"),
    ("xor", "long", "exclusive or of the hashes of seq and offset (sends) or of the offset (reads)", True),
    ("sum", "long", "sum of those hashes modulo 2**64", True),
    ("nanoseconds", "long", "sum of the latencies; of gap, the longest time between acknowledgements", True),
)

TABLES = (
    SENDS, READS, POLLS, SEEKS, ASSIGNMENTS, JOINS, GENERATIONS, COMMITS, FETCHED, TRANSACTIONS, TXN_OFFSETS, OUTPUTS,
    FAILURES, HEALTH_CHECKS, CALLS, CONNECTIONS, ERRORS, INCARNATIONS, TALLIES, ENDS,
)  # fmt: skip

"""Tables of the watcher's samples of the cluster, and of the tail audit."""

from __future__ import annotations

from chaosk.rundir.events.table import PLACE, VALUE, table

PARTITIONS = table(
    "partitions",
    "[M] one sample per partition, as one broker described it",
    ("at", "time", "when the answer came"),
    ("asked", "int", "the broker that answered"),
    *PLACE,
    ("leader", "int", "leader; -1 if none"),
    ("leader_epoch", "int", "leader epoch", True),
    ("replicas", "ints", "assigned replicas, preferred leader first"),
    ("isr", "ints", "in-sync replicas"),
)
OFFSETS = table(
    "offsets",
    "[M] one sample of a partition's offsets, as one replica reported them",
    ("at", "time", "when the answer came"),
    ("asked", "int", "the broker that answered"),
    *PLACE,
    ("leader", "bool", "whether that broker held itself to be the leader"),
    ("log_start", "long", "log start offset", True),
    ("high_watermark", "long", "high watermark; leaders only", True),
    ("last_stable", "long", "last stable offset; leaders only", True),
    ("log_end", "long", "log end offset of that replica", True),
)
BROKERS = table(
    "brokers",
    "one sample of the cluster's membership, as one broker described it",
    ("asked", "int", "the broker asked"),
    ("invoked", "time", "when it was asked"),
    ("completed", "time", "when it answered or the attempt ended"),
    ("controller", "int", "the controller it names; -1 if none", True),
    ("alive", "ints", "the brokers it names", True),
    ("error", "string", "why there was no answer", True),
)
ZOOKEEPERS = table(
    "zookeepers",
    "one sample of a ZooKeeper node's role",
    ("node", "int", "ZooKeeper id"),
    ("at", "time", "when the answer came or the attempt ended"),
    ("mode", "string", "leader, follower, standalone, or empty when it does not serve", True),
    ("error", "string", "why there was no answer", True),
)
QUORUM = table(
    "quorum",
    "one sample of a controller's role in a KRaft quorum, as its leader reports it through a broker",
    ("node", "int", "node id of the controller"),
    ("at", "time", "when the answer came, or the last broker was asked in vain"),
    ("mode", "string", "leader, follower, or empty if it takes no part or no leader is known", True),
    ("epoch", "int", "the leader's epoch; empty if unknown", True),
)
AUDIT = table(
    "audit",
    "[TL] one row per record that a fresh reader found after healing, from log start to end",
    ("isolation", "string", "read_uncommitted or read_committed"),
    *PLACE,
    ("offset", "long", "offset"),
    *VALUE,
    ("leader_epoch", "int", "leader epoch", True),
)
AUDIT_RANGES = table(
    "audit_ranges",
    "what the tail audit covered, one row per partition and isolation level",
    ("isolation", "string", "read_uncommitted or read_committed"),
    *PLACE,
    ("log_start", "long", "log start offset"),
    ("end", "long", "high watermark, or last stable offset for read_committed"),
    ("complete", "bool", "whether every offset below end was read or is known to hold no record"),
    ("why", "string", "what stopped it", True),
)
GROUPS = table(
    "groups",
    "committed offset of a group after the run, one row per partition",
    ("group", "string", "consumer group"),
    *PLACE,
    ("offset", "long", "committed offset", True),
)

TOPIC_SETTINGS = table(
    "topic_settings",
    "settings of a topic as a broker reported them: each when it was asked first, and whenever its value had changed",
    ("at", "time", "when the answer came"),
    ("topic", "string", "topic"),
    ("name", "string", "the setting, like retention.ms"),
    ("value", "string", "its value in force, set for the topic or by default"),
)

TABLES = (PARTITIONS, OFFSETS, TOPIC_SETTINGS, BROKERS, ZOOKEEPERS, QUORUM, AUDIT, AUDIT_RANGES, GROUPS)

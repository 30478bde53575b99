"""Settings and limits that steps may change on running brokers and clients."""

from __future__ import annotations

from typing import Literal

BrokerSetting = Literal[
    "background.threads",
    "follower.replication.throttled.rate",
    "leader.replication.throttled.rate",
    "log.cleaner.io.max.bytes.per.second",
    "log.cleaner.threads",
    "log.flush.interval.messages",
    "log.flush.interval.ms",
    "max.connection.creation.rate",
    "message.max.bytes",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "replica.alter.log.dirs.io.max.bytes.per.second",
]
"""Dynamic broker settings that are whole numbers, lose no records, and lock out no client.

Excluded are retention, cleaning, and the defaults of unclean elections and in-sync replicas, because they affect the
topics of others. Listeners and their secrets, and connection limits, are excluded as well, because a wrong value would
prevent the undo.
"""

Limit = Literal["consumer_byte_rate", "producer_byte_rate", "request_percentage"]
"""The resource that a quota limits."""

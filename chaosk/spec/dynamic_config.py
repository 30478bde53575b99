"""What steps may change of brokers and clients while they run."""

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
"""Dynamic settings of a broker that are whole numbers, lose nobody's records, and keep nobody out.

Not among them: retention, cleaning, unclean elections and in-sync replicas by default, which would be those of
everybody's topics; listeners and their secrets; how many connections there may be, without one of which nobody could
undo it.
"""

Limit = Literal["consumer_byte_rate", "producer_byte_rate", "request_percentage"]
"""What a quota limits."""

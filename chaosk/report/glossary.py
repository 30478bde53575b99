"""Meanings of client errors for operators, by librdkafka's names, as they are in the event tables.

Names that start with an underscore are librdkafka's own (raised by the client); the others came from a broker. Meanings
follow librdkafka's ``rdkafka.h`` and Kafka's protocol.
"""

from __future__ import annotations

MEANINGS = {
    "_TRANSPORT": "the connection was refused or reset: the host answers, nothing serves that port",
    "_TIMED_OUT": "no answer within the client's time-out: the broker, or the way to it, is silent",
    "_MSG_TIMED_OUT": "not acknowledged within delivery.timeout.ms; it may have been written",
    "_TIMED_OUT_QUEUE": "waited in the client's queue until its time-out; never sent",
    "_ALL_BROKERS_DOWN": "the client had no connection to any broker",
    "_RESOLVE": "a broker's advertised host name could not be resolved",
    "_QUEUE_FULL": "the client's own queue was full; never sent",
    "_PURGE_QUEUE": "still queued when the probe ended; never sent",
    "_PURGE_INFLIGHT": "on its way when the probe ended; it may have been written",
    "_MAX_POLL_EXCEEDED": "the application did not poll within max.poll.interval.ms and left the group",
    "_AUTHENTICATION": "the broker refused the client's credentials",
    "_FATAL": "the client gave up for good",
    "_STATE": "the call was not valid in the client's state at that moment",
    "NOT_LEADER_FOR_PARTITION": "the broker no longer leads the partition; the client must look for the new leader",
    "LEADER_NOT_AVAILABLE": "the partition had no leader",
    "UNKNOWN_TOPIC_OR_PART": "the broker did not know the partition (yet), as just after its start",
    "NOT_ENOUGH_REPLICAS": "fewer in-sync replicas than min.insync.replicas; not written",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": "written by the leader, but too few replicas confirmed it",
    "REQUEST_TIMED_OUT": "the replicas did not acknowledge in time; the record may have been written",
    "NETWORK_EXCEPTION": "the broker lost the connection before it could answer",
    "COORDINATOR_LOAD_IN_PROGRESS": "the group's coordinator was still loading its state",
    "COORDINATOR_NOT_AVAILABLE": "the group had no coordinator",
    "NOT_COORDINATOR": "that broker no longer coordinates the group; the client must look for the new one",
    "ILLEGAL_GENERATION": "the group had rebalanced since; the commit was refused",
    "UNKNOWN_MEMBER_ID": "the group no longer knew the member; it has to join again",
    "REBALANCE_IN_PROGRESS": "the group was rebalancing",
    "OFFSET_OUT_OF_RANGE": "the position is not in the log: it was truncated or deleted",
    "OUT_OF_ORDER_SEQUENCE_NUMBER": "the broker missed a record of this idempotent producer",
    "INVALID_PRODUCER_EPOCH": "a newer producer with the same transactional.id has taken over",
    "INVALID_MSG": "the broker found a wrong checksum",
    "KAFKA_STORAGE_ERROR": "the broker could not read or write its disk",
}


def meaning(error: str) -> str:
    """Return an error's meaning; empty for an unknown one."""
    return MEANINGS.get(error, "")

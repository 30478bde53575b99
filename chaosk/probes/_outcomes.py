"""Outcomes of records, from librdkafka's reports: ok, fail (definitely not written) or info (possibly written).

librdkafka knows whether a message may have been persisted, but its Python binding does not disclose it. The outcome is
therefore derived from the error's name and the producer's settings; in doubt it is info. Two facts widen the doubt:

* A producer that retries reports the error of its *last* attempt; an earlier one may have been written. So a
  rejection is definite only if nothing is sent twice after it may have been written: ``retries=0``.
* With ``acks=all`` a leader appends first and waits for its followers. If it loses the leadership while it waits, it
  answers NOT_LEADER_FOR_PARTITION, UNKNOWN_TOPIC_OR_PART or a storage error for a record that is in its log, and
  librdkafka sends again after these even with ``retries=0`` (it assumes that nothing was written). So with
  ``acks=all`` no answer of a broker is definite.

A record that the client refuses to take (``produce`` raises: queue full, too large, client unusable) was never sent at
all: it is always ``fail`` and needs no table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from confluent_kafka import KafkaError

Outcome = Literal["ok", "fail", "info"]

OK: Outcome = "ok"
FAIL: Outcome = "fail"
INFO: Outcome = "info"

REJECTED: Mapping[str, str] = {
    "NOT_LEADER_FOR_PARTITION": "checked before anything is appended",
    "LEADER_NOT_AVAILABLE": "there was no leader to append it",
    "BROKER_NOT_AVAILABLE": "no broker took it",
    "REPLICA_NOT_AVAILABLE": "the broker has no replica to append to",
    "UNKNOWN_TOPIC_OR_PART": "checked before anything is appended",
    "NOT_ENOUGH_REPLICAS": "the in-sync replicas are counted before the leader appends",
    "TOPIC_AUTHORIZATION_FAILED": "rights are checked before anything is appended",
    "CLUSTER_AUTHORIZATION_FAILED": "rights are checked before anything is appended",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "rights are checked before anything is appended",
    "MSG_SIZE_TOO_LARGE": "the whole batch is validated before the append",
    "RECORD_LIST_TOO_LARGE": "the whole batch is validated before the append",
    "INVALID_MSG": "its checksum is validated before the append",
    "INVALID_MSG_SIZE": "the whole batch is validated before the append",
    "INVALID_RECORD": "the whole batch is validated before the append",
    "_INVALID_DIFFERENT_RECORD": "another record of its batch was invalid: none of the batch is appended",
    "INVALID_TIMESTAMP": "the whole batch is validated before the append",
    "INVALID_REQUIRED_ACKS": "the request is validated before the append",
    "TOPIC_EXCEPTION": "the topic's name is validated before the append",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT": "the format is validated before the append",
    "POLICY_VIOLATION": "the request is validated before the append",
    "THROTTLING_QUOTA_EXCEEDED": "the request is refused before the append",
    "_PURGE_QUEUE": "still in the client's queue when the probe gave up",
    "_UNKNOWN_PARTITION": "the client found no such partition to send it to",
    "_UNKNOWN_TOPIC": "the client found no such topic to send it to",
}
"""Errors after which a record that was sent at most once is in no log, with the reason."""

UNCERTAIN: Mapping[str, str] = {
    "_MSG_TIMED_OUT": "its time ran out in the queue or on the wire: the name is the same for both",
    "_TIMED_OUT": "no answer came in time; the request may have been carried out",
    "_TIMED_OUT_QUEUE": "its request waited too long; an earlier attempt may have been carried out",
    "_TRANSPORT": "the connection broke with the request on it",
    "_SSL": "the connection broke with the request on it",
    "_ALL_BROKERS_DOWN": "connections broke with requests on them",
    "_PURGE_INFLIGHT": "on the wire when the probe gave up",
    "_BAD_MSG": "the answer could not be read",
    "_DESTROY": "the client ended first",
    "REQUEST_TIMED_OUT": "appended by the leader, not by all in-sync replicas in time",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": "appended by the leader, then the in-sync replicas were too few",
    "KAFKA_STORAGE_ERROR": "the disk failed while it was being appended",
    "OUT_OF_ORDER_SEQUENCE_NUMBER": "the broker has seen other records of this producer than it believes",
    "UNKNOWN_PRODUCER_ID": "the broker has forgotten this producer; an earlier attempt may be in the log",
    "INVALID_PRODUCER_EPOCH": "fenced; an earlier attempt may be in the log",
    "DUPLICATE_SEQUENCE_NUMBER": "the record is in the log, its offset is unknown",
    "_GAPLESS_GUARANTEE": "an earlier record failed; an earlier attempt of this one may be in the log",
    "_INCONSISTENT": "client and broker disagree on what was written",
    "_FATAL": "the client became unusable with it in flight",
    "_FENCED": "fenced; an earlier attempt may be in the log",
    "UNKNOWN": "the broker does not say what went wrong, nor how far it got",
}
"""Errors after which the record may have been written, with the reason; any error in neither table counts as well."""


def delivered(error: KafkaError | None, *, sent_once: bool) -> Outcome:
    """Return the outcome of a delivery report; ``sent_once`` as in :func:`sends_once`."""
    if error is None:
        return OK
    return FAIL if sent_once and error.name() in REJECTED else INFO


def sends_once(retries: int, acks: int) -> bool:
    """Return True if every answer except for a broken connection means that the record was never appended."""
    return retries == 0 and acks in {0, 1}

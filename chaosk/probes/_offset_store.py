"""Offsets that an application keeps in its own topic: a record for each commit, read back at the start."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Literal

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from pydantic import Field

from chaosk.core.model import Model
from chaosk.probes import _client
from chaosk.probes._commits import Commits
from chaosk.probes._fields import TopicName
from chaosk.probes._outcomes import FAIL, INFO
from chaosk.probes._own_producer import OwnProducer
from chaosk.probes._ownership import Ownership, Place
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume

HEADER = "offsets"
"""The header of such a record: topic, partition and next offset of every partition read so far, as JSON."""

SETTINGS = {"acks": "all", "enable.idempotence": True}
"""Default client settings of the producer that writes them."""

_TAIL = -2000  # librdkafka's RD_KAFKA_OFFSET_TAIL_BASE: minus n, it means the end of the log minus n
_WAIT = 0.1  # seconds for which one of several polls waits
_ONE_POLL = 1.0  # seconds for which the only poll of `one_poll` waits, as in many applications
_now = time.monotonic_ns


class Offsets(Model):
    """The place where an application keeps its offsets itself."""

    topic: TopicName
    """The topic; its partition 0 gets one record for each commit."""
    restore: Literal["complete", "one_poll"] = "complete"
    """``complete`` reads until the end of the log; ``one_poll`` interprets an empty poll as nothing stored."""
    last: Annotated[int, Field(ge=1)] = 5
    """Number of records before the end at which reading back starts."""


class StoredCommits(Commits):
    """Writes offsets to the topic and ``commits`` to the log, for one incarnation."""

    def __init__(self, place: Workplace, group: str, held: Ownership, own: OwnProducer, restoring: Restoring) -> None:
        """``own`` writes to partition 0 of the topic, ``restoring`` reads it."""
        super().__init__(place.log, (place.probe, place.incarnation, group), held, automatic=False)
        self._own, self._restoring = own, restoring
        self._known: dict[Place, int] = {}

    def restored(self) -> dict[Place, int] | None:
        """Return the stored next offsets, possibly empty; None if the probe was stopped first."""
        found = self._restoring.restored()
        self._known |= found or {}
        return found

    def sync(self, client: Consumer, offsets: dict[Place, int]) -> dict[Place, int]:  # noqa: ARG002 - same signature
        """Write a record and wait for its outcome; return the offsets that were definitely refused."""
        self._log.flush()
        invoked = _now()
        self._known |= offsets
        text = json.dumps([[*place, offset] for place, offset in sorted(self._known.items())])
        self._own.send(invoked, self._who[2].encode(), {HEADER: text.encode()})
        outcome = self._own.outcome(lambda: None)
        error = self._own.last_error
        self.last_error = error or self.last_error
        completed = None if outcome == INFO and error is None else _now()
        for (topic, partition), offset in offsets.items():
            self._row((topic, partition, offset), (invoked, completed), (outcome, error, "topic"))
        return offsets if outcome == FAIL else {}


def stored_commits(
    probe: Consume, place: Workplace, held: Ownership, own: OwnProducer | None, errors: _client.ErrorReporter
) -> StoredCommits | None:
    """Return the committer of a probe that keeps its offsets itself; None for others."""
    if probe.offsets is None or own is None:
        return None
    restoring = Restoring(probe, probe.offsets, place, errors)
    return StoredCommits(place, probe.group or "", held, own, restoring)


class Restoring:
    """Reads back the stored offsets, for one incarnation."""

    def __init__(self, probe: Consume, wanted: Offsets, place: Workplace, errors: _client.ErrorReporter) -> None:
        self._wanted, self._place, self._errors = wanted, place, errors
        own = {"enable.auto.commit": False, "enable.partition.eof": True, "isolation.level": "read_committed"}
        all_there_is = {"auto.offset.reset": "earliest"}  # if fewer records are left than requested
        settings = {**probe.config, "group.id": probe.group, **own, **all_there_is}
        self._client = Consumer(_client.consumer_settings(place, settings, errors))

    def restored(self) -> dict[Place, int] | None:
        """Return the stored next offsets, possibly empty; None if the probe was stopped first."""
        self._client.assign([TopicPartition(self._wanted.topic, 0, _TAIL - self._wanted.last)])
        try:
            return self._one_poll() if self._wanted.restore == "one_poll" else self._complete()
        finally:
            _client.closed(self._client, _ONE_POLL)

    def _one_poll(self) -> dict[Place, int]:
        """Return the result of one poll: also empty if a broker does not answer."""
        return _merged(self._sound(self._client.consume(self._wanted.last, _ONE_POLL)))

    def _complete(self) -> dict[Place, int] | None:
        """Read up to the end, regardless of empty polls.

        The client finds the end itself, and waits as long as necessary. Repeated requests with a short time-out take
        longer: if one is in flight for too long, librdkafka drops the connection and waits for up to 10 s
        (``reconnect.backoff.max.ms``) before it connects again.
        """
        records: list[Message] = []
        while not self._place.stopping():
            message = self._client.poll(_WAIT)
            if message is None:
                continue
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - a public constant
                return _merged(records)
            records += self._sound([message])
        return None

    def _sound(self, messages: list[Message]) -> list[Message]:
        """Return the records; count the errors."""
        for message in messages:
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - a public constant
                self._errors.noted(error.name())
        return [message for message in messages if message.error() is None]


def _merged(records: list[Message]) -> dict[Place, int]:
    """Merge the records' offsets, later ones over earlier ones."""
    found: dict[Place, int] = {}
    for record in records:
        text = dict(record.headers() or []).get(HEADER)
        for topic, partition, offset in json.loads(text or "[]"):
            found[topic, partition] = offset
    return found

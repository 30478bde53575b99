"""A consumer's own producer, for the few records that it writes about those it reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from chaosk.probes import _client
from chaosk.probes._outcomes import FAIL, INFO, Outcome, delivered, sends_once
from chaosk.probes._sends import Sends
from chaosk.probes._tally import Tally
from chaosk.rundir.events.payload import Encoder
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume

DRAIN = 10.0
"""Seconds for which a clean end waits for outcomes before it gives up the rest."""

_PURGED = 2.0  # seconds for the reports of given-up records
_WAIT = 0.05  # seconds for which one poll for delivery reports waits
_now = time.monotonic_ns


class OwnProducer:
    """Writes records to one topic for one incarnation of a consumer, one by one, each a row of ``sends``."""

    def __init__(
        self,
        place: Workplace,
        topic: str,
        config: Mapping[str, Any],
        errors: _client.ErrorReporter,
        tally: Tally,
        partition: int = -1,
    ) -> None:
        """``tally`` counts its sends; ``partition``: the partition, or -1 for the client's choice."""
        facts = _client.producer_facts({**place.client, **config})
        self.facts = (facts.acks, facts.idempotent, facts.max_in_flight)
        """Acks, idempotence and requests in flight."""
        self._once = sends_once(facts.retries, facts.acks)
        self._place, self._topic, self._partition = place, topic, partition
        self._encoder = Encoder(place.run_id, place.probe, place.incarnation)
        who = (place.probe, place.incarnation, topic)
        self._tally = tally
        told = facts.acks != 0
        self._sends = Sends(place.log, who, self._encoder.body_at, tally, sent_once=self._once, told_offsets=told)
        self._reports: list[Message] = []
        self._last: int | None = None
        self._outcome: Outcome | None = None
        self._error: str | None = None
        self._until: float | None = None
        self._client = Producer(_client.settings(place, config, errors))

    @property
    def next(self) -> int:
        """The sequence number of the next record."""
        return self._sends.outstanding.next

    @property
    def rows(self) -> int:
        """Number of written rows of ``sends``."""
        return self._sends.rows

    @property
    def last_error(self) -> str | None:
        """The reason why the last record is not known to be written; None if it is, or if there is no report."""
        return self._error

    def send(self, at: int, key: bytes | None = None, headers: Mapping[str, bytes] | None = None) -> None:
        """Pass the next record to the client; ``at``: its due time, monotonic nanoseconds."""
        self._last = seq = self.next
        self._outcome = self._error = None
        self._sends.outstanding.sent(1, _now())
        value = self._encoder.encode(seq, at)
        reported = partial(self._reported, seq)
        more: dict[str, str | bytes | None] = {**(headers or {})}
        try:
            self._client.produce(self._topic, value, key, self._partition, reported, headers=more)
        except BufferError:
            self._refused(seq, at, "_QUEUE_FULL")
        except KafkaException as error:
            self._refused(seq, at, error.args[0].name())

    def outcome(self, keep: Callable[[], None]) -> Outcome:
        """Wait for the outcome of the last record without a time-out, and return it; ``keep`` is called while waiting.

        Once the probe is asked to end it waits :data:`DRAIN` seconds in all; then the outcome is ``info``.
        """
        while self._outcome is None and self._patient():
            self.serve(_WAIT)
            keep()
        return self._outcome or INFO

    def serve(self, wait: float = 0) -> None:
        """Write the outcomes known by now."""
        self._client.poll(wait)
        reports, self._reports = self._reports, []
        self._tally.answers += len(reports)
        self._sends.reported(reports, [(_now(), len(reports))])

    def finish(self) -> None:
        """Wait for outcomes for a limited time, and give up the rest."""
        while len(self._client) and self._patient(ending=True):
            self.serve(_WAIT)
        if len(self._client):
            self._client.purge()
        until = _now() + _PURGED * 1e9
        while len(self._client) and _now() < until:
            self.serve(_WAIT)
        self.serve()
        for seq, invoked in self._sends.outstanding.left():
            self._sends.never_reported((seq, invoked), None, invoked)

    def _reported(self, seq: int, error: KafkaError | None, message: Message) -> None:
        self._reports.append(message)
        if seq == self._last:
            self._outcome = delivered(error, sent_once=self._once)
            self._error = None if error is None else error.name()

    def _refused(self, seq: int, at: int, error: str) -> None:
        self._sends.refused((seq, at), None, error)
        self._outcome, self._error = FAIL, error

    def _patient(self, *, ending: bool = False) -> bool:
        if not ending and not self._place.stopping():
            return True
        self._until = self._until or _now() + DRAIN * 1e9
        return _now() < self._until


def own_producer(probe: Consume, place: Workplace, errors: _client.ErrorReporter, tally: Tally) -> OwnProducer | None:
    """Return the producer of a consumer that also writes; None for others."""
    topic = probe.writes_to()
    if topic is None:
        return None
    return OwnProducer(place, topic, probe.writing(), errors, tally, -1 if probe.offsets is None else 0)

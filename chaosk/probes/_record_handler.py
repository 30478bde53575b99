"""Processing of a consumer's records, one after the other, with failures as the scenario requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import Message

from chaosk.probes._outcomes import OK
from chaosk.probes._own_producer import OwnProducer
from chaosk.probes._ownership import Place
from chaosk.probes._processing import TRIES, Handling
from chaosk.probes._reads import Reads
from chaosk.rundir.events.payload import Decoder, Payload
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume

_SLICE = 0.02  # seconds of work between checks for the end
_now = time.monotonic_ns


@dataclass(slots=True)
class Handled:
    """The results for the records of one poll."""

    processed: dict[Place, int] = field(default_factory=dict)
    """The offset up to which the work is done, by partition."""
    records: int = 0
    """Number of these records."""
    back: dict[Place, int] = field(default_factory=dict)
    """The offset to seek back to, by partition."""


class _Failed(NamedTuple):
    """A failed attempt at a record."""

    payload: Payload
    attempt: int
    handling: Handling


class RecordHandler:
    """Processes the records of one incarnation of a consumer.

    A record counts as delivered once its processing is over, successful or failed: a killed process has not processed
    its current record. Processing is cut short when the probe is asked to end.
    """

    def __init__(self, place: Workplace, probe: Consume, reads: Reads, positions: dict[Place, int]) -> None:
        """``positions`` is kept up to date: the next offset by partition."""
        self._place, self._group, self._reads, self._positions = place, probe.group, reads, positions
        self._work, self._failing = probe.processing, probe.failing
        self._decode = Decoder(place.run_id).decode
        self._attempts: dict[tuple[str, int, int], int] = {}
        self.letters: OwnProducer | None = None
        """The producer of dead letters, if the probe sends any."""
        self.stopped = False
        """True once a failure has ended the reading."""

    def take(self, records: Sequence[Message], poll: int, at: int, keep: Callable[[], None]) -> Handled:
        """Process the records that a poll returned at ``at``; ``keep`` is called from time to time.

        After a record to be retried, the others of its partition are put back, and will be read again.
        """
        handled = Handled()
        if self._work is None and self._failing is None:
            handled.processed, handled.records = self._reads.take(records, poll, at), len(records)
            self._positions |= handled.processed
            return handled
        self._positions |= {_place(message): _offset(message) for message in reversed(records)}
        self._spend("batch", keep)
        for message in records:
            if not self.stopped and _place(message) not in handled.back:
                self._spend("record", keep)
                failed = self._failure(message, keep)
                self._settle(message, self._reads.take([message], poll, at), failed, handled)
        if self._work is not None:
            self._flush()
        return handled

    def _settle(self, message: Message, position: dict[Place, int], failed: _Failed | None, handled: Handled) -> None:
        """Note the result of a record, after which its partition is read at ``position``."""
        handling = None if failed is None else failed.handling
        if failed is not None:
            self._write((*_place(message), _offset(message)), failed)
        if handling == "seek_back":
            position = {_place(message): _offset(message)}
            handled.back |= position
        elif handling in {None, "swallow", "dead_letter"}:
            handled.processed |= position
            handled.records += 1
        self._positions |= position
        self.stopped = handling == "stop"

    def _failure(self, message: Message, keep: Callable[[], None]) -> _Failed | None:
        """Return the failure of this attempt at a record, with its handling; None without a failure."""
        failing = self._failing
        payload = self._decode(message.value()) if failing is not None else None
        if failing is None or payload is None or not failing.concerns(payload):
            return None
        key = (*_place(message), _offset(message))
        attempt = self._attempts[key] = self._attempts.get(key, 0) + 1
        if failing.times is not None and attempt > failing.times:
            return None
        handling = failing.handling
        if handling == "seek_back" and attempt > (failing.tries or TRIES):
            handling = "swallow"
        if handling == "dead_letter" and (attempt <= (failing.tries or 0) or not self._dead_letter(message, key, keep)):
            handling = "seek_back"
        return _Failed(payload, attempt, handling)

    def _dead_letter(self, message: Message, key: tuple[str, int, int], keep: Callable[[], None]) -> bool:
        """Send a dead letter for the record; return True if that settles it.

        The record's identity is on disk before it is sent. Waiting for the acknowledgement is a part of the processing:
        a process killed during it has not processed the record.
        """
        letters, failing = self.letters, self._failing
        assert letters is not None  # noqa: S101 - this handling requires a topic
        now = _now()
        self._place.log.write("outputs", (self._place.probe, self._place.incarnation, letters.next, *key, now))
        self._flush()
        letters.send(now, message.key())
        return failing is None or not failing.wait or letters.outcome(keep) == OK

    def _write(self, key: tuple[str, int, int], failed: _Failed) -> None:
        who = (self._place.probe, self._place.incarnation, self._group)
        payload = failed.payload
        value = (payload.producer, payload.incarnation, payload.seq, True)
        done = (failed.attempt, _now(), failed.handling)
        self._place.log.write("failures", (*who, self._reads.rows - 1, *key, *value, *done))

    def _spend(self, per: str, keep: Callable[[], None]) -> None:
        """Spend the processing time of a record or a batch; earlier rows are on disk by then."""
        if self._work is None or self._work.per != per:
            return
        self._flush()
        until = _now() + self._work.seconds * 1e9
        while (left := until - _now()) > 0 and not self._place.stopping():
            time.sleep(min(_SLICE, left / 1e9))
            keep()

    def _flush(self) -> None:
        self._reads.move()
        self._place.log.flush()


def _place(message: Message) -> Place:
    return str(message.topic()), int(message.partition() or 0)


def _offset(message: Message) -> int:
    return int(message.offset() or 0)

"""Transactions of one process: begin, commit, abort, and an application's reaction to failures of these.

Retriable errors are retried, for as long as the probe may wait. Errors that require an abort lead to an abort. Errors
that make the client unusable lead to a new client, which initializes the same ``transactional.id`` again. A fenced
client has a successor, and therefore ends the work of its process for good.

Only a commit whose call returned without an error is ``committed``. A transaction without any attempt to commit can
only be ``aborted``, whatever the result of the abort. Everything else is ``info``: a lost answer of the coordinator may
have been a yes, and a later error is no evidence about it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from chaosk.probes import _client
from chaosk.probes._produce_loop import DRAIN
from chaosk.spec.contracts.probe import Workplace

Ending = Literal["committed", "aborted", "info"]
COMMITTED: Ending = "committed"
ABORTED: Ending = "aborted"
INFO: Ending = "info"

FENCED = frozenset({"_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"})
"""Final errors that mean that another client has taken over the ``transactional.id``."""

TRY = 0.5
"""Seconds for which one call to the coordinator waits before the probe serves other work and calls again."""

SILENCE = 15.0
"""Seconds after which a client is given up if it does not answer whether a transaction will commit its offsets.

librdkafka keeps the group's coordinator in a cache. If that broker has died and left the metadata, it waits for it and
asks no other broker, and the call does not return, regardless of its time-out (librdkafka issue 5511, seen with 2.16).
Other clients of the group go on, and so does an application that creates a new one.
"""

_PAUSE = 0.2  # seconds before an unusable client is replaced
_now = time.monotonic_ns


class Transactions:
    """The transactions of one incarnation, by one client after another."""

    def __init__(
        self, place: Workplace, name: str, make: Callable[[], Producer], errors: _client.ErrorReporter
    ) -> None:
        """``name`` is the ``transactional.id``; ``make`` creates the client, and its replacement."""
        self._place, self._id, self._make, self._errors = place, name, make, errors
        self.client = make()
        self.fenced = False
        """True once a successor has taken over: this process may not write any more."""
        self.spoilt = False
        """True if the client is unusable; its outstanding records must be given up before ``renew``."""
        self.epoch = -1
        self.current: str | None = None
        """The open transaction."""
        self.broken = False
        """True if it can only be aborted."""
        self.count = 0
        self.begun = 0
        self._initialized = 0
        self._ready = False
        self._limit = 0

    def patient(self) -> bool:
        """Return True if unanswered calls may be retried: until ``DRAIN`` seconds after the probe was asked to end."""
        if not self._place.stopping():
            return True
        self._limit = self._limit or round(_now() + DRAIN * 1e9)
        return _now() < self._limit

    def initialize(self) -> bool:
        """Take over the ``transactional.id`` if necessary; return True once that is done."""
        if not self._ready and not self.fenced and not self.spoilt:
            try:
                self.client.init_transactions(TRY)
            except KafkaException as error:
                self.failed(error.args[0])
            else:
                self._ready, self._initialized = True, _now()
                self.epoch += 1
        return self._ready

    def begin(self) -> bool:
        """Begin a transaction if none is open; return True if one is open."""
        if self.current is None and self.initialize():
            try:
                self.client.begin_transaction()
            except KafkaException as error:
                self.failed(error.args[0])
            else:
                self.current = f"{self._place.probe}-{self._place.incarnation}-{self.count}"
                self.begun, self.broken = _now(), False
                self.count += 1
        return self.current is not None

    def send_offsets(self, offsets: Mapping[tuple[str, int], int], consumer: Consumer, group: str) -> bool:
        """Add next offsets to the open transaction; return True if it will commit them, else it must be aborted."""
        for (topic, partition), offset in offsets.items():
            row = (self._place.probe, self._place.incarnation, self.current, group, topic, partition, offset, _now())
            self._place.log.write("txn_offsets", row)
        wanted = [TopicPartition(*place, offset) for place, offset in offsets.items()]
        while not self.fenced and not self.spoilt:
            metadata = consumer.consumer_group_metadata()
            try:
                if not _answered(partial(self.client.send_offsets_to_transaction, wanted, metadata, TRY)):
                    said = f"send_offsets_to_transaction has not returned within {SILENCE:g} s"
                    self._unusable(KafkaError(KafkaError._TIMED_OUT, said))  # noqa: SLF001 - a public code of theirs
                    return False
            except KafkaException as error:
                why: KafkaError = error.args[0]
                if why.retriable() and self.patient():
                    continue
                if not why.retriable() and not why.txn_requires_abort():
                    self.failed(why)
                return False
            return True
        return False

    def commit(self) -> Ending:
        """Commit the open transaction, or abort it if the client requires that."""
        ending, outcome = _now(), INFO
        while True:
            try:
                self.client.commit_transaction(TRY)
            except KafkaException as error:
                why: KafkaError = error.args[0]
                if why.retriable() and self.patient():
                    continue
                if why.txn_requires_abort():
                    self._errors.noted(why.name())
                    self._abort()
                elif not why.retriable():
                    self.failed(why)
            else:
                outcome = COMMITTED
            break
        return self._over(ending, outcome)

    def abort(self) -> Ending:
        """Abort the open transaction, without any attempt to commit it."""
        ending = _now()
        self._abort()
        return self._over(ending, ABORTED)

    def renew(self) -> None:
        """Replace an unusable client."""
        self.client = self._make()
        self.spoilt = self._ready = False
        time.sleep(_PAUSE)

    def _abort(self) -> None:
        while not self.fenced and not self.spoilt:
            try:
                self.client.abort_transaction(TRY)
            except KafkaException as error:
                if error.args[0].retriable() and self.patient():
                    continue
                if not error.args[0].retriable():
                    self.failed(error.args[0])
            return

    def _over(self, ending: int, outcome: Ending) -> Ending:
        who = (self._place.probe, self._place.incarnation, self.current)
        row = (*who, self._id, self.epoch, self._initialized, self.begun, ending, _now(), outcome)
        self._place.log.write("transactions", row)
        self.current = None
        return outcome

    def failed(self, error: KafkaError) -> None:
        """Handle a failed call: if it is not retriable, the client is unusable."""
        if not (error.retriable() or self.fenced or self.spoilt):
            self._unusable(error)

    def _unusable(self, error: KafkaError) -> None:
        self._ready, self.broken = False, True
        self.fenced = error.name() in FENCED
        self.spoilt = not self.fenced
        who = (self._place.probe, self._place.incarnation)
        name = "_FENCED" if self.fenced else error.name()
        self._place.log.write("errors", (*who, _now(), name, error.str()[:500], True))
        self._errors.noted(name)


def _answered(call: Callable[[], object]) -> bool:
    """Return True if a call that may hang has returned in time; raises its KafkaException."""
    raised: list[KafkaException | None] = []

    def run() -> None:
        try:
            call()
        except KafkaException as error:
            raised.append(error)
        else:
            raised.append(None)

    thread = threading.Thread(target=run, daemon=True, name="offsets of a transaction")
    thread.start()
    thread.join(SILENCE)
    for error in raised:
        if error is not None:
            raise error
    return bool(raised)

"""The loop of the probe ``produce`` with transactions: due records go into the open transaction."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from chaosk.probes import _warm_up
from chaosk.probes._outcomes import OK
from chaosk.probes._priority import go_first
from chaosk.probes._produce_loop import PURGED, TICK, ProduceLoop
from chaosk.probes._schedule import Schedule
from chaosk.probes._transaction import COMMITTED, Transactions
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.produce import Produce

_AT_ONCE = 500  # records passed to the client in one call
_now = time.monotonic_ns
_WAIT = 0.005  # seconds for which one poll for delivery reports waits at the end of a transaction


class TransactionalLoop(ProduceLoop):
    """One incarnation of a producer that writes in transactions.

    Records that are due while a transaction ends, or while there is no usable client, are sent late and not left out.
    """

    def __init__(self, probe: Produce, place: Workplace) -> None:
        """Creates the client; it sends no request before ``run``."""
        assert probe.transaction is not None  # noqa: S101 - otherwise it is a plain producer's work
        self._wanted = probe.transaction
        self._full = self._begun_with = self._withdrawn = 0
        super().__init__(probe, place)

    def _made(self) -> Producer:
        name = self._wanted.name(self._place.probe)
        self._transactions = Transactions(self._place, name, super()._made, self._errors)
        return self._transactions.client

    def _warm_up(self) -> None:
        if self._wanted.takes_over:
            return
        _warm_up.leaders(self._producer, self._place, self._probe.topic)
        deadline = _now() + _warm_up.LONGEST * 1e9
        while not self._place.stopping() and _now() < deadline and not self._transactions.initialize():
            self._renewed()

    def _lead(self) -> int:
        """Return the nanoseconds before the first record is due; later incarnations take over at once."""
        waits = 0 if self._place.incarnation else self._wanted.takes_over
        return super()._lead() + round(waits * 1e9)

    # --- sending --------------------------------------------------------------------------------------------------

    def _open_loop(self, schedule: Schedule) -> None:
        go_first()
        while not self._place.stopping():
            due = schedule.count(_now() - self._start)
            while self._next < due and not self._place.stopping() and self._open():
                until = min(due, self._next + _AT_ONCE, self._full)
                scheduled = [self._start + schedule.due(seq) for seq in range(self._next, until)]
                for seq, at, error in self._send(scheduled):
                    self._sends.refused((seq, at), self._probe.partition, error)
                    self._transactions.broken = True
                self._serve()
                self._complete_if_over(schedule)
            self._serve()
            self._complete_if_over(schedule)
            self._renewed()
            time.sleep(TICK)

    def _open(self) -> bool:
        """Begin a transaction if none is open; return True if one is open."""
        transactions = self._transactions
        if transactions.current is None and transactions.begin():
            self._begun_with = self._sends.counts[OK]
            self._full = self._next + (self._wanted.limit() or 2**62)
            self._sends.transaction = (transactions.current, transactions.epoch)
        return transactions.current is not None

    def _complete_if_over(self, schedule: Schedule) -> None:
        transactions, lasts = self._transactions, self._wanted.lasts
        if transactions.current is None:
            return
        late = lasts is not None and _now() - transactions.begun >= lasts * 1e9
        if transactions.broken or self._next >= self._full or late:
            self._complete(schedule)

    def _complete(self, schedule: Schedule) -> None:
        """End the open transaction, once the outcomes of its records are known."""
        transactions, every = self._transactions, self._wanted.abort_every
        self._serve_until(lambda: transactions.broken or not transactions.patient())
        before = len(self._reports)
        if transactions.broken or len(self._producer) or (every and transactions.count % every == 0):
            outcome = transactions.abort()
        else:
            outcome = transactions.commit()
        self._counted(before)
        if transactions.spoilt or transactions.fenced:
            self._give_up(schedule)
            self._sends.last_error = self._errors.last  # not the outcomes of the records that result from it
        else:
            given_up = _now() + PURGED * 1e9
            self._serve_until(lambda: _now() > given_up)
        self._written()
        if outcome != COMMITTED:
            self._withdrawn += self._sends.counts[OK] - self._begun_with

    def _serve_until(self, ends: Callable[[], bool]) -> None:
        while len(self._producer) and not ends():
            self._serve(_WAIT)

    def _renewed(self) -> None:
        if self._transactions.spoilt:
            self._transactions.renew()
            self._producer = self._transactions.client

    def _poll(self, wait: float) -> None:
        """Poll; a fatal error of the client is raised by the poll itself, not passed to a callback."""
        try:
            super()._poll(wait)
        except KafkaException as error:
            self._transactions.failed(error.args[0])

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._transactions.broken = True
        super()._report(error, message)

    def _state(self) -> ProbeState:
        """Return the state; ``ok`` excludes records of uncommitted transactions, as ``read_committed`` does."""
        state = super()._state()
        standby = _now() < self._start
        return state.model_copy(update={"ok": state.ok - self._withdrawn, "standby": standby})

    # --- end ------------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        if self._transactions.current is not None:
            self._complete(self._schedule)

    @property
    def _schedule(self) -> Schedule:
        schedule = self._probe.schedule()
        assert schedule is not None  # noqa: S101 - a transaction at full speed is refused
        return schedule

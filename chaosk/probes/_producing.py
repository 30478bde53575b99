"""The loop of the probe ``produce``: sends what is due every millisecond, and turns delivery reports into events."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from chaosk.cluster.live import ProbeState
from chaosk.payload import BODY, Encoder
from chaosk.probes import _client, _warm_up
from chaosk.probes._contract import Workplace
from chaosk.probes._outcomes import FAIL, INFO, OK, delivered, sends_once
from chaosk.probes._schedule import Schedule
from chaosk.probes._sends import Sends

if TYPE_CHECKING:
    from chaosk.probes.produce import Produce

TICK = 0.001
"""Seconds between looks at what is due: no send is later than that by itself, at 5 to 7 % of a core."""

FLUSH_EVERY = 0.05
"""Seconds between flushes of the event log: half of what a SIGKILL may cost."""

TELL_EVERY = 0.2
"""Seconds between reports of progress."""

DRAIN = 10.0
"""Seconds that a clean end waits for outcomes before it gives the rest up."""

_SERVE_AFTER = 500  # sends between looks at the delivery reports, when many are due at once
_PURGED = 2.0  # seconds for the reports of what was given up
_now = time.monotonic_ns


class Producing:
    """One incarnation of a producer at work."""

    def __init__(self, probe: Produce, place: Workplace) -> None:
        """Makes the client; nothing is sent before ``run``."""
        self._probe = probe
        self._place = place
        self._facts = _client.producer_facts({**place.client, **probe.config})
        self._once = sends_once(self._facts.retries, self._facts.acks)
        self._encoder = Encoder(place.run_id, place.probe, place.incarnation, probe.size)
        self._partition = -1 if probe.partition is None else probe.partition
        self._sends = Sends(place.log, place.probe, place.incarnation, probe.topic)
        self._errors = _client.Errors(place)
        self._pending: dict[int, int] = {}
        self._next = 0
        self._outcomes = {OK: 0, FAIL: 0, INFO: 0}
        self._flushed = self._told = self._start = _now()
        self._producer = Producer(_client.settings(place, probe.config, self._errors))

    def run(self) -> None:
        """Warm up, send by the schedule until told to end, wait for outcomes, write the end marker."""
        if self._place.incarnation == 0:  # later ones are applications that restart: they do not wait for better times
            _warm_up.producer(self._producer, self._place, self._probe.topic, self._probe.config)
        self._start = _now()
        self._began()
        schedule = self._probe.schedule()
        if schedule is None:
            self._full_speed()
        else:
            self._open_loop(schedule)
        self._drain()
        self._give_up(schedule)
        self._end()

    # --- sending --------------------------------------------------------------------------------------------------

    def _open_loop(self, schedule: Schedule) -> None:
        while not self._place.stopping():
            due = schedule.count(_now() - self._start)
            while self._next < due:
                for seq in range(self._next, min(due, self._next + _SERVE_AFTER)):
                    self._send(seq, self._start + schedule.due(seq))
                self._serve()
            self._serve()
            time.sleep(TICK)

    def _full_speed(self) -> None:
        while not self._place.stopping():
            for _ in range(_SERVE_AFTER):
                if not self._send(self._next, _now(), refusable=False):
                    self._serve(TICK)
                    break
            self._serve()

    def _send(self, seq: int, scheduled: int, *, refusable: bool = True) -> bool:
        """False, and nothing happened, if the client's queue was full and that must not become the record's fate."""
        value = self._encoder.encode(seq, scheduled)
        self._pending[seq] = invoked = _now()
        self._next = seq + 1
        try:
            self._producer.produce(self._probe.topic, value, self._probe.key(seq), self._partition, self._reported)
        except BufferError:
            if not refusable:
                del self._pending[seq]
                self._next = seq
                return False
            self._refused(seq, scheduled, invoked, "_QUEUE_FULL")
        except KafkaException as error:
            self._refused(seq, scheduled, invoked, error.args[0].name())
        return True

    def _refused(self, seq: int, scheduled: int, invoked: int, error: str) -> None:
        del self._pending[seq]
        self._outcomes[FAIL] += 1
        self._errors.last = error
        self._sends.other((seq, scheduled, invoked), _now(), self._probe.partition, FAIL, error)

    # --- outcomes -------------------------------------------------------------------------------------------------

    def _reported(self, error: KafkaError | None, message: Message) -> None:
        completed = _now()
        seq, scheduled = BODY.unpack_from(message.value() or b"", self._encoder.body_at)
        record = (seq, scheduled, self._pending.pop(seq))
        if error is None:
            self._outcomes[OK] += 1
            self._sends.ok(record, completed, message.partition(), message.offset())
            return
        outcome = delivered(error, sent_once=self._once)
        self._outcomes[outcome] += 1
        self._errors.last = error.name()
        self._sends.other(record, completed, message.partition(), outcome, error.name())

    def _serve(self, wait: float = 0) -> None:
        self._producer.poll(wait)
        now = _now()
        if now - self._flushed > FLUSH_EVERY * 1e9:
            self._sends.move()
            self._place.log.flush()
            self._flushed = now
        if now - self._told > TELL_EVERY * 1e9:
            self._place.tell(self._state())
            self._told = now

    def _state(self) -> ProbeState:
        return ProbeState(
            probe=self._place.probe,
            kind="produce",
            running=True,
            scheduled=self._next,
            ok=self._outcomes[OK],
            fail=self._outcomes[FAIL],
            info=self._outcomes[INFO],
            errors=self._errors.count,
            last_error=self._errors.last,
        )

    # --- beginning and end ----------------------------------------------------------------------------------------

    def _began(self) -> None:
        place, facts = self._place, self._facts
        settings = (facts.acks, facts.idempotent, facts.max_in_flight, None, None)
        row = (place.probe, place.incarnation, "produce", None, self._start, os.getpid(), *settings)
        place.log.write("incarnations", (*row, confluent_kafka.libversion()[0]))
        place.log.flush()
        place.tell(self._state())

    def _drain(self) -> None:
        deadline = _now() + DRAIN * 1e9
        while len(self._producer) and _now() < deadline:
            self._serve(0.01)

    def _give_up(self, schedule: Schedule | None) -> None:
        if self._pending:
            self._producer.purge()
        deadline = _now() + _PURGED * 1e9
        while self._pending and _now() < deadline:
            self._serve(0.01)
        for seq, invoked in self._pending.items():  # never reported: still a row, for the record was due
            scheduled = self._start + schedule.due(seq) if schedule else invoked
            self._outcomes[INFO] += 1
            self._sends.other((seq, scheduled, invoked), -1, self._probe.partition, INFO, None)

    def _end(self) -> None:
        place = self._place
        self._sends.move()
        place.log.write("ends", (place.probe, place.incarnation, _now(), self._next, self._sends.rows))
        place.log.flush()
        place.tell(self._state())

"""The loop of the probe ``produce``: sends due records, tick by tick, and turns delivery reports into events."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import confluent_kafka
import numpy as np
from confluent_kafka import KafkaError, Message, Producer

from chaosk.probes import _client, _warm_up
from chaosk.probes._connections import Watch
from chaosk.probes._outcomes import FAIL, INFO, OK, sends_once
from chaosk.probes._priority import go_first
from chaosk.probes._schedule import Schedule
from chaosk.probes._sends import Sends
from chaosk.probes._tally import Tallies
from chaosk.rundir.events.fingerprint import Longs
from chaosk.rundir.events.payload import BulkEncoder, Encoder
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.produce import Produce

TICK = 0.00125
"""Seconds between checks for due records: the largest delay that the loop itself causes."""

FLUSH_EVERY = 0.05
"""Seconds between flushes of the event log: half of what a SIGKILL may cost."""

TELL_EVERY = 0.2
"""Seconds between reports of progress."""

DRAIN = 10.0
"""Seconds for which a clean end waits for outcomes before it gives up the rest."""

PURGED = 2.0
"""Seconds for the reports of given-up records."""

_AT_ONCE = 1000  # records passed to the client in one call, between two polls for delivery reports
_LEAD = 50_000_000  # nanoseconds before the first record is due, some of which the first writes take
_MODEST = 20_000  # records per second up to which sending takes less than a fifth of a core
_IN_BULK = 128  # smallest number of records for which bulk encoding is faster
_now = time.monotonic_ns


class ProduceLoop:
    """One incarnation of a producer."""

    def __init__(self, probe: Produce, place: Workplace) -> None:
        """Creates the client; nothing is sent before ``run``."""
        self._probe = probe
        self._place = place
        self._facts = facts = _client.producer_facts({**place.client, **probe.settings(place.probe)})
        self._encoder = Encoder(place.run_id, place.probe, place.incarnation, probe.size)
        self._bulk = BulkEncoder(self._encoder)
        self._partition = -1 if probe.partition is None else probe.partition
        who = (place.probe, place.incarnation, probe.topic)
        once = sends_once(facts.retries, facts.acks)
        self._tallies = Tallies(place.log, who[:2])
        self._sends = Sends(
            place.log, who, self._encoder.body_at, self._tallies.tally, sent_once=once, told_offsets=facts.acks != 0
        )
        self._reports: list[Message] = []
        self._polls: list[tuple[int, int]] = []
        self._errors = _client.ErrorReporter(place)
        self._flushed = self._told = self._start = _now()
        self._watch = Watch(place, "producer", on=probe.connections)
        self._producer = self._made()

    def _made(self) -> Producer:
        config = self._probe.settings(self._place.probe)
        return Producer({**_client.settings(self._place, config, self._errors), **self._watch.settings(config)})

    def run(self) -> None:
        """Warm up, send by the schedule until stopped, wait for outcomes, and write the end marker."""
        if self._place.incarnation == 0 and self._probe.started_by == "run":
            self._warm_up()  # others are applications that start in the middle, without waiting for a healthy cluster
        self._start = _now() + self._lead()
        self._began()
        schedule = self._probe.schedule()
        if schedule is None:
            self._full_speed()
        else:
            self._open_loop(schedule)
        self._drain()
        self._give_up(schedule)
        self._end()

    def _warm_up(self) -> None:
        _warm_up.producer(self._producer, self._place, self._probe.topic, self._probe.config)

    def _lead(self) -> int:
        """Return the nanoseconds before the first record is due."""
        return _LEAD

    @property
    def _next(self) -> int:
        return self._sends.outstanding.next

    # --- sending --------------------------------------------------------------------------------------------------

    def _open_loop(self, schedule: Schedule) -> None:
        if max(schedule.rate, schedule.to) <= _MODEST:
            go_first()
        while not self._place.stopping():
            start, looked = self._start, _now()
            due = schedule.count(looked - start)
            while True:
                first, end = self._next, min(due, self._next + _AT_ONCE)
                if first < end:
                    for seq, at, error in self._send([start + schedule.due(seq) for seq in range(first, end)]):
                        self._sends.refused((seq, at), self._probe.partition, error)
                self._serve()
                if end >= due:
                    break
            time.sleep(max(0.0, TICK - (_now() - looked) / 1e9))  # a long iteration must not delay the next one

    def _full_speed(self) -> None:
        """Send records, each due when it is sent; those that do not fit into the client's queue become due again."""
        while not self._place.stopping():
            refused = self._send(np.full(_AT_ONCE, _now()))
            full = _tail([seq for seq, _, error in refused if error == "_QUEUE_FULL"], self._next)
            for seq, at, error in refused:
                if seq < full:
                    self._sends.refused((seq, at), self._probe.partition, error)
            if full < self._next:
                self._sends.outstanding.take_back(full)
            self._serve(TICK if refused else 0)

    def _send(self, scheduled: list[int] | Longs) -> list[tuple[int, int, str]]:
        """Pass the next records to the client; return refused ones as (seq, scheduled, error's name)."""
        first, key = self._next, self._probe.key
        messages: list[dict[str, Any]] = [{"value": value} for value in self._values(first, scheduled)]
        if self._probe.keys != "none":
            for seq, message in enumerate(messages, first):
                message["key"] = key(seq)
        self._sends.outstanding.sent(len(messages), _now())
        taken = self._producer.produce_batch(self._probe.topic, messages, self._partition, self._report)
        if taken == len(messages):
            return []
        return [
            (first + index, int(scheduled[index]), message["_error"].name())
            for index, message in enumerate(messages)
            if "_error" in message
        ]

    def _values(self, first: int, scheduled: list[int] | Longs) -> list[bytes]:
        if len(scheduled) >= _IN_BULK:
            return self._bulk.encode(first, np.asarray(scheduled))
        encode = self._encoder.encode
        return [encode(seq, at) for seq, at in enumerate(scheduled, first)]

    def _serve(self, wait: float = 0) -> None:
        before = len(self._reports)
        self._poll(wait)
        now = self._counted(before)
        if now - self._flushed > FLUSH_EVERY * 1e9:
            self._written(now)
            self._flushed = now
        if now - self._told > TELL_EVERY * 1e9:
            self._place.tell(self._state())
            self._told = now

    def _poll(self, wait: float) -> None:
        self._producer.poll(wait)

    def _counted(self, before: int) -> int:
        """Note the arrival time of the reports beyond the first ``before``, and return it."""
        now = _now()
        if len(self._reports) > before:
            self._polls.append((now, len(self._reports) - before))
            self._tallies.tally.answers += len(self._reports) - before
        return now

    def _report(self, _error: KafkaError | None, message: Message) -> None:
        self._reports.append(message)  # the message contains the error as well

    def _written(self, now: int | None = None) -> None:
        """Write everything known by ``now``, with a tally if it is time for one."""
        (reports, self._reports), (polls, self._polls) = (self._reports, []), (self._polls, [])
        self._sends.reported(reports, polls)
        self._tallies.keep(_now() if now is None else now)
        self._place.log.flush()

    def _state(self) -> ProbeState:
        counts = self._sends.counts
        return ProbeState(
            probe=self._place.probe,
            kind="produce",
            running=True,
            scheduled=self._next,
            ok=counts[OK],
            fail=counts[FAIL],
            info=counts[INFO],
            errors=self._errors.count,
            last_error=self._sends.last_error or self._errors.last,
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
        if len(self._producer):
            self._producer.purge()
        deadline = _now() + PURGED * 1e9
        while len(self._producer) and _now() < deadline:
            self._serve(0.01)
        self._written()
        for seq, invoked in self._sends.outstanding.left():  # written as well, since the record was due
            scheduled = self._start + schedule.due(seq) if schedule else invoked
            self._sends.never_reported((seq, scheduled), self._probe.partition, invoked)

    def _end(self) -> None:
        place = self._place
        self._tallies.write(_now())
        place.log.write("ends", (place.probe, place.incarnation, _now(), self._next, self._sends.rows))
        place.log.flush()
        place.tell(self._state())


def _tail(seqs: list[int], end: int) -> int:
    """Return the start of the run of consecutive numbers that reaches up to ``end``; ``end`` if there is none.

    Only the last records of a batch can be sent again under their numbers, because later ones were taken after a gap.
    """
    for seq in reversed(seqs):
        if seq != end - 1:
            break
        end = seq
    return end

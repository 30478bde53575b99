"""The loop of the probe ``consume``: polls, logs what came, commits as told, and follows the group's rebalances."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from chaosk.cluster.live import ProbeState
from chaosk.probes import _client
from chaosk.probes._commits import Commits
from chaosk.probes._contract import Workplace
from chaosk.probes._fields import Every
from chaosk.probes._ownership import Change, Ownership, Place
from chaosk.probes._pace import Pace
from chaosk.probes._reads import Reads
from chaosk.probes._starts import Starts

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume

POLL = 0.1
"""Seconds that one poll waits for a first record."""

FLUSH_EVERY = 0.05
"""Seconds between flushes of the event log."""

TELL_EVERY = 0.2
"""Seconds between reports of progress."""

CLOSE_WITHIN = 10.0
"""Seconds that a clean end waits for the group to let go; then it ends without."""

_ANSWERS_WITHIN = 5.0  # seconds that a clean end waits for the answers to asynchronous commits
_now = time.monotonic_ns


class Consuming:
    """One incarnation of a consumer at work."""

    def __init__(self, probe: Consume, place: Workplace) -> None:
        """Makes the client; it asks for nothing before ``run``."""
        self._probe, self._place, self._log = probe, place, place.log
        self._who = (place.probe, place.incarnation)
        self._held = Ownership()
        self._errors = _client.Errors(place)
        who = (place.probe, place.incarnation, probe.group or "")
        self._commits = Commits(self._log, who, self._held, automatic=probe.committing() == "automatic")
        self._reads = Reads(self._log, (*self._who, probe.group), place.run_id, self._held)
        self._positions: dict[Place, int] = {}
        self._pace = self._paced()
        self._flushed = self._told = _now()
        self._polls = 0
        own = {"on_commit": self._commits.answered}
        self._client = Consumer({**_client.settings(place, probe.settings(), self._errors), **own})
        self._starts = Starts(self._client, probe, place)

    def _paced(self) -> Pace | None:
        how = self._probe.committing()
        if how not in {"sync", "async"}:
            return None
        return Pace(self._commits, self._probe.commit_every or Every(batches=1), wait=how == "sync")

    def run(self) -> None:
        """Read until told to end, then commit, leave the group and write the end marker."""
        self._began()
        if self._probe.assign is None:
            self._client.subscribe(
                [self._probe.topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
            )
        else:
            self._take_partitions()
        while not self._place.stopping():
            self._poll()
            self._keep()
        self._finish()

    # --- reading --------------------------------------------------------------------------------------------------

    def _poll(self) -> None:
        invoked = _now()
        got, errors = self._fetch()
        completed = self._commits.polled = _now()
        records = [message for message in got if message.error() is None]
        if len(records) < len(got):
            errors += self._conditions(got)
        row = (*self._who, self._polls, invoked, completed, len(records), ",".join(errors) or None)
        self._log.write("polls", row)
        if records:
            positions = self._reads.take(records, self._polls, completed)
            self._positions |= positions
            if self._pace:
                self._reads.move()  # a commit may wait for long, and what was read before it must not
                self._pace.processed(self._client, positions, len(records))
        self._polls += 1

    def _fetch(self) -> tuple[list[Message], list[str]]:
        """The first record as soon as it is there, and what else is there by then.

        ``consume`` alone would wait for the batch to fill up, and deliver late.
        """
        try:
            first = self._client.poll(FLUSH_EVERY / 2 if self._reads.waiting else POLL)
            if first is None:
                return [], []
            rest = self._client.consume(self._probe.batch - 1, 0) if self._probe.batch > 1 else []
        except KafkaException as error:
            return [], [self._noted(error.args[0])]
        return [first, *rest], []

    def _conditions(self, got: Sequence[Message]) -> list[str]:
        """The names of the errors among what a poll returned; the end of a partition is none."""
        names = []
        for message in got:
            error = message.error()
            if error is None:
                continue
            if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - a public constant
                self._positions[str(message.topic()), int(message.partition() or 0)] = int(message.offset() or 0)
            else:
                names.append(self._noted(error))
        return names

    def _noted(self, error: KafkaError) -> str:
        self._errors.count += 1
        self._errors.last = error.name()
        return error.name()

    def _keep(self) -> None:
        now = _now()
        if now - self._flushed > FLUSH_EVERY * 1e9:
            self._reads.move()
            self._log.flush()
            self._flushed = now
        if now - self._told > TELL_EVERY * 1e9:
            self._place.tell(self._state())
            self._told = now

    # --- partitions -----------------------------------------------------------------------------------------------

    def _take_partitions(self) -> None:
        wanted = self._starts.wanted()
        places = [(self._probe.topic, partition) for partition in wanted]
        self._changed(self._held.given(places))
        self._client.assign(self._begin(places))

    def _assigned(self, client: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(each.topic, each.partition) for each in partitions]
        self._changed(self._held.given(places))
        begun = self._begin(places)
        if self._starts.cooperative:
            client.incremental_assign(begun)
        else:
            client.assign(begun)

    def _begin(self, places: list[Place]) -> list[TopicPartition]:
        begun = self._starts.at(places, self._held)
        for each in begun:
            self._positions.pop((each.topic, each.partition), None)
            if each.offset >= 0:
                self._positions[each.topic, each.partition] = each.offset
        return begun

    def _revoked(self, _client: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(each.topic, each.partition) for each in partitions]
        self._reads.move()
        if self._pace:
            self._pace.before_revoke(self._client, places)
        self._changed(self._held.taken(places, "revoke"))

    def _lost(self, _client: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(each.topic, each.partition) for each in partitions]
        if self._pace:
            self._pace.drop(places)
        self._changed(self._held.taken(places, "lost"))

    def _changed(self, changes: list[Change]) -> None:
        at = _now()
        for change in changes:
            place = (change.topic, change.partition)
            numbers = (change.assignment, change.rebalance)
            self._log.write("assignments", (*self._who, self._probe.group, at, change.kind, *place, *numbers))
            if change.kind != "assign":
                self._positions.pop(place, None)

    # --- beginning, progress and end ------------------------------------------------------------------------------

    def _began(self) -> None:
        probe, committing = self._probe, self._probe.committing()
        producer = (None, None, None)
        row = (*self._who, "consume", probe.group, _now(), os.getpid(), *producer, probe.isolation_level, committing)
        self._log.write("incarnations", (*row, confluent_kafka.libversion()[0]))
        self._log.flush()
        self._place.tell(self._state())

    def _state(self) -> ProbeState:
        return ProbeState(
            probe=self._place.probe,
            kind="consume",
            running=True,
            ok=self._reads.rows,
            errors=self._errors.count,
            lag=self._lag(),
            last_error=self._errors.last or self._commits.last_error,
        )

    def _lag(self) -> int | None:
        """Records up to the high watermark that came with the last fetch; None while a position is unknown."""
        if not self._held.held:
            return None
        lag = 0
        for place in self._held.held:
            _low, high = self._client.get_watermark_offsets(TopicPartition(*place), cached=True)
            position = self._positions.get(place)
            if position is None or high < 0:
                return None
            lag += max(0, high - position)
        return lag

    def _finish(self) -> None:
        if self._pace:
            self._pace.commit(self._client)
        if self._commits.outstanding():
            self._client.pause(self._client.assignment())
        until = _now() + _ANSWERS_WITHIN * 1e9
        while self._commits.outstanding() and _now() < until:
            self._poll()
        self._reads.move()
        self._log.flush()
        self._leave()
        self._commits.give_up()
        self._log.write("ends", (*self._who, _now(), 0, self._reads.rows))
        self._log.flush()

    def _leave(self) -> None:
        """Closing waits for a coordinator, and one that is cut off never answers: so it gets a thread and a limit."""
        if self._probe.assign is not None:
            self._changed(self._held.taken(list(self._held.held), "revoke"))
        closing = threading.Thread(target=self._client.close, daemon=True)
        closing.start()
        closing.join(CLOSE_WITHIN)
        if closing.is_alive():
            said = f"the consumer did not close within {CLOSE_WITHIN:g} s"
            self._log.write("errors", (*self._who, _now(), "_TIMED_OUT", said, False))

"""The loop of the probe ``consume``: polls, logs deliveries, commits as configured, and follows rebalances."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import confluent_kafka
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from chaosk.probes import _client
from chaosk.probes._assignments import Assignments
from chaosk.probes._commit_policy import paced
from chaosk.probes._commits import Commits
from chaosk.probes._generations import GenerationSampler
from chaosk.probes._lag import lag, reached
from chaosk.probes._offset_store import stored_commits
from chaosk.probes._own_producer import own_producer
from chaosk.probes._ownership import Ownership, Place
from chaosk.probes._poller import Poller
from chaosk.probes._reads import Reads
from chaosk.probes._record_handler import RecordHandler
from chaosk.probes._starts import Starts
from chaosk.probes._statistics import heard
from chaosk.probes._tally import Tallies
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.consume import Consume

POLL = 0.1
"""Seconds for which one poll waits for a first record."""
FLUSH_EVERY = 0.05
"""Seconds between flushes of the event log."""
TELL_EVERY = 0.2
"""Seconds between reports of progress."""

CLOSE_WITHIN = 10.0
"""Seconds for which a clean end waits to leave the group."""

_ANSWERS_WITHIN = 5.0  # seconds for which a clean end waits for the answers to asynchronous commits
_now = time.monotonic_ns


class ConsumeLoop:
    """One incarnation of a consumer."""

    _kind = "consume"
    _producer: tuple[int | None, bool | None, int | None] = (None, None, None)
    """Acks, idempotence and requests in flight of its own producer, if it has one."""

    def __init__(self, probe: Consume, place: Workplace) -> None:
        """Creates the client; it sends no request before ``run``."""
        self._probe, self._place, self._log = probe, place, place.log
        self._who = (place.probe, place.incarnation)
        self._held = Ownership()
        self._errors = _client.ErrorReporter(place)
        who = (place.probe, place.incarnation, probe.group or "")
        self._tallies = Tallies(self._log, self._who)
        self._tally = self._tallies.tally
        self._own = own_producer(probe, place, self._errors, self._tally)
        if self._own:
            self._producer = self._own.facts
        stored = stored_commits(probe, place, self._held, self._own, self._errors)
        self._commits = stored or Commits(self._log, who, self._held, automatic=probe.committing() == "automatic")
        self._reads = Reads(self._log, (*self._who, probe.group), place.run_id, self._held, self._tally)
        self._positions: dict[Place, int] = {}
        self._hands = RecordHandler(place, probe, self._reads, self._positions)
        self._hands.letters = self._own
        self._pace = paced(probe, self._commits)
        self._flushed = self._told = _now()
        self._polls = 0
        self._assignments = Assignments(self._log, self._who, probe.group, self._held, self._positions)
        self._joins = self._assignments.joins
        self._generations = GenerationSampler(self._log, self._who, probe.group if probe.assign is None else None)
        own = {"on_commit": self._commits.answered, **heard(probe, place, self._joins)}
        self._client = Consumer({**_client.consumer_settings(place, probe.settings(), self._errors), **own})
        self._starts = Starts(self._client, probe, place, stored.restored if stored else None)
        self._fetching = Poller(self._client, probe.batch, self._errors, self._positions)

    def run(self) -> None:
        """Read until stopped, then commit, leave the group and write the end marker."""
        self._began()
        if self._probe.assign is None:
            self._joins.begins()
            self._client.subscribe(
                [self._probe.topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
            )
        else:
            self._take_partitions()
        while not self._over():
            self._poll()
            self._keep()
        self._let_go()
        while not self._place.stopping():
            self._keep()
            time.sleep(POLL)
        self._tallies.write(_now())
        self._log.write("ends", (*self._who, _now(), 0, self._rows()))
        self._log.flush()

    def _over(self) -> bool:
        """Return True if it was asked to end, has stopped at a failure, or has an unusable client."""
        return self._place.stopping() or self._hands.stopped or self._fetching.fatal

    # --- reading --------------------------------------------------------------------------------------------------

    def _poll(self) -> None:
        invoked, before = _now(), self._reads.rows
        records, errors = self._fetching.poll(FLUSH_EVERY / 2 if self._reads.waiting else POLL)
        completed = self._commits.polled = _now()
        back: dict[Place, int] = {}
        if records:
            self._joins.took(completed)
            back = self._take(records, completed)
            self._seek(back)
        self._fetching.settle(back)
        row = (*self._who, self._polls, invoked, completed, self._reads.rows - before, ",".join(errors) or None)
        self._log.write("polls", row)
        self._tally.polls += 1
        self._generations.look(self._client, completed)
        if self._pace and records:
            self._reads.move()  # so that it is on disk before it is committed
            self._pace.keep(self._client)
        self._polls += 1

    def _take(self, records: Sequence[Message], at: int) -> dict[Place, int]:
        """Work on records; return the offsets to seek back to by partition, for records to be retried."""
        handled = self._hands.take(records, self._polls, at, self._keep)
        if self._pace:
            self._pace.processed(handled.processed, handled.records)
        return handled.back

    def _seek(self, back: dict[Place, int]) -> None:
        for place, offset in back.items():
            try:
                self._client.seek(TopicPartition(*place, offset))
            except KafkaException as error:
                self._fetching.noted(error.args[0])
                continue
            self._log.write("seeks", (*self._who, *place, offset, _now(), "seek"))

    def _before_change(self) -> None:
        """Process the fetched record before partitions are taken away: the new owner starts at the next commit."""
        if first := self._fetching.in_hand():
            self._take(first, _now())  # a record to be retried belongs to the new owner
        self._reads.move()

    def _keep(self) -> None:
        if self._own:
            self._own.serve()
        now = _now()
        if now - self._flushed > FLUSH_EVERY * 1e9:
            self._reads.move()
            self._joins.keep()
            self._tallies.keep(now)
            self._log.flush()
            self._flushed = now
        if now - self._told > TELL_EVERY * 1e9:
            self._place.tell(self._state())
            self._told = now

    # --- partitions -----------------------------------------------------------------------------------------------

    def _take_partitions(self) -> None:
        places = [(self._probe.topic, partition) for partition in self._starts.wanted()]
        self._assignments.chosen(places)
        self._client.assign(self._begin(places))

    def _assigned(self, client: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(each.topic, each.partition) for each in partitions]
        self._assignments.given(places)
        begun = self._begin(places)
        if self._starts.cooperative:
            client.incremental_assign(begun)
        else:
            client.assign(begun)

    def _begin(self, places: list[Place]) -> list[TopicPartition]:
        begun = self._starts.at(places, self._held)
        if self._starts.answered:
            self._joins.known()
        for each in begun:
            self._positions.pop((each.topic, each.partition), None)
            if each.offset >= 0:
                self._positions[each.topic, each.partition] = each.offset
        return begun

    def _revoked(self, _client: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(each.topic, each.partition) for each in partitions]
        self._joins.begins()
        self._before_change()
        if self._pace:
            self._pace.before_revoke(self._client, places)
        self._assignments.taken(places, "revoke")

    def _lost(self, _client: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(each.topic, each.partition) for each in partitions]
        self._joins.begins()
        self._before_change()
        if self._pace:
            self._pace.drop(places)
        self._assignments.taken(places, "lost")

    # --- beginning, progress and end ------------------------------------------------------------------------------

    def _began(self) -> None:
        probe = self._probe
        row = (*self._who, self._kind, probe.group, _now(), os.getpid(), *self._producer, probe.isolation_level)
        self._log.write("incarnations", (*row, probe.committing(), confluent_kafka.libversion()[0]))
        self._log.flush()
        self._place.tell(self._state())

    def _state(self) -> ProbeState:
        return ProbeState(
            probe=self._place.probe,
            kind=self._kind,
            running=True,
            ok=self._reads.rows,
            errors=self._errors.count,
            lag=lag(self._client, self._held.held, self._positions),
            reached=reached(self._held.held, self._positions),
            owned=len(self._held.held),
            last_error=self._errors.last or self._commits.last_error,
        )

    def _let_go(self) -> None:
        """Commit the processed records, wait for the answers and leave the group."""
        if self._own:
            self._own.finish()
        if self._fetching.fatal:  # librdkafka calls no callback then, and another member has its partitions
            self._lost(self._client, [TopicPartition(*place) for place in self._held.held])
        self._reads.move()
        if self._pace:
            self._pace.commit(self._client)
        if self._commits.outstanding() and not self._fetching.fatal:
            self._client.pause(self._client.assignment())
        until = _now() + _ANSWERS_WITHIN * 1e9
        while self._commits.outstanding() and _now() < until:
            self._poll()
        self._reads.move()
        self._log.flush()
        self._leave()
        self._commits.give_up()
        if self._own:
            self._own.finish()
        self._joins.end()

    def _rows(self) -> int:
        """Return the number of written rows of ``reads`` and ``sends``."""
        return self._reads.rows + (self._own.rows if self._own else 0)

    def _leave(self) -> None:
        if self._probe.assign is not None:
            self._assignments.taken(list(self._held.held), "revoke")
        if not _client.closed(self._client, CLOSE_WITHIN):
            said = f"the consumer did not close within {CLOSE_WITHIN:g} s"
            self._log.write("errors", (*self._who, _now(), "_TIMED_OUT", said, False))

"""Commits as events: by the probe (sync, async) or by librdkafka (auto), with their outcomes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from chaosk.probes._outcomes import FAIL, INFO, OK, Outcome
from chaosk.probes._ownership import Ownership, Place
from chaosk.spec.contracts.probe import EventLog

_REFUSED = {
    "_NO_OFFSET", "_STATE", "_INVALID_ARG", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID",
    "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "REBALANCE_IN_PROGRESS",
    "GROUP_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED", "UNKNOWN_TOPIC_OR_PART", "OFFSET_METADATA_TOO_LARGE",
    "INVALID_COMMIT_OFFSET_SIZE", "STALE_MEMBER_EPOCH", "FENCED_MEMBER_EPOCH", "INVALID_GROUP_ID",
}  # fmt: skip
# answered by the coordinator, or by the client alone, before anything is stored; any other error may have stored it


class Commits:
    """Writes ``commits`` for one incarnation."""

    def __init__(self, log: EventLog, who: tuple[str, int, str], held: Ownership, *, automatic: bool) -> None:
        """``who`` is probe, incarnation and group."""
        self._log = log
        self._who = who
        self._held = held
        self._automatic = automatic
        self._asked: dict[Offsets, deque[int]] = {}
        self.polled = time.monotonic_ns()
        """Time of the last completed poll: an automatic commit contains the records returned until then."""
        self.last_error: str | None = None

    def sync(self, client: Consumer, offsets: dict[Place, int]) -> dict[Place, int]:
        """Commit and wait for the answer without a time-out; return the offsets that were definitely refused.

        Earlier rows are on disk by then. Otherwise a killed process would leave committed records without proof of
        delivery.
        """
        self._log.flush()
        invoked = time.monotonic_ns()
        wanted = _partitions(offsets)
        try:
            answered = client.commit(offsets=wanted, asynchronous=False) or wanted
        except KafkaException as error:
            self._write(wanted, invoked, error.args[0], "sync")
            return offsets if _outcome(error.args[0].name()) == FAIL else {}
        self._write(answered, invoked, None, "sync")
        refused = {
            (each.topic, each.partition) for each in answered if each.error and _outcome(each.error.name()) == FAIL
        }
        return {place: offset for place, offset in offsets.items() if place in refused}

    def start(self, client: Consumer, offsets: dict[Place, int]) -> None:
        """Commit like :meth:`sync`, without waiting; :meth:`answered` gets the answer."""
        self._log.flush()
        invoked = time.monotonic_ns()
        try:
            client.commit(offsets=_partitions(offsets), asynchronous=True)
        except KafkaException as error:
            self._write(_partitions(offsets), invoked, error.args[0], "async")
        else:
            self._asked.setdefault(_named(offsets), deque()).append(invoked)

    def answered(self, error: KafkaError | None, partitions: Sequence[TopicPartition]) -> None:
        """Handle an answer to an asynchronous or an automatic commit; for ``on_commit``."""
        asked = self._asked.get(_named({(each.topic, each.partition): each.offset for each in partitions}))
        if asked:
            self._write(partitions, asked.popleft(), error, "async")
        elif self._automatic:
            self._write(partitions, self.polled, error, "auto")

    def outstanding(self) -> bool:
        """Return True if an asynchronous commit has no answer yet."""
        return any(self._asked.values())

    def give_up(self) -> None:
        """Write the asynchronous commits that will not be answered any more."""
        for offsets, asked in self._asked.items():
            for invoked in asked:
                for what in offsets:
                    self._row(what, (invoked, None), (INFO, None, "async"))
        self._asked.clear()

    def _write(self, partitions: Sequence[TopicPartition], invoked: int, error: KafkaError | None, kind: str) -> None:
        completed = time.monotonic_ns()
        for each in partitions:
            if each.offset < 0:  # a partition without anything to commit
                continue
            why = error or each.error
            name = why.name() if why else None
            self.last_error = name or self.last_error
            result = (_outcome(name), name, kind)
            self._row((each.topic, each.partition, each.offset), (invoked, completed), result)

    def _row(
        self,
        what: tuple[str, int, int],
        times: tuple[int, int | None],
        result: tuple[Outcome, str | None, str],
    ) -> None:
        assignment = self._held.latest((what[0], what[1]))
        self._log.write("commits", (*self._who, assignment, None, *what, *times, *result))


Offsets = tuple[tuple[str, int, int], ...]
"""Topic, partition and offset of all entries of one commit, sorted."""


def _named(offsets: dict[Place, int]) -> Offsets:
    return tuple(sorted((topic, partition, offset) for (topic, partition), offset in offsets.items()))


def _partitions(offsets: dict[Place, int]) -> list[TopicPartition]:
    return [TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]


def _outcome(error: str | None) -> Outcome:
    if error is None:
        return OK
    return FAIL if error in _REFUSED else INFO

"""Rows of ``sends`` from delivery reports, many at a time: a tuple per record would cost more than sending it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from confluent_kafka import KafkaError, Message

from chaosk.probes._outcomes import FAIL, INFO, OK, Outcome, delivered
from chaosk.probes._outstanding import Outstanding
from chaosk.probes._tally import Sent, Tally, known
from chaosk.rundir.events.payload import BODY
from chaosk.spec.contracts.probe import EventLog

_BODY = np.dtype([("seq", "<i8"), ("scheduled", "<i8")])


class Sends:
    """Writes the outcomes of one incarnation of one producer, which writes to one topic."""

    def __init__(
        self,
        log: EventLog,
        who: tuple[str, int, str],
        body_at: int,
        tally: Tally,
        *,
        sent_once: bool,
        told_offsets: bool = True,
    ) -> None:
        """``who`` is probe, incarnation and topic; ``body_at`` is the position of seq and scheduled in its values.

        ``told_offsets``: brokers answer, so that reports contain offsets of the log. With ``acks=0`` they do not, and
        librdkafka counts the records of a batch up from -1001. Every outcome is counted in ``tally`` before it becomes
        a row.
        """
        self._log = log
        self._who = who
        self._tally = tally
        self._body = slice(body_at, body_at + BODY.size)
        self._once = sent_once
        self._told = told_offsets
        self.outstanding = Outstanding()
        """The records without an outcome."""
        self.counts: Counter[Outcome] = Counter()
        self.last_error: str | None = None
        self.transaction: tuple[str | None, int | None] = (None, None)
        """Name and epoch of the transaction in which the records reported now were sent."""
        self.rows = 0

    def reported(self, messages: Sequence[Message], polls: Sequence[tuple[int, int]]) -> None:
        """Write delivery reports; ``polls`` contains their arrival times, with the number at each."""
        if not messages:
            return
        count = len(messages)
        values = np.frombuffer(b"".join(map(Message.value, messages)), np.uint8).reshape(count, -1)  # type: ignore[arg-type]
        body = np.ascontiguousarray(values[:, self._body]).view(_BODY).ravel()
        seqs, scheduled = body["seq"].copy(), body["scheduled"].copy()
        completed = np.repeat([at for at, _ in polls], [many for _, many in polls])
        partitions = list(map(Message.partition, messages))
        offsets: list[int | None] = list(map(Message.offset, messages)) if self._told else [None] * count
        errors = list(map(Message.error, messages)) if any(map(Message.error, messages)) else []
        if errors:  # librdkafka counts the records of a refused batch up from -1, so that all but the first look placed
            offsets = [offset if error is None else None for offset, error in zip(offsets, errors, strict=True)]
        troubled = sum([error is not None for error in errors])  # KafkaError does not compare with None
        outcomes = [delivered(error, sent_once=self._once) for error in errors] if troubled else []
        told = Sent(known(partitions), seqs, known(offsets), scheduled, completed)
        self._count(outcomes or OK, told)
        columns: dict[str, Any] = {
            **dict(zip(("probe", "incarnation", "topic"), self._who, strict=True)),
            "seq": seqs,
            "scheduled": scheduled,
            "invoked": self.outstanding.reported(seqs),
            "completed": completed,
            "partition": told.partitions if told.partitions.min() >= 0 else partitions,
            "offset": told.offsets if told.offsets.min() >= 0 else offsets,
            "outcome": outcomes or OK,
            "txn": self.transaction[0],
            "producer_epoch": self.transaction[1],
        }
        if troubled:
            columns["error"] = self._troubles(errors)
            self.counts.update(each for each in outcomes if each != OK)
        self._log.write_columns("sends", count, columns)
        self.counts[OK] += count - troubled
        self.rows += count

    def _count(self, outcomes: Outcome | Sequence[Outcome], told: Sent) -> None:
        if isinstance(outcomes, str):
            self._tally.sent(outcomes, self._who[2], told)
            return
        for outcome in (OK, FAIL, INFO):
            those = np.array([each == outcome for each in outcomes])
            if those.any():
                self._tally.sent(outcome, self._who[2], told.only(those))

    def _troubles(self, errors: Sequence[KafkaError | None]) -> list[str | None]:
        names = [None if error is None else error.name() for error in errors]
        self.last_error = next(name for name in reversed(names) if name)
        return names

    def refused(self, record: tuple[int, int], partition: int | None, error: str) -> None:
        """Write that the client did not take a record, given as (seq, scheduled): it was never sent."""
        self.last_error = error
        (invoked,) = self.outstanding.reported(np.array(record[:1])).tolist()
        self._tally.answers += 1
        self._row(record, partition, (invoked, time.monotonic_ns()), (FAIL, error))

    def never_reported(self, record: tuple[int, int], partition: int | None, invoked: int) -> None:
        """Write that the outcome of a record never became known."""
        self.outstanding.reported(np.array(record[:1]))
        self._row(record, partition, (invoked, None), (INFO, None))

    def _row(
        self,
        record: tuple[int, int],
        partition: int | None,
        times: tuple[int, int | None],
        result: tuple[Outcome, str | None],
    ) -> None:
        probe, incarnation, topic = self._who
        seq, scheduled = record
        done = None if times[1] is None else np.array(times[1:])
        self._count(result[0], Sent(known([partition]), np.array([seq]), known([None]), np.array([scheduled]), done))
        told = (probe, incarnation, seq, topic, partition, scheduled, *times, *result)
        self._log.write("sends", (*told, None, None, *self.transaction))
        self.counts[result[0]] += 1
        self.rows += 1

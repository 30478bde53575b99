"""Rows of ``sends`` from delivery reports, many at a time: a tuple per record would cost more than sending it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from confluent_kafka import KafkaError, Message

from chaosk.payload import BODY
from chaosk.probes._contract import EventLog
from chaosk.probes._outcomes import FAIL, INFO, OK, Outcome, delivered
from chaosk.probes._outstanding import Outstanding

_BODY = np.dtype([("seq", "<i8"), ("scheduled", "<i8")])


class Sends:
    """Writes the outcomes of one incarnation of one producer, which writes to one topic."""

    def __init__(self, log: EventLog, who: tuple[str, int, str], body_at: int, *, sent_once: bool) -> None:
        """``who`` is probe, incarnation and topic; ``body_at`` is where its values tell seq and scheduled."""
        self._log = log
        self._who = who
        self._body = slice(body_at, body_at + BODY.size)
        self._once = sent_once
        self.outstanding = Outstanding()
        """The records without an outcome."""
        self.counts: Counter[Outcome] = Counter()
        self.last_error: str | None = None
        self.transaction: tuple[str | None, int | None] = (None, None)
        """Name and epoch of the transaction that what is reported now was sent in."""
        self.rows = 0

    def reported(self, messages: Sequence[Message], polls: Sequence[tuple[int, int]]) -> None:
        """Write what delivery reports say; ``polls`` says when they came: times, and how many at each."""
        if not messages:
            return
        count = len(messages)
        body = np.frombuffer(b"".join([message.value()[self._body] for message in messages]), _BODY)  # type: ignore[index]
        seqs = body["seq"].copy()
        columns = {
            **dict(zip(("probe", "incarnation", "topic"), self._who, strict=True)),
            "seq": seqs,
            "scheduled": body["scheduled"].copy(),
            "invoked": self.outstanding.reported(seqs),
            "completed": np.repeat([at for at, _ in polls], [many for _, many in polls]),
            "partition": [message.partition() for message in messages],
            "offset": [message.offset() for message in messages],
            "outcome": OK,
            "txn": self.transaction[0],
            "producer_epoch": self.transaction[1],
        }
        errors = [message.error() for message in messages]
        troubled = count - sum([error is None for error in errors])  # KafkaError does not compare with None
        if troubled:
            columns |= self._troubles(errors)
        self._log.write_columns("sends", count, columns)
        self.counts[OK] += count - troubled
        self.rows += count

    def _troubles(self, errors: Sequence[KafkaError | None]) -> dict[str, Any]:
        outcomes = [delivered(error, sent_once=self._once) for error in errors]
        names = [None if error is None else error.name() for error in errors]
        self.counts.update(outcome for outcome in outcomes if outcome != OK)
        self.last_error = next(name for name in reversed(names) if name)
        return {"outcome": outcomes, "error": names}

    def refused(self, record: tuple[int, int], partition: int | None, error: str) -> None:
        """Write that the client did not take a record, given as (seq, scheduled): it was never sent."""
        self.last_error = error
        (invoked,) = self.outstanding.reported(np.array(record[:1])).tolist()
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
        known = (probe, incarnation, seq, topic, partition, scheduled, *times, *result)
        self._log.write("sends", (*known, None, None, *self.transaction))
        self.counts[result[0]] += 1
        self.rows += 1

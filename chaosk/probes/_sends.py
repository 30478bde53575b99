"""Rows of ``sends`` from delivery reports, many at a time: a tuple per record would cost more than sending it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from confluent_kafka import KafkaError, Message

from chaosk.payload import BODY
from chaosk.probes._contract import EventLog
from chaosk.probes._outcomes import FAIL, INFO, OK, Outcome, delivered

Report = tuple[int, KafkaError | None, Message]
"""When a delivery report came, its error, and the message."""

_BODY = np.dtype({"names": ["seq", "scheduled"], "formats": ["<i8", "<i8"], "offsets": [0, 8], "itemsize": BODY.size})


class Sends:
    """Writes the outcomes of one incarnation of one producer, which writes to one topic."""

    def __init__(self, log: EventLog, who: tuple[str, int, str], body_at: int, *, sent_once: bool) -> None:
        """``who`` is probe, incarnation and topic; ``body_at`` is where its values tell seq and scheduled."""
        self._log = log
        self._who = who
        self._body = slice(body_at, body_at + BODY.size)
        self._once = sent_once
        self.pending: dict[int, int] = {}
        """By seq of every record without an outcome, when it was handed to the client."""
        self.counts: Counter[Outcome] = Counter()
        self.last_error: str | None = None
        self.rows = 0

    def reported(self, reports: Sequence[Report]) -> None:
        """Write what delivery reports say."""
        if not reports:
            return
        completed, errors, messages = zip(*reports, strict=True)
        body = np.frombuffer(b"".join([message.value()[self._body] for message in messages]), _BODY)
        seqs = body["seq"].tolist()
        columns = {
            **dict(zip(("probe", "incarnation", "topic"), self._who, strict=True)),
            "seq": seqs,
            "scheduled": body["scheduled"].copy(),
            "invoked": [self.pending.pop(seq) for seq in seqs],
            "completed": list(completed),
            "partition": [message.partition() for message in messages],
            "offset": [message.offset() for message in messages],
            "outcome": OK,
        }
        troubled = len(errors) - sum(error is None for error in errors)  # KafkaError does not compare with None
        if troubled:
            columns |= self._troubles(errors)
        self._log.write_columns("sends", len(seqs), columns)
        self.counts[OK] += len(seqs) - troubled
        self.rows += len(seqs)

    def _troubles(self, errors: Sequence[KafkaError | None]) -> dict[str, Any]:
        outcomes = [delivered(error, sent_once=self._once) for error in errors]
        names = [None if error is None else error.name() for error in errors]
        self.counts.update(outcome for outcome in outcomes if outcome != OK)
        self.last_error = next(name for name in reversed(names) if name)
        return {"outcome": outcomes, "error": names}

    def refused(self, record: tuple[int, int], partition: int | None, completed: int, error: str) -> None:
        """Write that the client did not take a record, given as (seq, scheduled): it was never sent."""
        self.last_error = error
        self._row(record, partition, completed, (FAIL, error))

    def never_reported(self, record: tuple[int, int], partition: int | None) -> None:
        """Write that the outcome of a record never became known."""
        self._row(record, partition, None, (INFO, None))

    def _row(
        self, record: tuple[int, int], partition: int | None, completed: int | None, result: tuple[Outcome, str | None]
    ) -> None:
        probe, incarnation, topic = self._who
        seq, scheduled = record
        times = (scheduled, self.pending.pop(seq), completed)
        self._log.write("sends", (probe, incarnation, seq, topic, partition, *times, *result, None, None, None, None))
        self.counts[result[0]] += 1
        self.rows += 1

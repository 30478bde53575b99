"""One reader: assigned to every partition, from log start to the end, with proof that it read every offset."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from chaosk.run.audit.ranges import AuditRange
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.payload import Decoder

BATCH = 5_000
"""Maximum number of records per poll of the client."""
_POLL = 0.1
_AHEAD = 128 * 1024
"""Kilobytes that the client fetches ahead, of all partitions together; its default is half as many for each."""
_NOBODY = (None, None, None, False)
_COLUMNS = ("topic", "partition", "offset", "producer", "producer_incarnation", "seq", "intact", "leader_epoch")
"""Columns of the table ``audit`` after ``isolation``."""

Place = tuple[str, int]


class AuditReader:
    """Reads ranges at one isolation level.

    Its position is proven by librdkafka's end-of-partition event, which contains the next offset to fetch. That offset
    is also beyond transaction markers and aborted records, which take offsets and are never delivered.
    """

    def __init__(self, client: Mapping[str, Any], isolation: str, decoder: Decoder, log: LiveLog) -> None:
        """``client``: librdkafka settings with resolved secrets."""
        self._isolation = isolation
        self._decoder = decoder
        self._log = log
        self._trouble: str | None = None
        self._reached: dict[Place, int] = {}
        self._failed: dict[Place, str] = {}
        self.records = 0
        """Records read so far."""
        self._client = {**client, **self._settings()}

    def read(self, todo: Sequence[AuditRange], patience: float) -> tuple[str, ...]:
        """Read until no record comes for ``patience`` seconds, and record it; return a line per incomplete range."""
        wanted = {
            (one.topic, one.partition): one.end(self._isolation) for one in todo if _has_more(one, self._isolation)
        }
        if wanted:
            starts = [TopicPartition(one.topic, one.partition, one.log_start) for one in todo if _key(one) in wanted]
            self._consume(starts, wanted, patience)
        whys = {_key(one): self._why(one, wanted) for one in todo}
        for one in todo:
            why = whys[_key(one)]
            row = (self._isolation, *_key(one), one.log_start, one.end(self._isolation), why is None, why)
            self._log.write("audit_ranges", row)
        return tuple(f"{t}-{p} at {self._isolation}: {why}" for (t, p), why in whys.items() if why is not None)

    def _consume(self, starts: list[TopicPartition], wanted: Mapping[Place, int], patience: float) -> None:
        ahead = {"queued.max.messages.kbytes": max(1024, _AHEAD // len(starts))}
        consumer = Consumer({**self._client, **ahead}, logger=_quiet())
        try:
            consumer.assign(starts)
            so_far, end = self.records, time.monotonic() + patience
            while self._open(wanted) and time.monotonic() < end:
                self._take(consumer.consume(BATCH, _POLL))
                if self.records > so_far:
                    so_far, end = self.records, time.monotonic() + patience
        finally:
            consumer.close()

    def _open(self, wanted: Mapping[Place, int]) -> bool:
        return any(self._reached.get(at, 0) < offset and at not in self._failed for at, offset in wanted.items())

    def _take(self, messages: Iterable[Message]) -> None:
        rows = []
        for message in messages:
            error = message.error()
            if error is None:
                rows.append(self._row(message))
            else:
                self._note(message, error)
        if rows:
            self.records += len(rows)
            columns = dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
            self._log.write_columns("audit", len(rows), {"isolation": self._isolation, **columns})
            self._log.flush()

    def _row(self, message: Message) -> tuple[Any, ...]:
        payload = self._decoder.decode(message.value())
        value = _NOBODY if payload is None else (payload.producer, payload.incarnation, payload.seq, True)
        return (message.topic(), message.partition(), message.offset(), *value, message.leader_epoch())

    def _note(self, message: Message, error: KafkaError) -> None:
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if topic is None or partition is None:
            self._trouble = str(error.str())
        elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own name for it
            self._reached[topic, partition] = offset or 0
        else:
            self._failed[topic, partition] = f"{error.name()}: {error.str()}"

    def _why(self, one: AuditRange, wanted: Mapping[Place, int]) -> str | None:
        """Return the reason why a range was not read to its end, or is incomplete; None if all was read."""
        if one.why is not None:
            return one.why
        if _key(one) not in wanted or self._reached.get(_key(one), 0) >= wanted[_key(one)]:
            return None
        trouble = self._failed.get(_key(one)) or self._trouble
        return f"not read to offset {wanted[_key(one)]} in time" + (f" ({trouble})" if trouble else "")

    def _settings(self) -> dict[str, Any]:
        return {
            "group.id": "chaosk-audit",  # required by librdkafka; nothing is committed, so no group is created
            "client.id": f"chaosk-audit-{self._isolation}",
            "isolation.level": self._isolation,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",  # an offset that is gone is a gap in the evidence, never skipped
            "check.crcs": True,
            "fetch.wait.max.ms": 50,
            "error_cb": self._hear,
        }

    def _hear(self, error: KafkaError) -> None:
        self._trouble = str(error.str())


def _has_more(one: AuditRange, isolation: str) -> bool:
    return one.end(isolation) > one.log_start


def _key(one: AuditRange) -> Place:
    return (one.topic, one.partition)


def _quiet() -> logging.Logger:
    """Return a logger that drops librdkafka's log lines: important ones are also reported as errors."""
    logger = logging.Logger("audit")  # noqa: LOG001 - passed to librdkafka, never looked up
    logger.addHandler(logging.NullHandler())
    return logger

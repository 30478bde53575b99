"""Deliveries of one poll as rows of ``reads``, column by column, because a tuple per record is too slow."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Message

from chaosk.payload import Decoder
from chaosk.probes._contract import EventLog
from chaosk.probes._ownership import Ownership, Place


class Reads:
    """Writes the deliveries of one incarnation."""

    def __init__(self, log: EventLog, who: tuple[str, int, str | None], run_id: str, held: Ownership) -> None:
        """``who`` is probe, incarnation and group."""
        self._log = log
        self._constant = {"probe": who[0], "incarnation": who[1], "group": who[2]}
        self._decode = Decoder(run_id).decode
        self._held = held
        self.rows = 0

    def write(self, messages: Sequence[Message], poll: int, at: int) -> dict[Place, int]:
        """Write what one poll delivered at ``at``; by partition, the offset to read next."""
        count = len(messages)
        places = [(str(message.topic()), int(message.partition() or 0)) for message in messages]
        offsets = array("q", [message.offset() or 0 for message in messages])
        payloads = [self._decode(message.value()) for message in messages]
        columns: dict[str, Any] = {
            **self._constant,
            "assignment": [self._held.held.get(place, -1) for place in places],
            "poll": poll,
            "n": array("q", range(self.rows, self.rows + count)),
            "topic": [place[0] for place in places],
            "partition": [place[1] for place in places],
            "offset": offsets,
            "producer": [payload and payload.producer for payload in payloads],
            "producer_incarnation": [payload and payload.incarnation for payload in payloads],
            "seq": [payload and payload.seq for payload in payloads],
            "intact": [payload is not None for payload in payloads],
            "leader_epoch": [message.leader_epoch() for message in messages],
            "at": at,
        }
        self._log.write_columns("reads", count, columns)
        self.rows += count
        return {place: offset + 1 for place, offset in zip(places, offsets, strict=True)}

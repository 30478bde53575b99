"""Deliveries as rows of ``reads``, many at a time: a tuple per record would cost more than reading it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
from confluent_kafka import Message

from chaosk.probes._ownership import Ownership, Place
from chaosk.probes._tally import Tally, known
from chaosk.rundir.events.fingerprint import Longs
from chaosk.rundir.events.payload import Decoder
from chaosk.spec.contracts.probe import EventLog


class _Poll(NamedTuple):
    messages: Sequence[Message]
    number: int
    at: int
    partitions: Longs
    offsets: Longs
    assignments: list[int]


class Reads:
    """Collects the deliveries of one incarnation of a consumer, which reads one topic, until they go to the log."""

    def __init__(
        self, log: EventLog, who: tuple[str, int, str | None], run_id: str, held: Ownership, tally: Tally
    ) -> None:
        """``who`` is probe, incarnation and group; every delivery is counted in ``tally`` before it becomes a row."""
        self._log, self._tally = log, tally
        self._constant = dict(zip(("probe", "incarnation", "group"), who, strict=True))
        self._decode_all = Decoder(run_id).decode_all
        self._held = held
        self._polls: list[_Poll] = []
        self.rows = 0
        """Number of delivered records."""
        self.transaction: str | None = None
        """The transaction in which the next moved records were read."""

    @property
    def waiting(self) -> bool:
        """True if there are deliveries that are not in the log yet."""
        return bool(self._polls)

    def take(self, messages: Sequence[Message], poll: int, at: int) -> dict[Place, int]:
        """Take the records that one poll delivered at ``at``; return the next offset by partition."""
        topic = cast("str", messages[0].topic())
        partitions = cast("list[int]", [message.partition() for message in messages])
        offsets = cast("list[int]", [message.offset() for message in messages])
        last = dict(zip(partitions, offsets, strict=True))
        numbers = {partition: self._held.held.get((topic, partition), -1) for partition in last}
        assignments = [numbers[partition] for partition in partitions]
        places = known(partitions), known(offsets)
        self._tally.read(topic, *places)
        self._polls.append(_Poll(messages, poll, at, *places, assignments))
        self.rows += len(messages)
        return {(topic, partition): offset + 1 for partition, offset in last.items()}

    def move(self) -> None:
        """Write the collected deliveries to the log."""
        if not self._polls:
            return
        polls, self._polls = self._polls, []
        messages = list(chain.from_iterable(poll.messages for poll in polls))
        counts = [len(poll.messages) for poll in polls]
        found = self._decode_all([message.value() for message in messages])
        columns: dict[str, Any] = {
            **self._constant,
            "assignment": list(chain.from_iterable(poll.assignments for poll in polls)),
            "poll": np.repeat([poll.number for poll in polls], counts),
            "n": np.arange(self.rows - len(messages), self.rows),
            "topic": messages[0].topic(),
            "partition": np.concatenate([poll.partitions for poll in polls]),
            "offset": np.concatenate([poll.offsets for poll in polls]),
            "producer": found.producers,
            "producer_incarnation": found.incarnations,
            "seq": found.seqs,
            "scheduled": found.scheduled,
            "intact": found.intact,
            "leader_epoch": [message.leader_epoch() for message in messages],
            "at": np.repeat([poll.at for poll in polls], counts),
            "txn": self.transaction,
        }
        self._log.write_columns("reads", len(messages), columns)

"""Results of one poll of a consumer: records, and the names of errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from chaosk.probes import _client
from chaosk.probes._ownership import Place


class Poller:
    """Polls for one incarnation of a consumer."""

    def __init__(
        self, client: Consumer, batch: int, errors: _client.ErrorReporter, positions: dict[Place, int]
    ) -> None:
        """``batch`` is the most records of one poll; ``positions`` is updated with ends of partitions."""
        self._client, self._batch, self._errors, self._positions = client, batch, errors, positions
        self.fatal = False
        """True once the client is unusable: it reports that once, and returns nothing afterwards."""
        self._ends: dict[Place, int] = {}
        self._first: Message | None = None
        """The record that this poll has fetched, until it is taken."""

    def poll(self, wait: float) -> tuple[list[Message], list[str]]:
        """Return the first record as soon as it is there, with all others available by then, and names of errors.

        ``consume`` alone would wait for a full batch and deliver late. But it may learn that partitions are taken away:
        then the first record was read before that, see :meth:`in_hand`.
        """
        rest: list[Message] = []
        errors = []
        try:
            self._first = self._client.poll(wait)
            if self._first is not None and self._batch > 1:
                rest = self._client.consume(self._batch - 1, 0)
        except KafkaException as error:
            errors.append(self.noted(error.args[0]))
        first, self._first = self._first, None
        records, more = self._sorted(rest if first is None else [first, *rest])
        return records, errors + more

    def settle(self, back: Collection[Place] = ()) -> None:
        """Advance positions past control records to the end of partitions, after the poll's records were taken.

        Partitions that it went ``back`` in are left out, because their end, from the same poll, is ahead again.
        """
        ends, self._ends = self._ends, {}
        for place, offset in ends.items():
            if place not in back:
                self._positions[place] = max(self._positions.get(place, 0), offset)

    def in_hand(self) -> list[Message]:
        """Take the record that the current poll has fetched, if there is one."""
        first, self._first = self._first, None
        return [] if first is None else self._sorted([first])[0]

    def noted(self, error: KafkaError) -> str:
        """Count an error, and return its name."""
        self._errors.noted(error.name())
        if error.code() == KafkaError._FATAL:  # noqa: SLF001 - a public constant
            self.fatal = True
            self._errors.final(error)
        return error.name()

    def _sorted(self, got: Sequence[Message]) -> tuple[list[Message], list[str]]:
        """Separate records from errors; the end of a partition is neither."""
        records = [message for message in got if message.error() is None]
        return records, [] if len(records) == len(got) else self._conditions(got)

    def _conditions(self, got: Sequence[Message]) -> list[str]:
        names = []
        for message in got:
            error = message.error()
            if error is None:
                continue
            if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - a public constant
                self._ends[str(message.topic()), int(message.partition() or 0)] = int(message.offset() or 0)
            else:
                names.append(self.noted(error))
        return names

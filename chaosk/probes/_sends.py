"""Rows of ``sends`` as a producer's callbacks bring them in: arrays, because a tuple per record is too slow."""

from __future__ import annotations

from array import array

from chaosk.probes._contract import EventLog
from chaosk.probes._outcomes import OK, Outcome


class Sends:
    """Collects rows column by column until they are moved to the log."""

    def __init__(self, log: EventLog, probe: str, incarnation: int, topic: str) -> None:
        """All rows are of one incarnation of one probe and of one topic."""
        self._log = log
        self._constant = {"probe": probe, "incarnation": incarnation, "topic": topic}
        self.rows = 0
        self._fresh()

    def ok(self, record: tuple[int, int, int], completed: int, partition: int | None, offset: int | None) -> None:
        """An acknowledged record, as (seq, scheduled, invoked), and where it is; None where the broker did not say."""
        self._seq.append(record[0])
        self._scheduled.append(record[1])
        self._invoked.append(record[2])
        self._completed.append(completed)
        if partition is None or offset is None or completed < 0:
            self._gaps = True
        self._partition.append(-1 if partition is None else partition)
        self._offset.append(-1 if offset is None else offset)

    def other(
        self, record: tuple[int, int, int], completed: int, partition: int | None, outcome: Outcome, error: str | None
    ) -> None:
        """A record that was not acknowledged; ``completed`` < 0 if its outcome never became known."""
        self._odd[len(self._seq)] = (outcome, error)
        self.ok(record, completed, partition, None)

    def move(self) -> None:
        """Hand the rows collected so far to the log."""
        count = len(self._seq)
        if not count:
            return
        gaps = self._gaps
        columns = {
            **self._constant,
            "seq": self._seq,
            "partition": _known(self._partition) if gaps else self._partition,
            "scheduled": self._scheduled,
            "invoked": self._invoked,
            "completed": _known(self._completed) if gaps else self._completed,
            "offset": _known(self._offset) if gaps else self._offset,
            "outcome": OK,
        }
        if self._odd:
            odd = [self._odd.get(index, (OK, None)) for index in range(count)]
            columns |= {"outcome": [outcome for outcome, _ in odd], "error": [error for _, error in odd]}
        self._log.write_columns("sends", count, columns)
        self.rows += count
        self._fresh()

    def _fresh(self) -> None:
        self._seq, self._scheduled, self._invoked = array("q"), array("q"), array("q")
        self._completed, self._partition, self._offset = array("q"), array("i"), array("q")
        self._odd: dict[int, tuple[Outcome, str | None]] = {}
        self._gaps = False


def _known(values: array[int]) -> list[int | None]:
    """Negative stands for unknown here."""
    return [value if value >= 0 else None for value in values]

"""Independent counts of a probe's process, beside the rows that it writes.

The analysis compares the rows with these counts. This detects rows that were lost, duplicated or changed in the log, on
the disk, in the archive or in the analysis. Constant space: fingerprints by partition
(``chaosk.rundir.events.fingerprint``) and histograms with the analysis's own buckets
(``chaosk.rundir.events.buckets``).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaosk.rundir.events import buckets
from chaosk.rundir.events.fingerprint import Fingerprint, Longs, by_group, hashed
from chaosk.spec.contracts.probe import EventLog

EVERY = 1_000_000_000
"""Minimum nanoseconds between two tallies."""
_SHARE = 100  # and this part of its age, to limit the number of tallies: a kill loses the check of at most 1 %;
# histograms have thousands of buckets, so they are written whenever the age has doubled
_AT_ONCE = 2_000  # records that are counted together: fewer cost as much
_NOWHERE = -1  # stands for an unknown partition or offset
ANSWER, READ, POLL, GAP, UNANSWERED = "answer", "read", "poll", "gap", "unanswered"
"""Names of counts other than the outcomes of sends."""


class Sent(NamedTuple):
    """Sends with the same outcome, by column, in the order in which their outcomes arrived."""

    partitions: Longs
    seqs: Longs
    offsets: Longs
    scheduled: Longs
    completed: Longs | None
    """None for records whose outcome never became known."""

    def only(self, those: NDArray[np.bool_] | Longs) -> Sent:
        """Select some of them, by a mask or by indices."""
        partitions, seqs, offsets, scheduled = (column[those] for column in self[:4])
        completed = None if self.completed is None else self.completed[those]
        return Sent(partitions, seqs, offsets, scheduled, completed)


class _Part(NamedTuple):
    what: str
    topic: str


class Tally:
    """The running counts of one process."""

    def __init__(self) -> None:
        """Starts with zero counts."""
        self.answers = 0
        """Number of sends with an outcome, counted by the client's calls."""
        self.polls = 0
        """Number of completed polls."""
        self._figures: dict[tuple[_Part, int], Fingerprint] = {}
        self._latencies: dict[str, Longs] = {}
        self._waiting: list[tuple[_Part, tuple[Longs, ...]]] = []
        self._many = 0
        self._acknowledged: int | None = None
        self._gap = 0

    def sent(self, outcome: str, topic: str, sent: Sent) -> None:
        """Count sends."""
        if sent.completed is None:
            self._wait(_Part(UNANSWERED, topic), sent[:3])
            return
        if outcome == "ok":
            self._see(sent.completed)
        self._wait(_Part(outcome, topic), (*sent[:4], sent.completed))

    def read(self, topic: str, partitions: Longs, offsets: Longs) -> None:
        """Count deliveries."""
        self._wait(_Part(READ, topic), (partitions, offsets))

    def _wait(self, part: _Part, columns: tuple[Longs, ...]) -> None:
        self._waiting.append((part, columns))
        self._many += len(columns[0])
        if self._many >= _AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        """Count the waiting rows."""
        waiting, self._waiting, self._many = self._waiting, [], 0
        for part in {part for part, _ in waiting}:
            chunks = zip(*(columns for each, columns in waiting if each == part), strict=True)
            partitions, *values = map(np.concatenate, chunks)
            times = np.zeros(len(partitions), np.int64)
            if len(values) == 4:
                times = values[3] - values[2]
                self._observe(part.what, times)
            for partition, found in by_group(partitions, hashed(*values[:2]), times).items():
                key = (part, partition)
                self._figures[key] = self._figures.get(key, Fingerprint()).joined(found)

    def _observe(self, outcome: str, latencies: Longs) -> None:
        counts = self._latencies.get(outcome)
        if counts is None:
            counts = self._latencies[outcome] = np.zeros(buckets.COUNT, np.int64)
        np.add.at(counts, buckets.numbers(latencies), 1)

    def _see(self, completed: Longs) -> None:
        if self._acknowledged is not None:
            self._gap = max(self._gap, int(completed[0]) - self._acknowledged)
        self._gap = max(self._gap, int(np.diff(completed).max(initial=0)))
        self._acknowledged = int(completed[-1])

    def columns(self, *, latencies: bool = True) -> dict[str, list[Any]]:
        """Return all figures, with the histograms if ``latencies``: the columns of ``tallies`` from ``what`` on."""
        self._settle()
        none = (None, None, None)
        rows: list[tuple[Any, ...]] = [
            (ANSWER, *none, self.answers, None, None, None),
            (POLL, *none, self.polls, None, None, None),
            (GAP, *none, 1, None, None, self._gap),
        ]
        for (part, partition), found in sorted(self._figures.items()):
            place = (part.topic, None if partition == _NOWHERE else partition, None)
            rows.append((part.what, *place, found.records, *map(_signed, found[1:])))
        columns = dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        for outcome, counts in sorted(self._latencies.items() if latencies else ()):
            taken = np.flatnonzero(counts)
            told: dict[str, list[Any]] = {name: [None] * len(taken) for name in _COLUMNS}
            told |= {"what": [outcome] * len(taken), "count": counts[taken].tolist()}
            told["bucket"] = buckets.lower_bounds(taken).tolist()
            columns = {name: columns[name] + told[name] for name in _COLUMNS}
        return columns


class Tallies:
    """Writes the tally of one process from time to time, right after the rows that it covers."""

    def __init__(self, log: EventLog, who: tuple[str, int]) -> None:
        """``who`` is probe and incarnation."""
        self.tally = Tally()
        """The running counts."""
        self._log, self._who = log, who
        self._number = 0
        self._began: int | None = None
        self._due = self._whole = 0

    def keep(self, now: int) -> None:
        """Write the tally if it is time; by ``now`` all counted rows must have been written."""
        if self._began is None:
            self._began, self._due = now, now + EVERY
        if now >= self._due:
            age, whole = now - self._began, now >= self._whole
            self.write(now, latencies=whole)
            self._due = now + max(EVERY, age // _SHARE)
            self._whole = now + age if whole else self._whole

    def write(self, now: int, *, latencies: bool = True) -> None:
        """Write the tally, with its histograms if ``latencies``; see :meth:`keep`."""
        columns = self.tally.columns(latencies=latencies)
        own = {"probe": self._who[0], "incarnation": self._who[1], "tally": self._number, "at": now}
        self._log.write_columns("tallies", len(columns["what"]), {**own, **columns})
        self._number += 1


_COLUMNS = ("what", "topic", "partition", "bucket", "count", "xor", "sum", "nanoseconds")


def known(values: Sequence[int | None]) -> Longs:
    """Return numbers of which some may be missing, with -1 in their place."""
    try:
        return np.frombuffer(array("q", values), np.int64)  # type: ignore[type-var] # a missing one raises
    except TypeError:
        return np.array([_NOWHERE if value is None else value for value in values], np.int64)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value

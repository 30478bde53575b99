"""Recount of each process's tally from its rows, with numpy; ``frames.row_counts`` does the same with Spark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.case import Case, Process
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.reported_counts import OUTCOMES, POLL, READ, UNANSWERED, FigureKey, Figures, with_totals
from chaosk.rundir.events.fingerprint import Hashes, by_group, hashed

_WHATS = (*OUTCOMES, UNANSWERED, READ.what, POLL.what)


def recounted(rows: EventRows) -> dict[Process, Figures]:
    """Return the recounted figures of each process with a tally; for a killed one up to its last tally."""
    recount = _Recount(rows, rows.case)
    gaps = recount.sends()
    recount.reads()
    recount.polls()
    return {process: with_totals(recount.figures[process], gaps.get(process, 0)) for process in recount.figures}


class _Recount:
    """Recount in progress. A process is numbered by its position among the sorted codes of processes with a tally."""

    def __init__(self, rows: EventRows, case: Case) -> None:
        self._rows = rows
        codes = {(rows.code("probe", probe) << 20) | number: (probe, number) for probe, number in case.tallies}
        self._codes = np.array(sorted(codes), dtype=np.int64)
        self._processes = [codes[code] for code in sorted(codes)]
        reach = [case.reach(process) for process in self._processes]
        self._at, self._read, self._polled = (np.array(column, np.int64) for column in zip(*reach, strict=True))
        self.figures: dict[Process, Figures] = {process: {} for process in self._processes}

    def sends(self) -> dict[Process, int]:
        """Count sends; return the longest time between acknowledgements by process."""
        names = ("outcome", "seq", "scheduled", "completed")
        outcome, seq, scheduled, done = self._rows.columns("sends", *names)
        offset = self._rows.as_written("sends", "offset")
        process, known = self._of("sends")
        never = done == EMPTY
        what = np.full(len(outcome), EMPTY)
        for number, name in enumerate(OUTCOMES):
            what[outcome == self._rows.code("outcome", name)] = number
        acknowledged = known & (what == 0) & ~never & (done <= self._at[process])
        what[never] = _WHATS.index(UNANSWERED)
        known &= (what != EMPTY) & (never | (done <= self._at[process]))
        self._count("sends", known, process, what, hashed(seq, offset), np.where(never, 0, done - scheduled))
        return self._gaps(process[acknowledged], done[acknowledged])

    def reads(self) -> None:
        """Count deliveries."""
        offset, n = self._rows.columns("reads", "offset", "n")
        process, known = self._of("reads")
        what = np.full(len(n), _WHATS.index(READ.what))
        self._count("reads", known & (n < self._read[process]), process, what, hashed(offset), np.zeros_like(n))

    def polls(self) -> None:
        """Count polls."""
        number = self._rows.column("polls", "poll")
        process, known = self._of("polls")
        what, nothing = np.full(len(number), _WHATS.index(POLL.what)), np.zeros(len(number), np.int64)
        known &= number < self._polled[process]
        self._count("polls", known, process, what, nothing.view(np.uint64), nothing)

    def _of(self, table: str) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the number of each row's process, and True if it has one."""
        codes = self._rows.processes(table)
        numbers = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return numbers, self._codes[numbers] == codes

    def _count(
        self, table: str, known: NDArray[np.bool_], process: Numbers, what: Numbers, hashes: Hashes, times: Numbers
    ) -> None:
        placed = table != "polls"
        topic = self._rows.column(table, "topic")[known] if placed else np.zeros(known.sum(), np.int64)
        partition = self._rows.column(table, "partition")[known] if placed else np.zeros(known.sum(), np.int64)
        topics, partitions = int(topic.max(initial=0)) + 1, int(partition.max(initial=0)) + 2
        group = ((process[known] * len(_WHATS) + what[known]) * topics + topic) * partitions + partition + 1
        for key, found in by_group(group, hashes[known], times[known]).items():
            rest, partition_1 = divmod(key, partitions)
            rest, topic_code = divmod(rest, topics)
            number, kind = divmod(rest, len(_WHATS))
            place = (self._rows.word("topic", topic_code), partition_1 - 1 if partition_1 else None)
            self.figures[self._processes[number]][FigureKey(_WHATS[kind], *(place if placed else ()))] = found

    def _gaps(self, process: Numbers, done: Numbers) -> dict[Process, int]:
        order = np.lexsort((done, process))
        process, done = process[order], done[order]
        same = process[1:] == process[:-1]
        longest = np.zeros(len(self._processes), np.int64)
        np.maximum.at(longest, process[1:][same], np.diff(done)[same])
        return dict(zip(self._processes, longest.tolist(), strict=True))

"""Recount of each process's tally from its rows, part by part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chaosk.analysis.case import Case, Process
from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers
from chaosk.analysis.reported_counts import OUTCOMES, POLL, READ, UNANSWERED, FigureKey, Figures, with_totals
from chaosk.rundir.events.fingerprint import Fingerprint, Hashes, by_group, hashed

_NONE = np.empty(0, np.int64)
_TENTH = 100_000_000
_WHATS = (*OUTCOMES, UNANSWERED, READ.what, POLL.what)


def recounted(rows: EventRows) -> dict[Process, Figures]:
    """Return the recounted figures of each process with a tally; for a killed one up to its last tally."""
    figures: dict[Process, Figures] = {process: {} for process in rows.case.tallies}
    answers: dict[Process, list[Numbers]] = {process: [] for process in figures}
    for table in ("sends", "reads", "polls"):
        for part in rows.parts(table):
            recount = _Recount(part, rows.case)
            recount.add(table)
            for process, mine in recount.figures.items():
                for key, found in mine.items():
                    figures[process][key] = found.joined(figures[process].get(key, Fingerprint()))
                answers[process].append(recount.answers.get(process, _NONE))
    return {process: with_totals(figures[process], _longest_gap(answers[process])) for process in figures}


def _ends_of_tenths(times: Numbers) -> Numbers:
    """Return the first and the last time of each tenth of a second: few, and the long gaps are between them."""
    inside = np.diff(times // _TENTH) == 0
    return times[~np.concatenate([[False], inside]) | ~np.concatenate([inside, [False]])] if times.size else times


def _longest_gap(parts: list[Numbers]) -> int:
    """Return the longest time between neighbours."""
    return int(np.diff(np.sort(np.concatenate(parts))).max(initial=0))


class _Recount:
    """Recount in progress. A process is numbered by its position among the sorted codes of processes with a tally."""

    def __init__(self, rows: EventRows, case: Case) -> None:
        self._rows = rows
        codes = {(rows.code("probe", probe) << 20) | number: (probe, number) for probe, number in case.tallies}
        self._codes = np.array(sorted(codes), dtype=np.int64)
        self._processes = [codes[code] for code in sorted(codes)]
        reach = [case.reach(process) for process in self._processes]
        self._at, self._n, self._poll = (np.array(column, np.int64) for column in zip(*reach, strict=True))
        self.figures: dict[Process, Figures] = {process: {} for process in self._processes}
        self.answers: dict[Process, Numbers] = {}
        """Times of acknowledgements: the first and the last of each tenth of a second."""

    def add(self, table: str) -> None:
        """Count the rows of a table."""
        {"sends": self._sends, "reads": self._reads, "polls": self._polls}[table]()

    def _sends(self) -> None:
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
        for number, who in enumerate(self._processes):
            self.answers[who] = _ends_of_tenths(np.sort(done[acknowledged & (process == number)]))

    def _reads(self) -> None:
        offset, n = self._rows.columns("reads", "offset", "n")
        process, known = self._of("reads")
        what = np.full(len(n), _WHATS.index(READ.what))
        self._count("reads", known & (n < self._n[process]), process, what, hashed(offset), np.zeros_like(n))

    def _polls(self) -> None:
        number = self._rows.column("polls", "poll")
        process, known = self._of("polls")
        what, nothing = np.full(len(number), _WHATS.index(POLL.what)), np.zeros(len(number), np.int64)
        known &= number < self._poll[process]
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

"""Last tally of a process of a probe, as plain values: its own counts of its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from chaosk.rundir.events.fingerprint import WRAP, Fingerprint


class FigureKey(NamedTuple):
    """Kind of a figure (as in ``tallies.what``), and its place."""

    what: str
    topic: str | None = None
    partition: int | None = None


ANSWER, READ, POLL, GAP = FigureKey("answer"), FigureKey("read"), FigureKey("poll"), FigureKey("gap")
OUTCOMES = ("ok", "fail", "info")
UNANSWERED = "unanswered"

Figures = dict[FigureKey, Fingerprint]
"""Figures of one process. For the gap, ``nanoseconds`` counts."""


@dataclass(frozen=True, slots=True)
class ReportedCounts:
    """Counts of one process at one time."""

    at: int
    figures: Figures = field(default_factory=dict)
    latencies: dict[tuple[str, int], int] = field(default_factory=dict)
    """Number of sends by outcome and bucket; for a killed process, from some time before."""

    @property
    def reads(self) -> int:
        """Number of deliveries counted."""
        return sum(found.records for part, found in self.figures.items() if part.what == READ.what)

    @property
    def polls(self) -> int:
        """Number of polls counted."""
        return self.figures.get(POLL, Fingerprint()).records


def last_tallies(table: pa.Table) -> dict[tuple[str, int], ReportedCounts]:
    """Return from the table ``tallies`` by process its last tally and last histograms, which not every tally has."""
    found: dict[tuple[str, int], ReportedCounts] = {}
    for row in _last(table.filter(pc.is_null(table["bucket"]))):
        one = found.setdefault((row["probe"], row["incarnation"]), ReportedCounts(row["at"]))
        numbers = ((row[name] or 0) % WRAP for name in ("xor", "sum", "nanoseconds"))
        one.figures[FigureKey(row["what"], row["topic"], row["partition"])] = Fingerprint(row["count"], *numbers)
    for row in _last(table.filter(pc.is_valid(table["bucket"]))):
        one = found.setdefault((row["probe"], row["incarnation"]), ReportedCounts(row["at"]))
        one.latencies[row["what"], row["bucket"]] = row["count"]
    return found


def _last(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of each process's last tally."""
    names = ["probe", "incarnation", "tally"]
    last = table.select(names).group_by(names[:2]).aggregate([("tally", "max")]).rename_columns(names)
    rows: list[dict[str, Any]] = table.join(last, keys=names, join_type="left semi").to_pylist()
    return rows


def with_totals(figures: Figures, gap: int) -> Figures:
    """Add to figures counted from rows the derived ones: the number of outcomes, and the gap."""
    answers = sum(found.records for part, found in figures.items() if part.what in OUTCOMES)
    return {POLL: Fingerprint(), **figures, ANSWER: Fingerprint(answers), GAP: Fingerprint(1, nanoseconds=gap)}

"""The last tally of a process of a probe, as plain values: what it counted by itself of what it was told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from chaosk.rundir.events.fingerprint import WRAP, Fingerprint


class Part(NamedTuple):
    """What a figure counts (as in ``tallies.what``), and where."""

    what: str
    topic: str | None = None
    partition: int | None = None


ANSWER, READ, POLL, GAP = Part("answer"), Part("read"), Part("poll"), Part("gap")
OUTCOMES = ("ok", "fail", "info")
UNANSWERED = "unanswered"

Figures = dict[Part, Fingerprint]
"""Of one process. Of the gap the ``nanoseconds`` count."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What one process had counted at a moment."""

    at: int
    figures: Figures = field(default_factory=dict)
    latencies: dict[tuple[str, int], int] = field(default_factory=dict)
    """By outcome and bucket how many sends; of a process that was killed, as it had counted them some time before."""

    @property
    def reads(self) -> int:
        """How many deliveries it stands for."""
        return sum(found.records for part, found in self.figures.items() if part.what == READ.what)

    @property
    def polls(self) -> int:
        """How many polls it stands for."""
        return self.figures.get(POLL, Fingerprint()).records


def last_tallies(table: pa.Table) -> dict[tuple[str, int], Tally]:
    """By process its last tally, from the table ``tallies``, and its last histograms, which not every tally has."""
    found: dict[tuple[str, int], Tally] = {}
    for row in _last(table.filter(pc.is_null(table["bucket"]))):
        one = found.setdefault((row["probe"], row["incarnation"]), Tally(row["at"]))
        numbers = ((row[name] or 0) % WRAP for name in ("xor", "sum", "nanoseconds"))
        one.figures[Part(row["what"], row["topic"], row["partition"])] = Fingerprint(row["count"], *numbers)
    for row in _last(table.filter(pc.is_valid(table["bucket"]))):
        one = found.setdefault((row["probe"], row["incarnation"]), Tally(row["at"]))
        one.latencies[row["what"], row["bucket"]] = row["count"]
    return found


def _last(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of each process's last tally."""
    names = ["probe", "incarnation", "tally"]
    last = table.select(names).group_by(names[:2]).aggregate([("tally", "max")]).rename_columns(names)
    rows: list[dict[str, Any]] = table.join(last, keys=names, join_type="left semi").to_pylist()
    return rows


def with_totals(figures: Figures, gap: int) -> Figures:
    """Figures counted from rows, with those that follow from them: how many have an outcome, and the gap."""
    answers = sum(found.records for part, found in figures.items() if part.what in OUTCOMES)
    return {POLL: Fingerprint(), **figures, ANSWER: Fingerprint(answers), GAP: Fingerprint(1, nanoseconds=gap)}

"""Evidence of a check: its rows, sorted into ``evidence/<check>.jsonl`` in bounded memory, and their summaries."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from chaosk.analysis.check_rows import SEVERITIES, CheckRows, FewRows
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.events import Events
from chaosk.analysis.frames.absent import bereft
from chaosk.core import files
from chaosk.core.errors import AnalysisError
from chaosk.rundir.verdict import Row
from chaosk.spec.prediction import FOLLOWING, Prediction, predictions

SHOWN = 20
"""Rows of each severity that the verdict includes."""
AT_ONCE = 20_000
"""Rows that are fetched at once; more are written by Spark and merged from its files."""
_RANK = f"array_position(array({', '.join(map(repr, SEVERITIES))}), severity)"
_LINE = "to_json(struct(*), map('ignoreNullFields', 'false')) AS value"


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of the rows of one check and severity to which the same predictions of the scenario apply."""

    severity: str
    count: int
    rows: tuple[Row, ...]
    """The first rows, without severity and reason."""
    reasons: tuple[str, ...]
    """Every distinct reason, sorted."""
    faults: tuple[str, ...]
    """The faults whose windows the rows overlap, earliest first."""


_PREDICTABLE = ("violation", "allowed")
_Kind = tuple[str, tuple[bool, ...]]
"""A severity, and for each prediction True if it applies to the row."""


@dataclass(slots=True)
class _SummaryBuilder:
    """Summaries in progress, updated line by line."""

    events: Events
    name: str
    predicted: tuple[Prediction, ...] = ()
    """Predictions of the scenario about this check."""
    counts: dict[_Kind, int] = field(default_factory=dict)
    rows: dict[_Kind, list[Row]] = field(default_factory=dict)
    reasons: dict[_Kind, set[str]] = field(default_factory=dict)
    faults: dict[_Kind, set[str]] = field(default_factory=dict)

    def told(self, line: str) -> str:
        """Return the line for display, with places in former topics named as such."""
        former = self.events.case.former
        if not former.topics:
            return line
        row: dict[str, Any] = json.loads(line)
        for other in ("", "other_"):
            if (topic := row.get(f"{other}topic")) is not None and f"{other}partition" in row:
                row[f"{other}topic"], row[f"{other}partition"] = former.told(topic, row[f"{other}partition"])
        return json.dumps(row, ensure_ascii=False, separators=(",", ":"))

    def add(self, line: str) -> None:
        row: dict[str, Any] = json.loads(line)
        severity, reason = str(row.pop("severity")), row.pop("reason")
        kind = (severity, self._about(row) if severity in _PREDICTABLE else ())
        self.counts[kind] = self.counts.get(kind, 0) + 1
        shown = self.rows.setdefault(kind, [])
        if len(shown) < SHOWN:
            shown.append(_cells(row))
        if reason:
            self.reasons.setdefault(kind, set()).add(str(reason))
        overlapped = self.events.case.overlapped(row["began"], row["ended"])
        self.faults.setdefault(kind, set()).update(overlapped)

    def _about(self, row: dict[str, Any]) -> tuple[bool, ...]:
        if not self.predicted:
            return ()
        windows = {span.name: (span.began, span.ended) for span in self.events.case.windows}
        lost = self.events.once(bereft) if self.name in FOLLOWING else None
        return tuple(each.covers(self.name, row, windows, lost) for each in self.predicted)

    def summaries(self) -> tuple[Summary, ...]:
        order = [fault.name for fault in self.events.case.faults]
        return tuple(
            Summary(
                severity=kind[0],
                count=self.counts[kind],
                rows=tuple(self.rows[kind]),
                reasons=tuple(sorted(self.reasons.get(kind, ()))),
                faults=tuple(sorted(self.faults[kind], key=order.index)),
            )
            for kind in sorted(self.counts, key=lambda kind: (SEVERITIES.index(kind[0]), kind[1]))
        )


def keep(events: Events, check: Check, name: str, rows: DataFrame | FewRows) -> tuple[tuple[Summary, ...], CheckRows]:
    """Write every row to ``evidence/<name>.jsonl``, by severity and the check's order; return summaries and rows."""
    told = predictions(events.case.plan.expect)
    tally = _SummaryBuilder(events, name, tuple(each for each in told if each.is_about(name, check.rule)))
    if not isinstance(rows, DataFrame):
        few = sorted(rows, key=lambda row: _turn(row, check.order))
        _write(events.case.rundir.evidence / f"{name}.jsonl", map(_line, few), tally)
        return tally.summaries(), CheckRows(tuple(few))
    lines = rows.orderBy(F.expr(_RANK), *check.order).select(F.expr(_LINE))
    first = [str(row["value"]) for row in lines.limit(AT_ONCE + 1).collect()]
    many = len(first) > AT_ONCE
    path = events.case.rundir.evidence / f"{name}.jsonl"
    _write(path, _from_spark(lines, path) if many else first, tally)
    found = CheckRows(many=rows) if many else CheckRows(tuple(json.loads(line) for line in first))
    return tally.summaries(), found


def _turn(row: Mapping[str, Any], order: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the sort key of a row: its severity, then these columns, nulls first."""
    return (SEVERITIES.index(row["severity"]), *((row[name] is not None, row[name]) for name in order))


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def write_none(events: Events, name: str) -> None:
    """Write an empty ``evidence/<name>.jsonl``: nothing was found."""
    _write(events.case.rundir.evidence / f"{name}.jsonl", (), _SummaryBuilder(events, name))


def _write(path: Path, lines: Iterable[str], tally: _SummaryBuilder) -> None:
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.fresh(partial) as file:
            for line in map(tally.told, lines):
                file.write(line.encode() + b"\n")
                tally.add(line)
        partial.replace(path)
    except OSError as error:
        raise AnalysisError(f"{path}: the evidence cannot be written: {error.strerror}; free some space") from error


def _from_spark(lines: DataFrame, path: Path) -> Iterator[str]:
    """Yield the lines from files that Spark writes, in order: part files are numbered by the sorted ranges."""
    folder = path.with_suffix(".parts").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    try:
        lines.write.text(folder.as_uri())
        for part in sorted(folder.glob("part-*")):
            with part.open(encoding="utf-8") as file:
                yield from (line.rstrip("\n") for line in file)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cells(row: dict[str, Any]) -> Row:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}

"""Evidence rows as tables: the same columns for every row, moments as seconds since the timeline's start."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaosk.report.axis import Axis, Longs
from chaosk.report.marks import Marks
from chaosk.report.ranges import Ranges
from chaosk.report.source import Source
from chaosk.report.words import since
from chaosk.rundir.events import TABLES
from chaosk.rundir.verdict import Cell, Row, Severity

_MOMENTS = {  # `first` is a moment in one table, and an offset in evidence
    column.name
    for table in TABLES.values()
    for column in table.columns
    if column.kind == "time" and column.name != "first"
}
_NEAR = 7 * 24 * 3600 * 10**9
"""Numbers further than a week of nanoseconds from the timeline's start are not moments of the run."""


def rows(source: Source, check: str) -> Iterator[Mapping[str, Any]]:
    """Yield all rows of a check's evidence from its file, with severity and reason.

    Without such a file, or if no row of it can be read, yield the rows in the verdict. Damage is noted.
    """
    findings = [finding for finding in source.verdict.findings if finding.check == check]
    found = 0
    for row in _lines(source, check) if findings else ():
        found += 1
        yield row
    for finding in findings if not found else ():
        yield from ({"severity": str(finding.severity), **row} for row in finding.evidence)


def _lines(source: Source, check: str) -> Iterator[Mapping[str, Any]]:
    path = source.run.evidence / f"{check}.jsonl"
    if path.is_symlink() or not path.is_file():
        return
    try:
        with path.open(encoding="utf-8") as lines:
            yield from (row for row in map(json.loads, lines) if isinstance(row, dict))
    except (OSError, ValueError) as error:
        source.note(f"{path.name} cannot be read: {error}")


@dataclass(frozen=True, slots=True)
class Proofs:
    """Summary of all rows of evidence, in memory that does not grow with the rows."""

    ranges: Mapping[tuple[str, str], Ranges]
    """By check and severity."""
    marks: Marks


def proofs(source: Source, axis: Axis, due: Mapping[tuple[str, int], Longs]) -> Proofs:
    """Read the evidence of each violation and each allowed finding once."""
    telling = (f for f in source.verdict.findings if f.severity is not Severity.INFORMATION)
    ranges: dict[tuple[str, str], Ranges] = {}
    marks = Marks(axis, due)
    for check in dict.fromkeys(finding.check for finding in telling):
        for row in rows(source, check):
            severity = str(row.get("severity"))
            if severity in (Severity.VIOLATION, Severity.ALLOWED):
                ranges.setdefault((check, severity), Ranges(check)).add(row)
                marks.add(check, row)
    return Proofs(ranges, marks)


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """Evidence as a table of texts."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def evidence_table(rows: Sequence[Row], zero: int) -> EvidenceTable:
    """Return the rows as a table with the columns of all rows, in order of appearance."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return EvidenceTable(columns, tuple(tuple(_text(name, row.get(name), zero) for name in columns) for row in rows))


def _text(column: str, value: Cell, zero: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and is_moment(column, value, zero):
        return since((value - zero) / 1e9)
    if isinstance(value, tuple):
        return ", ".join(str(item) for item in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def is_moment(column: str, value: int, zero: int) -> bool:
    """Return True if a number is a moment of the run's monotonic clock."""
    return (column in _MOMENTS or column.endswith("_at")) and abs(value - zero) < _NEAR

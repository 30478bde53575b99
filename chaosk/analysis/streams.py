"""Completeness of the event tables: each writer's counts compared with the rows present.

Pure, over a few plain values. A writer records its counts in ``stream_ends`` when it closes its event log; ``run.json``
names the started writers, and the rows of each that were carried over when the run was closed. Runs of older versions
have neither, and are not checked. See docs/decisions/self-check.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaosk.analysis.case import Discrepancy
from chaosk.rundir.events.live import SUFFIX
from chaosk.rundir.events.writer_reports import writer_of, written_by
from chaosk.rundir.record import RunRecord

Row = Mapping[str, Any]
Process = tuple[str, int]
_MARKS = "stream_ends"
_COUNTED = {"produce": ("sends",), "consume": ("reads",), "health_check": ("health_checks",), "call": ("calls",)}
"""Tables whose rows the end marker counts, by kind of probe; for a transform, deliveries and sends."""


@dataclass(frozen=True, slots=True)
class Present:
    """Rows and counts present in a run."""

    record: RunRecord
    planned: str
    """The run's id in ``plan.json``; empty if it has none."""
    rows: Mapping[str, int]
    """Number of rows by event table present."""
    marks: Sequence[Row]
    """Rows of ``stream_ends``."""
    kinds: Mapping[Process, str]
    """Kind of probe by process that became ready."""
    ends: Mapping[Process, Mapping[str, int]]
    """End marker by process."""
    counted: Mapping[Process, int]
    """Rows that the end marker counts, by process."""


def discrepancies(there: Present) -> tuple[Discrepancy, ...]:
    """Return missing rows, surplus rows, and rows of another run; none where no count was recorded."""
    return (*_other_runs(there), *_unmarked(there), *_marked(there), *_carried(there), *_processes(there))


def killed(record: RunRecord) -> frozenset[str]:
    """Return the writers that a step killed: they need no final count."""
    ended = (end for end in record.probes if end.ended_by == "step" and end.exit_status != 0)
    return frozenset(writer_of(end.probe, end.incarnation) for end in ended)


def _other_runs(there: Present) -> Iterator[Discrepancy]:
    run = there.record.run_id
    if run and there.planned and there.planned != run:
        yield Discrepancy((), f"plan.json is of the run {there.planned}, and run.json of the run {run}")
    for writer, marks in _by_writer(there.marks).items():
        if others := sorted({str(mark["run_id"]) for mark in marks} - {run or there.planned}):
            what = f"what {writer} wrote is of the run {', '.join(others)}, and not of {run}"
            yield Discrepancy(written_by(writer), what)


def _unmarked(there: Present) -> Iterator[Discrepancy]:
    """Yield started writers without a final count."""
    marked, excused = _by_writer(there.marks), killed(there.record)
    for writer in sorted(there.record.streams or ()):
        if writer not in marked and writer not in excused:
            name, _, number = writer.rpartition("-")
            unended = number.isdigit() and (name, int(number)) in there.kinds.keys() - there.ends.keys()
            what = f"{writer} left no word of how many rows it wrote: its last events, or all of them, may be missing"
            yield Discrepancy(written_by(writer), what, told=not unended)


def _marked(there: Present) -> Iterator[Discrepancy]:
    """Yield writers whose carried-over rows differ from their counts, as far as ``run.json`` has them."""
    for writer, marks in _by_writer(there.marks).items():
        own = [mark["rows"] for mark in marks if mark["table"] == _MARKS]
        if own != [len(marks)]:
            what = f"of what {writer} says of its tables {len(marks):,} rows are there, and {sum(own):,} were written"
            yield Discrepancy(written_by(writer), f"the event table {_MARKS}: {what}")
        carried = (there.record.streams or {}).get(writer)
        if carried is None:
            continue
        said = {mark["table"]: mark["rows"] for mark in marks}
        for table in sorted({*said, *carried} - {_MARKS}):
            yield from _difference(
                table, f"{writer} wrote {{:,}} rows of it", said.get(table, 0), carried.get(table, 0)
            )


def _carried(there: Present) -> Iterator[Discrepancy]:
    """Yield tables whose number of rows differs from the sum over all writers."""
    if there.record.streams is not None:
        wanted = sum((Counter(carried) for carried in there.record.streams.values()), Counter[str]())
        for table in sorted({*wanted, *there.rows}):
            yield from _difference(table, "{:,} rows of it were written", wanted[table], there.rows.get(table))
        return
    said = Counter[str]()
    for mark in there.marks:
        said[mark["table"]] += mark["rows"]
    for table, rows in sorted(said.items()):
        if rows > (there.rows.get(table) or 0):
            yield from _difference(table, "{:,} rows of it were written", rows, there.rows.get(table))


def _processes(there: Present) -> Iterator[Discrepancy]:
    """Yield processes of probes whose end marker is missing, or counts other rows.

    The guard ``log_truncated`` reports them. Also yield processes with rows but without a start event, whose settings
    are unknown.
    """
    unsaid = there.ends.keys() - there.kinds.keys() if there.record.streams is not None else ()
    for process in sorted(unsaid):
        if there.ends[process]["rows"] > 0:
            writer = writer_of(*process)
            yield Discrepancy(("incarnations",), f"{writer} has events, and no word of its start and its settings")
    excused = {writer_of(end.probe, end.incarnation) for end in there.record.probes if end.ended_by == "step"}
    for process, kind in sorted(there.kinds.items()):
        end, writer = there.ends.get(process), writer_of(*process)
        if end is None and writer not in excused:
            yield Discrepancy(written_by(writer), f"{writer} left no end marker", told=False)
        elif end is not None and end["rows"] > there.counted.get(process, 0):
            tables = _COUNTED.get(kind, ("reads", "sends"))
            yield Discrepancy(tables, f"{writer} has fewer rows than it says", told=False)
        elif end is not None and end["rows"] < there.counted.get(process, 0):
            tables = _COUNTED.get(kind, ("reads", "sends"))
            yield Discrepancy(tables, f"{writer} has more rows than it says", short=False, told=False)
    for stream in there.record.torn:
        writer, _, rest = stream.partition("/")
        table, suffix, _ = rest.partition(f"{SUFFIX}:")
        if suffix and writer not in excused:
            yield Discrepancy((table,), stream, told=False)


def _difference(table: str, says: str, wanted: int, found: int | None) -> Iterator[Discrepancy]:
    if wanted != (found or 0):
        there = "it is missing" if found is None else f"{found:,} are there"
        yield Discrepancy(
            (table,), f"the event table {table}: {says.format(wanted)}, and {there}", short=wanted > (found or 0)
        )


def _by_writer(marks: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for mark in marks:
        found.setdefault(mark["writer"], []).append(mark)
    return dict(sorted(found.items()))

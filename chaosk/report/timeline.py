"""Drawings and explanations, made from the event tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from chaosk.report import lanes, stalls, traffic
from chaosk.report.around import error_rows, rows, server_lanes, surroundings
from chaosk.report.axis import Axis
from chaosk.report.evidence import Proofs, proofs
from chaosk.report.explain import Explanation, explain
from chaosk.report.figure import TimelineFigure
from chaosk.report.happenings import Surroundings
from chaosk.report.outages import outages
from chaosk.report.source import Source, read
from chaosk.report.tables import frames
from chaosk.report.traffic import Due, Traffic
from chaosk.report.why import why
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import QUIET, Outcome, Verdict

MOST_PROBES = 8
"""Probes drawn."""


@dataclass(frozen=True, slots=True)
class EventSummary:
    """Everything derived from the events."""

    timeline: TimelineFigure
    explanations: tuple[Explanation, ...]
    proofs: Proofs
    around: Surroundings


def see(source: Source) -> EventSummary:
    """Read the data of plots and explanations in bounded memory; unreadable parts are left out and noted."""
    axis = axis_of(source)
    due: Due = source.tolerate(lambda: _due(source)) or {}
    flows = (*_produced(source, axis), *_consumed(source, axis, due))[:MOST_PROBES]
    found = proofs(source, axis, due)
    around = surroundings(source, axis)
    drawn = lanes.partition_lanes(around.partitions, axis, around.claims)
    timeline = TimelineFigure(
        axis=axis,
        faults=tuple(fault for fault in source.verdict.faults if fault.step not in QUIET),
        traffic=flows,
        errors=error_rows(source, around),
        partitions=drawn,
        others=server_lanes(around),
        wrong={flow.probe: found.marks.of(flow.probe) for flow in flows},
        unshown=len({change.place for change in around.partitions}) - len(drawn),
    )
    return EventSummary(timeline, _explanations(source, around), found, around)


def causes(verdict: Verdict, run: RunDir) -> tuple[str, ...]:
    """Return only the causes of :func:`see`, quickly; empty for a passed run, or without a verdict."""
    if verdict.verdict is Outcome.PASS or not run.verdict.is_file():
        return ()
    source = read(run)
    around = surroundings(source, axis_of(source))
    found = (explain(stall, Counter(), around) for stall in stalls.stalls(outages(source)))
    return why(source, around, tuple(found))


def axis_of(source: Source) -> Axis:
    """Return the axis from the baseline's begin (or the first probe's start) to the end of the audit."""
    verdict = source.verdict
    began = source.tolerate(lambda: _baseline(source)) or source.tolerate(lambda: _started(source)) or []
    end = verdict.began + max(int(verdict.duration * 1e9), 1_000_000_000)
    return Axis(verdict.began, min([verdict.began, *began]), end, verdict.wall)


def _baseline(source: Source) -> list[int]:
    return [row["began"] for row in rows(source, "phases", "phase", "began") if row["phase"] == "baseline"]


def _started(source: Source) -> list[int]:
    return [row["started"] for row in rows(source, "incarnations", "started")]


def _produced(source: Source, axis: Axis) -> tuple[Traffic, ...]:
    columns = ("probe", "scheduled", "invoked", "completed", "outcome")
    return source.tolerate(lambda: traffic.produced(frames(source.run, "sends", *columns), axis)) or ()


def _consumed(source: Source, axis: Axis, due: Due) -> tuple[Traffic, ...]:
    columns = ("probe", "at", "producer", "producer_incarnation", "seq")
    return source.tolerate(lambda: traffic.consumed(frames(source.run, "reads", *columns), axis, due)) or ()


def _due(source: Source) -> Due:
    return traffic.due_times(frames(source.run, "sends", "probe", "incarnation", "seq", "scheduled"))


def _explanations(source: Source, around: Surroundings) -> tuple[Explanation, ...]:
    found = stalls.stalls(outages(source))
    columns = ("probe", "topic", "partition", "scheduled", "completed", "outcome", "error")
    counts = source.tolerate(lambda: stalls.outcomes(found, frames(source.run, "sends", *columns)))
    pairs = zip(found, counts or [Counter[str]() for _ in found], strict=True)
    return tuple(explain(stall, count, around) for stall, count in pairs)

"""Measured figures as tables: a row for each metric and subject, a column for each window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chaosk.core.figures import bounds, figure, metric_name
from chaosk.rundir.verdict import Measure, Objective, Verdict
from chaosk.spec.metrics import METRICS, WINDOWS

TILES = ("unavailability", "recovery", "latency_p99", "end_to_end_p99", "acknowledged_records", "lost_records")
"""Metrics shown in large type, in this order, if measured."""
_OF_READERS = ("deliveries", "end_to_end_p99")
"""Metrics that only consumers have."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure in large type."""

    name: str
    value: str
    subject: str
    says: str


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """The figures of one metric and subject, in the order of the table's windows; empty ones were not measured."""

    name: str
    subject: str
    says: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectiveRow:
    """A bound beside the measured figure."""

    name: str
    subject: str
    window: str
    asked: str
    measured: str
    state: str
    """``met``, ``missed`` or ``not measured``."""
    prediction: bool
    share: float | None
    """Ratio of the measured to the allowed figure, if there is a maximum above 0."""


def tiles(verdict: Verdict) -> tuple[Tile, ...]:
    """Return the most important figures, each the worst of its subjects over the run.

    Unavailability is shown twice: for writers and for readers.
    """
    readers = {m.subject for m in verdict.measures if m.metric in _OF_READERS and m.subject}
    out = [m for m in verdict.measures if m.metric == TILES[0] and m.subject in readers]
    others = [m for m in verdict.measures if m not in out]
    found = [(metric_name(name), name, overall(name, others)) for name in TILES]
    found.insert(1, (f"consume {metric_name(TILES[0])}", TILES[0], overall(TILES[0], out)))
    return tuple(
        Tile(name, figure(m.value, m.unit, censored=m.censored), m.subject, says(metric))
        for name, metric, m in found
        if m is not None
    )


def overall(metric: str, measures: Iterable[Measure]) -> Measure | None:
    """Return the run's figure of a metric, or the combined figure of its subjects; None if not measured.

    Subjects are combined by sum, maximum or minimum, as ``METRICS`` defines and objectives do.
    """
    run = [m for m in measures if m.metric == metric and m.window == "run" and (m.value is not None or m.censored)]
    whole = next((m for m in run if not m.subject), None)
    if whole is not None or not run:
        return whole
    values = [m.value or 0.0 for m in run]
    how = METRICS[metric].overall
    if how == "sum" and len(run) > 1:
        censored = any(m.censored for m in run)
        return run[0].model_copy(update={"subject": "", "value": sum(values), "censored": censored})
    return run[values.index(min(values) if how == "min" else max(values))]


def says(metric: str) -> str:
    """Return a metric's description; empty for a plugin's metric."""
    return METRICS[metric].says if metric in METRICS else ""


def windows(verdict: Verdict) -> tuple[str, ...]:
    """Return the measured windows: ``run``, ``baseline``, the faults in order of injection, ``after_heal``."""
    faults = [fault.name for fault in sorted(verdict.faults, key=lambda fault: fault.invoked)]
    known = ["run", "baseline", *faults]
    found = {measure.window for measure in verdict.measures}
    others = sorted(found - {*known, "after_heal"})
    return tuple(window for window in (*known, *others, "after_heal") if window in found)


def measure_rows(verdict: Verdict) -> tuple[MeasureRow, ...]:
    """Return every measure, in the order of ``METRICS``, then by subject."""
    measures, columns, order = verdict.measures, windows(verdict), list(METRICS)
    cells = {(m.metric, m.subject, m.window): figure(m.value, m.unit, censored=m.censored) for m in measures}
    names = dict.fromkeys((m.metric, m.subject) for m in measures)
    ranked = sorted(names, key=lambda n: (order.index(n[0]) if n[0] in order else len(order), n))
    return tuple(
        MeasureRow(
            metric_name(metric), subject, says(metric), tuple(cells.get((metric, subject, w), "") for w in columns)
        )
        for metric, subject in ranked
    )


def objective_rows(objectives: Iterable[Objective]) -> tuple[ObjectiveRow, ...]:
    """Return every objective, the missed ones first."""
    rows = [_objective_row(objective) for objective in objectives]
    return tuple(sorted(rows, key=lambda row: ("missed", "not measured", "met").index(row.state)))


def _objective_row(o: Objective) -> ObjectiveRow:
    share = o.measured / o.maximum if o.maximum and o.measured is not None else None
    return ObjectiveRow(
        name=metric_name(o.metric),
        subject=o.subject or "all",
        window=window_name(o.window),
        asked=bounds(o.minimum, o.maximum, o.unit),
        measured=figure(o.measured, o.unit),
        state={True: "met", False: "missed", None: "not measured"}[o.met],
        prediction=o.prediction,
        share=None if o.prediction else share,
    )


def window_name(window: str) -> str:
    """Describe a window in words."""
    named = {"run": "whole run", "baseline": "baseline", "after_heal": "after the last heal"}
    return named[window] if window in WINDOWS else f"during {window}"

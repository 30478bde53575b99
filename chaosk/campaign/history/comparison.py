"""Runs side by side: verdicts, differences between their plans, and every figure with a column a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import isfinite
from string import ascii_uppercase

from chaosk.campaign.history.differences import Difference, differences
from chaosk.campaign.history.history import Figure
from chaosk.campaign.history.series import Series
from chaosk.campaign.history.stored_run import Cluster, StoredRun
from chaosk.core.errors import UsageError
from chaosk.core.figures import counted
from chaosk.core.model import Model
from chaosk.core.printable import printable
from chaosk.report.headline import headline
from chaosk.rundir.verdict import Outcome
from chaosk.spec.metrics import METRICS, WINDOWS

MOST = len(ascii_uppercase)
"""Maximum number of runs side by side; each has a letter."""
MOST_FIGURES = 5000


class RunColumn(Model):
    """One run."""

    letter: str
    """Its letter in the comparison."""
    folder: str
    """The run directory, with escapes for unprintable characters."""
    scenario: str
    began: datetime
    """UTC."""
    cluster: Cluster
    verdict: Outcome
    """The final outcome."""
    expected: Outcome | None
    """The outcome that the scenario predicted; None if it predicted none."""
    healed: bool
    headline: str
    seconds: float
    """From the start of the timeline to the end of the audit."""


class FigureRow(Model):
    """One figure."""

    metric: str
    subject: str
    """The measured probe, topic or fault; empty for the whole run."""
    window: str
    """The period measured: ``run``, ``baseline``, ``after_heal``, or the name of a timeline entry."""
    values: tuple[Figure | None, ...]
    """One a run; None if it was not measured."""


class Line(Model):
    """One run over time: a number for each second of ``seconds``; None where there is no value."""

    acknowledged: tuple[float | None, ...]
    """Records a second, of all producers together."""
    latency_p99: tuple[float | None, ...]
    """Seconds from due to acknowledged, by when the record was due."""


class RunComparison(Model):
    """A comparison of runs side by side."""

    runs: tuple[RunColumn, ...]
    differences: tuple[Difference, ...]
    figures: tuple[FigureRow, ...]
    seconds: tuple[float, ...] = ()
    """Start of each bucket of the lines, in seconds after the start of each run's timeline."""
    lines: tuple[Line | None, ...] = ()
    """One a run; None if its events could not be read."""
    notes: tuple[str, ...] = ()
    """Messages about unreadable files."""


def compare(runs: Sequence[StoredRun]) -> RunComparison:
    """Compare runs, without the lines; raises UsageError for fewer than two runs, or more than there are letters."""
    if not 2 <= len(runs) <= MOST:
        raise UsageError(
            f"{counted(len(runs), 'judged run')}: two to {MOST} can stand side by side; name others, or "
            "see many over time with `chaosk history`"
        )
    return RunComparison(
        runs=tuple(_column(letter, one) for letter, one in zip(ascii_uppercase, runs, strict=False)),
        differences=differences(runs),
        figures=_figures(runs),
        notes=tuple(f"{one.run.root}: {note}" for one in runs for note in one.notes),
    )


def with_lines(told: RunComparison, lines: Sequence[Series | None], notes: Sequence[str]) -> RunComparison:
    """Add the runs' series to a comparison."""
    known = [each for each in lines if each is not None]
    return told.model_copy(
        update={
            "seconds": tuple(known[0].axis.edges[:-1].tolist()) if known else (),
            "lines": tuple(each and _line(each) for each in lines),
            "notes": (*told.notes, *notes),
        }
    )


def _line(one: Series) -> Line:
    def told(values: Sequence[float]) -> tuple[float | None, ...]:
        return tuple(round(value, 6) if isfinite(value) else None for value in values)

    return Line(acknowledged=told(one.acknowledged.tolist()), latency_p99=told(one.latency_p99.tolist()))


def _column(letter: str, one: StoredRun) -> RunColumn:
    verdict = one.verdict
    return RunColumn(
        letter=letter,
        folder=printable(str(one.run.root)),
        scenario=verdict.scenario,
        began=one.began,
        cluster=one.cluster,
        verdict=verdict.verdict,
        expected=verdict.expected,
        healed=verdict.healed,
        headline=headline(verdict),
        seconds=verdict.duration,
    )


def _figures(runs: Sequence[StoredRun]) -> tuple[FigureRow, ...]:
    """Return the figures that any run has: the whole run's first, then by the order of the metrics and by subject."""
    sides = [
        {
            (m.metric, m.subject, m.window): Figure(value=m.value, unit=m.unit, censored=m.censored)
            for m in one.verdict.measures
            if m.value is not None and isfinite(m.value)
        }
        for one in runs
    ]
    every = sorted(dict.fromkeys(key for side in sides for key in side), key=_rank)[:MOST_FIGURES]
    return tuple(
        FigureRow(metric=key[0], subject=key[1], window=key[2], values=tuple(side.get(key) for side in sides))
        for key in every
    )


def _rank(key: tuple[str, str, str]) -> tuple[int, str, int, str, str]:
    metric, subject, window = key
    windows, metrics = list(WINDOWS), list(METRICS)
    return (
        windows.index(window) if window in windows else len(windows),
        window,
        metrics.index(metric) if metric in metrics else len(metrics),
        metric,
        subject,
    )

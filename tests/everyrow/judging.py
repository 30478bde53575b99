"""Judging thousands of mutants: as every run is judged, but for what cannot change the verdict."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from everyrow.batch import ONCE, UNKNOWN, Batch, elsewhere
from everyrow.mutants import DAMAGED, Flawless, Mutant
from pyspark.sql import SparkSession

from chaosk.analysis import analyze as analysis
from chaosk.analysis.activity import activity
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import checks
from chaosk.analysis.checks._contract import Check
from chaosk.analysis.events import Events
from chaosk.analysis.guards import guards, streams
from chaosk.analysis.held_back import held_back
from chaosk.analysis.histograms import Histograms
from chaosk.analysis.self_check import recounted, tallied
from chaosk.analysis.spark import tune
from chaosk.core.errors import ChaoskError
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Severity, Verdict

MEASURING = frozenset({
    "availability", "calls", "connections", "consume_unavailability", "election", "end_to_end", "generations",
    "health_checks", "joins", "latency", "leadership", "lifecycle", "outcomes", "produce_unavailability",
    "realtime_lag", "rebalances", "recovery", "replica_difference", "replication", "throughput", "uncommitted",
})  # fmt: skip
"""Checks that find nothing wrong, and guard nothing: no scenario here has an objective that asks for their figures."""
NOTICED = "noticed"
"""What is said of one that does not pass, and was judged beside others."""
TOLD = ("sends", "reads", "polls", "tallies")
"""Tables of which numpy says whether they are what the probes counted."""
FIGURES = (
    *TOLD,
    "commits",
    "fetched",
    "health_checks",
    "calls",
    "incarnations",
    "ends",
    "phases",
    "faults",
    "outputs",
    "failures",
)
"""Tables that the probes' figures come from, or the windows that these are of."""
ALONE = (*ONCE, "ends", "incarnations", "tallies", "stream_ends", "heartbeats")
"""Tables whose mutants are not judged side by side with others: what is changed there concerns all."""
WINDOWS = ("phases", "faults")
"""Tables that the windows of the probes' figures come from: where they differ the figures are asked for anew."""
AT_ONCE = 250
"""Mutants that are judged side by side."""
REFUSED = "refused"
"""A verdict that there is none: the analysis says that the run cannot be judged."""


@dataclass(frozen=True)
class Judged:
    """What is said of a run."""

    verdict: str
    why: str
    """The first violation, or the first guard; empty of one that passes."""


def ruling() -> dict[str, type[Check]]:
    """The checks that may say that something is wrong, without their figures."""
    return {
        name: type(kind.__name__, (kind,), {"measures": _none, "__doc__": kind.__doc__})
        for name, kind in checks().items()
        if name not in MEASURING
    }


def _none(*_: Any) -> tuple[()]:
    return ()


@dataclass
class Judge:
    """Judges mutants of one flawless run, which passes."""

    spark: SparkSession
    flawless: Flawless
    folder: Path

    def __post_init__(self) -> None:
        self.kinds = ruling()
        self.partitions = self.flawless.world.partitions
        self.whole = self.judged(self.flawless.rundir, self.kinds)
        case = read_case(self.flawless.rundir)
        events = Events(self.spark, case)
        tune(self.spark, small=True)
        self.progress: Histograms = events.once(activity)
        events.release()

    @contextmanager
    def known_figures(self, mutant: Mutant) -> Iterator[None]:
        """Spare Spark the figures of the probes' work where nothing is changed that they come from."""
        if mutant.table in FIGURES:
            yield
        else:
            with patch.object(analysis, "histograms", lambda _: self.progress):
                yield

    def judged(self, rundir: RunDir, kinds: dict[str, type[Check]]) -> Judged:
        """What the analysis says of a run."""
        try:
            return told(analysis.analyze(self.spark, rundir, kinds))
        except ChaoskError as error:
            return Judged(REFUSED, str(error)[:120])

    def __call__(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Judged]]:
        """Judge many: by guards that need no Spark, then side by side; alone what touches what a run has once."""
        together = []
        for mutant in mutants:
            rundir = self.flawless.written(mutant, self.folder / "mutant")
            try:
                found = self._guarded(rundir, mutant)
                if found is not None or self._by_itself(mutant):
                    yield mutant, found or self._alone(rundir, mutant)
                else:
                    together.append(mutant)
            finally:
                shutil.rmtree(rundir.root)
        for first in range(0, len(together), AT_ONCE):
            yield from self._together(together[first : first + AT_ONCE])

    def _by_itself(self, mutant: Mutant) -> bool:
        recounts = len(mutant.rows[mutant.table]) == len(self.flawless.rows[mutant.table]) or mutant.way != DAMAGED
        return mutant.table in ALONE or not recounts or elsewhere(mutant, self.partitions)

    def alone(self, mutant: Mutant) -> Judged:
        """Judge one by itself, by everything."""
        rundir = self.flawless.written(mutant, self.folder / "mutant")
        try:
            return self.judged(rundir, self.kinds)
        finally:
            shutil.rmtree(rundir.root)

    def _alone(self, rundir: RunDir, mutant: Mutant) -> Judged:
        with self.known_figures(mutant):
            return self.judged(rundir, self.kinds)

    def _together(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Judged]]:
        """Judge them in one run; once more, in two, where nobody knows of which of them something is said."""
        batch = Batch(self.flawless, mutants)
        rundir = batch.write(RunDir(self.folder / "batch"))
        try:
            verdict = analysis.analyze(self.spark, rundir, self.kinds)
            found = batch.taken_apart(rundir, verdict)
            told_of = any(account.not_judged or account.violation for account in verdict.ledger)
            open_ = found.pop(UNKNOWN, None) is not None or told_of
        except ChaoskError:
            found, open_ = {}, True
        finally:
            shutil.rmtree(rundir.root)
        left = [mutant for number, mutant in enumerate(mutants) if number not in found]
        for number, why in found.items():
            yield mutants[number], Judged(NOTICED, why)
        if not open_:
            yield from ((mutant, Judged(str(Outcome.PASS), "")) for mutant in left)
        elif len(mutants) == 1:
            yield from ((mutant, self.alone(mutant)) for mutant in left)
        elif found:
            yield from self._together(left) if left else ()
        else:
            half = len(left) // 2
            yield from self._together(left[:half])
            yield from self._together(left[half:])

    def _guarded(self, rundir: RunDir, mutant: Mutant) -> Judged | None:
        """What guards say that need no Spark; None if none does, or if they cannot be asked alone."""
        try:
            case = read_case(rundir)
            met = [*(streams(case) if mutant.table in WINDOWS else guards(case, self.progress)), *held_back(case, ())]
            if mutant.way == DAMAGED and mutant.table in TOLD:
                met += tallied(case, recounted(Events(self.spark, case)), self.progress)
        except Exception:  # noqa: BLE001 - then the analysis says it
            return None
        return next((Judged(str(Outcome.INCONCLUSIVE), guard.guard) for guard in met), None)


def told(verdict: Verdict) -> Judged:
    """The verdict, and the first of what makes it one."""
    wrong = [found.check for found in verdict.findings if found.severity is Severity.VIOLATION]
    guarded = [guard.guard for guard in verdict.guards]
    missed = [objective.metric for objective in verdict.objectives if objective.met is False]
    return Judged(str(verdict.verdict), next(iter([*wrong, *guarded, *missed]), ""))

"""``gate.json``: the runs of a gate and their results, with all that a later gate needs to use it as a baseline.

It is rewritten as a whole after every run: a gate that dies can be continued, and no finished run is lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from chaosk.campaign.gate.store import Store
from chaosk.core.model import Model
from chaosk.rundir.verdict import Measure, Outcome
from chaosk.spec.scenario import Scalar

NAME = "gate.json"
VERSION = 1
"""Version of the format; it changes when a field changes its meaning or is removed."""


class Attempt(Model):
    """One run of one scenario."""

    file: str
    """The scenario's file, as given."""
    scenario: str
    """The scenario's name."""
    digest: str
    """Digest of the scenario."""
    repeat: int
    """The first run of a scenario is 1."""
    sets: dict[str, str] = Field(default_factory=dict)
    """Values given with ``--set``."""
    variant: str = ""
    """Its variant's name; empty if the file has no variants."""
    differs: dict[str, Scalar] = Field(default_factory=dict)
    """The values of the variables in which the file's variants differ."""
    lab: str | None = None
    """Name of its lab in the first lane; None on a cluster of an inventory."""
    alone: bool = False
    """True if nothing may run beside it, since its lab needs the whole machine."""
    lane: int | None = None
    """Number of the lane that ran it, from 1; None if there is one lane."""
    state: Literal["not run", "broken off", "done"] = "not run"
    """``broken off``: interrupted, to be run again."""
    exit_code: int | None = None
    verdict: Outcome | None = None
    """None if there is none: preflight refused it, or it ended otherwise."""
    stood_still: bool = False
    """True if a stall of chaosk's own machine is the only reason for being inconclusive."""
    again_after: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Run directories of earlier runs of it that such a stall made inconclusive, relative to the gate's folder."""
    said: str = ""
    """Its headline, or its last line on stderr."""
    seconds: float | None = None
    """Total duration."""
    folder: str | None = None
    """Its run directory, relative to the gate's folder."""
    cluster: str = ""
    """The shape of its cluster, like ``3 brokers, 3 ZooKeeper nodes``."""
    kafka: str | None = None
    """The brokers' version."""
    figures: Annotated[tuple[Measure, ...], Field(strict=False)] = ()
    """Figures of the whole run, if its verdict lets them count."""
    measures: Annotated[tuple[Measure, ...], Field(strict=False)] = ()
    """Of a variant, all figures of the whole run, by subject, for every verdict."""

    @property
    def key(self) -> str:
        """Name of its folder: unique for files of one name, and for the variants of a file."""
        return f"{Path(self.file).stem}-{self.digest[:8]}-{self.repeat}"


class FigureComparison(Model):
    """One figure compared with the baseline's."""

    scenario: str
    metric: str
    unit: str
    before: Annotated[tuple[float, ...], Field(strict=False)] = ()
    """The baseline's figures, one a run, ascending."""
    now: Annotated[tuple[float, ...], Field(strict=False)] = ()
    """These runs' figures, ascending."""
    p: float | None = None
    """Probability of such a difference by chance, if the true one is within the tolerance; None: not compared."""
    worse: bool = False
    """True if it is a regression."""
    missed: float | None = None
    """Probability that a figure twice as bad as the baseline's is not found to be worse."""
    why_not: str = ""
    """Reason why it was not compared."""


class Gate(Model):
    """The record of one gate."""

    version: int = VERSION
    began: str
    """UTC, like ``2026-11-24T01:02:03Z``."""
    inventory: str | None = None
    """The inventory's file, or the first of several; None for labs on this machine."""
    beside: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The further inventories' files."""
    side_by_side: int = Field(default=1, ge=1)
    """Number of runs at a time, each on a cluster of its own."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Versions of chaosk and of the libraries that it uses."""
    attempts: Annotated[tuple[Attempt, ...], Field(strict=False)]
    seed: int | None = None
    """Seed of the random choices of every run; None: each run has a seed of its own."""
    keep_going: bool = False
    again: int = Field(default=0, ge=0)
    """Retries of a run that was inconclusive because chaosk's machine stalled."""
    baseline: str | None = None
    """Name of the baseline."""
    metrics: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The metrics to compare."""
    tolerance: float = 0.0
    """Regressions up to this size (0.2: 20 %) are ignored."""
    error_rate: float = 0.05
    """Family-wise false-alarm rate of the comparison."""
    comparisons: Annotated[tuple[FigureComparison, ...], Field(strict=False)] = ()
    why_ended: str | None = None
    """Reason why some attempts were not run; None if all were."""
    seconds: float | None = None
    """Wall-clock duration; without the pauses of a gate that was continued."""

    @property
    def clusters(self) -> tuple[str, ...]:
        """The files of all inventories; empty for labs on this machine."""
        return () if self.inventory is None else (self.inventory, *self.beside)


STORE = Store(NAME, Gate, VERSION, "chaosk gate")


def save(folder: Path, gate: Gate) -> None:
    """Write ``gate.json``; raises UsageError if it cannot be written."""
    STORE.save(folder, gate)


def load(path: Path) -> Gate:
    """Load the gate in a file or a gate's folder; raises UsageError if there is none in this version's format."""
    return STORE.load(path)

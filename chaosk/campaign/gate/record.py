"""``gate.json``: what a gate was to run and what became of it. A baseline is such a file, so it holds all it takes.

It is written anew after every run, as a whole: a gate that dies can be continued, and nothing that was run is lost.
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
"""Version of the format; it changes when a field changes its meaning or goes away."""


class Attempt(Model):
    """One run of one scenario."""

    file: str
    """The scenario's file, as it was named."""
    scenario: str
    """Its name."""
    digest: str
    """What tells it from another text."""
    repeat: int
    """The first run of a scenario is 1."""
    sets: dict[str, str] = Field(default_factory=dict)
    """What ``--set`` gave it."""
    variant: str = ""
    """Which variant of the file; empty if that has none."""
    differs: dict[str, Scalar] = Field(default_factory=dict)
    """The values of the variables in which the file's variants differ."""
    lab: str | None = None
    """The lab that it is run on, as the first lane calls it; None on a cluster that an inventory names."""
    alone: bool = False
    """Whether nothing may be run beside it: its lab takes all that this machine has."""
    lane: int | None = None
    """Which of the clusters side by side it was run on, counted from 1; None where there is one."""
    state: Literal["not run", "broken off", "done"] = "not run"
    """``broken off``: interrupted, and so to be run again."""
    exit_code: int | None = None
    verdict: Outcome | None = None
    """None if there is none: preflight refused it, or it ended otherwise."""
    stood_still: bool = False
    """Whether the only reason for its being inconclusive is that chaosk's own machine stood still."""
    again_after: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The run directories, seen from the gate's folder, of former runs of it in which that was so."""
    said: str = ""
    """Its headline, or the last that it said."""
    seconds: float | None = None
    """How long it took, all in all."""
    folder: str | None = None
    """Its run directory, seen from the gate's folder."""
    cluster: str = ""
    """The shape of its cluster, like ``3 brokers, 3 ZooKeeper nodes``."""
    kafka: str | None = None
    """The brokers' version."""
    figures: Annotated[tuple[Measure, ...], Field(strict=False)] = ()
    """What was measured over the whole run, where the verdict lets it count."""
    measures: Annotated[tuple[Measure, ...], Field(strict=False)] = ()
    """Of a variant, all that was measured over the whole run, by subject, whatever the verdict."""

    @property
    def key(self) -> str:
        """What its folder is called: of files of one name, and of the variants of a file, each has its own."""
        return f"{Path(self.file).stem}-{self.digest[:8]}-{self.repeat}"


class Comparison(Model):
    """One figure against the baseline's."""

    scenario: str
    metric: str
    unit: str
    before: Annotated[tuple[float, ...], Field(strict=False)] = ()
    """The baseline's figures, one a run, ascending."""
    now: Annotated[tuple[float, ...], Field(strict=False)] = ()
    """These runs' figures, ascending."""
    p: float | None = None
    """How likely so great a difference is by chance, if nothing is worse than is tolerated; None: not compared."""
    worse: bool = False
    """Whether it is accused."""
    missed: float | None = None
    """How likely a figure twice as bad as the baseline's is not accused."""
    why_not: str = ""
    """Why it was not compared."""


class Gate(Model):
    """All of one gate."""

    version: int = VERSION
    began: str
    """UTC, like ``2026-11-24T01:02:03Z``."""
    inventory: str | None = None
    """The inventory's file, of several the first one's; None for labs on this machine."""
    beside: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The further inventories' files."""
    side_by_side: int = Field(default=1, ge=1)
    """How many runs there are at a time, each on a cluster of its own."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Of chaosk and the libraries that act or judge."""
    attempts: Annotated[tuple[Attempt, ...], Field(strict=False)]
    seed: int | None = None
    """What decides the random choices of every run; None: each run has a seed of its own."""
    keep_going: bool = False
    again: int = Field(default=0, ge=0)
    """How often at most one is run again in which chaosk's machine stood still."""
    baseline: str | None = None
    """What the figures are compared with."""
    metrics: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Which ones."""
    tolerance: float = 0.0
    """What is not worse: a figure up to so much (0.2: a fifth) beyond the baseline's."""
    error_rate: float = 0.05
    """How likely, at most, any figure is accused if none is worse."""
    comparisons: Annotated[tuple[Comparison, ...], Field(strict=False)] = ()
    why_ended: str | None = None
    """Why some were not run; None if all were."""
    seconds: float | None = None
    """How long it took, by the clock on the wall; of one that was continued, without the time in between."""

    @property
    def clusters(self) -> tuple[str, ...]:
        """The files of all inventories; none for labs on this machine."""
        return () if self.inventory is None else (self.inventory, *self.beside)


STORE = Store(NAME, Gate, VERSION, "chaosk gate")


def save(folder: Path, gate: Gate) -> None:
    """Write ``gate.json``; raises UsageError if it cannot be written."""
    STORE.save(folder, gate)


def load(path: Path) -> Gate:
    """The gate in a file, or in a gate's folder; raises UsageError if there is none that this chaosk reads."""
    return STORE.load(path)

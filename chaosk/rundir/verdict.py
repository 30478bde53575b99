"""The verdict: what a run proved, as the typed value behind ``verdict.json``.

Order of outcomes: violation > inconclusive > degraded > pass; the worst one stands, nothing is averaged. A violation
that is proven stands even in a run that failed otherwise. A scenario may predict an outcome (``expect.verdict``, a
count of lost records): it passes only if what it predicts is what was found.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from chaosk.core.errors import ExitCode
from chaosk.core.model import Model
from chaosk.rundir.decision import Decision

VERSION = 1
"""Version of the verdict's schema; it changes when a field changes its meaning or goes away."""

Cell = str | int | float | bool | None | Annotated[tuple[int, ...], Field(strict=False)]
Row = dict[str, Cell]
"""One evidence row: column to value. Times are nanoseconds of the run's monotonic clock."""


class Outcome(StrEnum):
    """What was found, worst first."""

    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"
    DEGRADED = "degraded"
    PASS = "pass"  # noqa: S105 - a verdict, no password


class Severity(StrEnum):
    """What a finding means for the verdict."""

    VIOLATION = "violation"
    """An invariant is broken, and no setting of the scenario allows it."""
    ALLOWED = "allowed"
    """It happened, and a setting allows it (``acks=1`` may lose): counted, not held against the cluster."""
    INFORMATION = "information"
    """Worth knowing; never wrong by itself."""


class Finding(Model):
    """What one check found."""

    check: str
    """File name of the check."""
    rule: str
    """The rule's id, like ``A4``."""
    title: str
    """One line for a person, with the count."""
    severity: Severity
    reason: str | None = None
    """Why it is allowed."""
    count: int
    """How many rows there are in all."""
    evidence: Annotated[tuple[Row, ...], Field(strict=False)]
    """The first rows, ordered; all of them are in ``evidence/<check>.jsonl``."""
    faults: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Names of the timeline entries whose windows the evidence overlaps, earliest first."""
    suspects: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Known defects of the client that look the same."""
    predicted: bool | None = None
    """Whether the scenario predicts it, rule or figure, subject and window; None where nobody asked."""


class Guard(Model):
    """A reason why the evidence does not carry."""

    guard: str
    """Name of the guard, like ``fault_not_verified``."""
    what: str
    """What was missing, where, and what to do."""


class Measure(Model):
    """One measured figure."""

    metric: str
    """What was measured, like ``unavailability``."""
    subject: str
    """Of whom: a probe, a topic, a fault; empty for the whole run."""
    window: str = "run"
    """Over what: ``run``, ``baseline``, the name of a timeline entry, or ``after_heal``."""
    value: float | None
    """The figure; None if there was nothing to measure."""
    unit: str
    """``s``, ``records``, ``records/s``, ``ratio``, ``count``."""
    censored: bool = False
    """Whether the truth is at least this much: it had not ended when the run did."""


class Account(Model):
    """One account of the ledger: what became of the acknowledged records of a topic, for the log or for one reader.

    ``owed`` is the sum of all the others: each record has exactly one answer.
    """

    topic: str
    reader: str
    """The consumer group, or the probe that reads without one; empty for the log itself."""
    owed: int
    """How many records of the topic were acknowledged, in the partitions that the reader is to read."""
    delivered: int
    """How many of them the reader was given, or the tail audit found in the log at both isolation levels."""
    violation: int = 0
    """How many of them break a rule."""
    excused: dict[str, int] = Field(default_factory=dict)
    """By what this run shows to excuse it, how many are rightly not there."""
    not_judged: dict[str, int] = Field(default_factory=dict)
    """By what the evidence lacks, how many nobody can judge."""
    uncommitted: int | None = None
    """Of those delivered, how many the group had not committed in the end; None for who commits nothing."""

    @property
    def answered(self) -> int:
        """How many records have an answer."""
        return self.delivered + self.violation + sum(self.excused.values()) + sum(self.not_judged.values())

    @property
    def balanced(self) -> bool:
        """Whether the answers add up to what is owed."""
        return self.owed == self.answered


class Objective(Model):
    """A bound that the scenario set, and what was measured."""

    metric: str
    subject: str
    window: str
    minimum: float | None
    maximum: float | None
    measured: float | None
    unit: str
    met: bool | None
    """None if it could not be measured."""
    prediction: bool = False
    """Whether it predicts a known outcome (lost records): then a miss makes the run inconclusive."""
    void: bool = False
    """Whether the scenario says that without it the run shows nothing: then a miss makes it inconclusive, too."""


QUIET = frozenset({"wait", "observe"})
"""Steps that do nothing to anybody: entries with them are no faults."""


class Fault(Model):
    """One timeline entry as it went. Times are nanoseconds of the run's monotonic clock."""

    name: str
    step: str
    targets: str
    invoked: int
    applied: int | None
    heal_invoked: int | None
    healed: int | None
    took: bool
    undone: bool
    why: str | None = None


class Verdict(Model):
    """``verdict.json``: the contract with everything that reads a run's result."""

    version: int = VERSION
    scenario: str
    """Name of the scenario."""
    hypothesis: str
    covers: Annotated[tuple[str, ...], Field(strict=False)] = ()
    found: Outcome
    """What was found, by the rules alone."""
    expected: Outcome | None = None
    """What the scenario says will be found, where it says so."""
    verdict: Outcome
    """What stands: ``found``, or pass where ``found`` is what was expected and every prediction held."""
    summary: str
    """One sentence for a person."""
    began: int
    """Start of the timeline, monotonic nanoseconds: the zero of every plot."""
    wall: int
    """The wall clock at ``began``, nanoseconds since 1970."""
    duration: float
    """Seconds from ``began`` to the end of the audit."""
    ledger: Annotated[tuple[Account, ...], Field(strict=False)] = ()
    """What became of every acknowledged record, by topic: first the log's account, then each reader's, by name."""
    guards: Annotated[tuple[Guard, ...], Field(strict=False)] = ()
    findings: Annotated[tuple[Finding, ...], Field(strict=False)] = ()
    objectives: Annotated[tuple[Objective, ...], Field(strict=False)] = ()
    measures: Annotated[tuple[Measure, ...], Field(strict=False)] = ()
    faults: Annotated[tuple[Fault, ...], Field(strict=False)] = ()
    decisions: Annotated[tuple[Decision, ...], Field(strict=False)] = ()
    """What an operator decided or noted meanwhile, by time."""
    checks: dict[str, str] = Field(default_factory=dict)
    """By check what became of it: ``clean``, ``found``, ``not judged: <why>``."""
    healed: bool
    """Whether everything that was injected was verified to be undone."""
    allowed: dict[str, str] = Field(default_factory=dict)
    """By limit of harm that the scenario lifts, the reason it gives."""

    @property
    def exit_code(self) -> ExitCode:
        """The documented exit code; a fault that could not be healed outranks everything."""
        if not self.healed:
            return ExitCode.NOT_HEALED
        codes = {Outcome.PASS: ExitCode.PASS, Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE}
        return codes.get(self.verdict, ExitCode.FAIL)

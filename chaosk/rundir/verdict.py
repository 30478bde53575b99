"""The verdict: the result of a run, as the typed value behind ``verdict.json``.

Order of outcomes: violation > inconclusive > degraded > pass. The worst one counts, nothing is averaged. A proven
violation counts even in a run that failed otherwise. A scenario may predict an outcome (``expect.verdict``, a count of
lost records): it passes only if exactly its predictions came true.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from chaosk.core.errors import ExitCode
from chaosk.core.model import Model
from chaosk.rundir.decision import Decision

VERSION = 1
"""Version of the verdict's schema; it changes when a field changes its meaning or is removed."""

Cell = str | int | float | bool | None | Annotated[tuple[int, ...], Field(strict=False)]
Row = dict[str, Cell]
"""One evidence row: column to value. Times are nanoseconds of the run's monotonic clock."""


class Outcome(StrEnum):
    """The outcomes of a run, worst first."""

    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"
    DEGRADED = "degraded"
    PASS = "pass"  # noqa: S105 - a verdict, no password


class Severity(StrEnum):
    """The effect of a finding on the verdict."""

    VIOLATION = "violation"
    """A broken rule that no setting of the scenario allows."""
    ALLOWED = "allowed"
    """An effect that a setting allows (``acks=1`` may lose): counted, without effect on the verdict."""
    INFORMATION = "information"
    """Worth knowing; never a violation."""


class Finding(Model):
    """The result of one check."""

    check: str
    """File name of the check."""
    rule: str
    """The rule's id, like ``A4``."""
    title: str
    """One line for people, with the count."""
    severity: Severity
    reason: str | None = None
    """The setting that allows it; of a violation what is known of its cause."""
    count: int
    """Total number of rows."""
    evidence: Annotated[tuple[Row, ...], Field(strict=False)]
    """The first rows, ordered; all of them are in ``evidence/<check>.jsonl``."""
    faults: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Names of the timeline entries whose windows the evidence overlaps, earliest first."""
    suspects: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Known defects of the client with the same symptoms."""
    predicted: bool | None = None
    """True if the scenario predicts its rule or figure, subject and window; None if this was not evaluated."""


class Guard(Model):
    """A reason why the evidence does not suffice."""

    guard: str
    """Name of the guard, like ``fault_not_verified``."""
    what: str
    """What was missing, where, and what to do."""


class Measure(Model):
    """One measured figure."""

    metric: str
    """Name of the metric, like ``unavailability``."""
    subject: str
    """The measured probe, topic or fault; empty for the whole run."""
    window: str = "run"
    """The period measured: ``run``, ``baseline``, the name of a timeline entry, or ``after_heal``."""
    value: float | None
    """The figure; None if there was nothing to measure."""
    unit: str
    """``s``, ``records``, ``records/s``, ``ratio``, ``count``."""
    censored: bool = False
    """True if the value is a lower bound: the measured period had not ended when the run did."""


class Account(Model):
    """One account of the ledger: the acknowledged records of a topic by answer, for the log or for one reader.

    ``owed`` is the sum of all the others: each record has exactly one answer.
    """

    topic: str
    reader: str
    """The consumer group, or the probe that reads without one; empty for the log itself."""
    owed: int
    """Number of acknowledged records in the partitions that the reader is to read."""
    delivered: int
    """Number of them delivered to the reader, or found in the log by the tail audit at both isolation levels."""
    violation: int = 0
    """Number of them that break a rule."""
    excused: dict[str, int] = Field(default_factory=dict)
    """Number of missing records with an excuse, by the excuse that this run shows."""
    not_judged: dict[str, int] = Field(default_factory=dict)
    """Number of records that cannot be judged, by the missing evidence."""
    uncommitted: int | None = None
    """Number of delivered records that the group had not committed at the end; None for a reader without commits."""

    @property
    def answered(self) -> int:
        """Number of records with an answer."""
        return self.delivered + self.violation + sum(self.excused.values()) + sum(self.not_judged.values())

    @property
    def balanced(self) -> bool:
        """True if the answers add up to ``owed``."""
        return self.owed == self.answered


class Objective(Model):
    """A bound that the scenario set, and the measured value."""

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
    """True if it predicts a known outcome (lost records): a miss then makes the run inconclusive."""
    void: bool = False
    """True for ``or: inconclusive``: a miss then makes the run inconclusive, too."""


QUIET = frozenset({"wait", "observe"})
"""Steps without any effect: entries with them are no faults."""


class Fault(Model):
    """One timeline entry as it was executed. Times are nanoseconds of the run's monotonic clock."""

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
    """The outcome by the rules alone."""
    expected: Outcome | None = None
    """The outcome that the scenario predicts; None if it predicts none."""
    verdict: Outcome
    """The final outcome: ``found``, or pass if ``found`` is the expected one and every prediction held."""
    summary: str
    """One sentence for people."""
    began: int
    """Start of the timeline, monotonic nanoseconds: the zero of every plot."""
    wall: int
    """The wall clock at ``began``, nanoseconds since 1970."""
    duration: float
    """Seconds from ``began`` to the end of the audit."""
    ledger: Annotated[tuple[Account, ...], Field(strict=False)] = ()
    """The result of every acknowledged record, by topic: first the log's account, then each reader's, by name."""
    guards: Annotated[tuple[Guard, ...], Field(strict=False)] = ()
    findings: Annotated[tuple[Finding, ...], Field(strict=False)] = ()
    objectives: Annotated[tuple[Objective, ...], Field(strict=False)] = ()
    measures: Annotated[tuple[Measure, ...], Field(strict=False)] = ()
    faults: Annotated[tuple[Fault, ...], Field(strict=False)] = ()
    decisions: Annotated[tuple[Decision, ...], Field(strict=False)] = ()
    """Decisions and notes of an operator during the run, by time."""
    checks: dict[str, str] = Field(default_factory=dict)
    """Result of each check: ``clean``, ``found``, ``not judged: <why>``."""
    healed: bool
    """True if the undo of everything injected was verified."""
    allowed: dict[str, str] = Field(default_factory=dict)
    """The reasons given for each limit of harm that the scenario lifts."""

    @property
    def exit_code(self) -> ExitCode:
        """The documented exit code; a fault that could not be healed outranks everything."""
        if not self.healed:
            return ExitCode.NOT_HEALED
        codes = {Outcome.PASS: ExitCode.PASS, Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE}
        return codes.get(self.verdict, ExitCode.FAIL)

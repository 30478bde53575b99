"""The content of a report, computed once for all its formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chaosk.report import (
    clocks,
    evidence,
    figure,
    grouped,
    headline,
    ledger,
    measures,
    ranges,
    settings,
    states,
    timeline,
    why,
)
from chaosk.report.axis import Axis
from chaosk.report.explain import Explanation
from chaosk.report.marks import KINDS
from chaosk.report.source import Source, read
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import QUIET, Fault, Finding, Verdict


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence of one finding: ranges, if its rows are records or offsets, and its first rows."""

    finding: Finding
    ranges: tuple[str, ...]
    more: int
    """Number of ranges left out."""
    table: evidence.EvidenceTable


@dataclass(frozen=True, slots=True)
class Shown:
    """Findings with a common cause, reported together."""

    group: grouped.Group
    rules: str
    proofs: tuple[Proof, ...]
    predicted: bool
    faults: tuple[str, ...]
    """Names of the timeline entries that overlap any of the findings."""

    @property
    def finding(self) -> Finding:
        """The finding that states the consequence."""
        return self.group[0]


MOST_RANGES = 10
"""Ranges listed for a finding."""


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The content of a report, in its order."""

    verdict: Verdict
    tone: str
    """Colour of the headline: the outcome, or ``loss``."""
    sign: str
    headline: str
    why: tuple[str, ...]
    """Causes that the events show."""
    gist: str
    """The part of the analysis' summary that the headline does not contain."""
    ledger: tuple[ledger.LedgerRow, ...]
    tiles: tuple[measures.Tile, ...]
    identity: settings.Pairs
    not_healed: tuple[str, ...]
    interrupted: bool
    broken_off: str
    objectives: tuple[measures.ObjectiveRow, ...]
    findings: tuple[Shown, ...]
    faults: tuple[Fault, ...]
    waits: tuple[Fault, ...]
    """Entries of the timeline without an effect: waits and looks."""
    checks: tuple[tuple[str, str, str], ...]
    """Each check, with ``clean``, ``not judged`` or its worst severity, and a remark."""
    clocks: tuple[str, ...]
    """Jumps of the hosts' wall clocks."""
    axis: Axis
    svg: str
    wrong: Mapping[str, str]
    """Labels of the marks drawn for records with a violation, by kind."""
    explanations: tuple[Explanation, ...]
    windows: tuple[str, ...]
    measures: tuple[measures.MeasureRow, ...]
    states: states.States
    groups: tuple[settings.SettingsGroup, ...]
    again: tuple[str, ...]
    notes: tuple[str, ...]


def content(run: RunDir) -> ReportContent:
    """Read a run directory into the content of its report; raises UsageError if it has no verdict."""
    source = read(run)
    verdict, seen = source.verdict, timeline.see(source)
    return ReportContent(
        verdict=verdict,
        tone=headline.tone(verdict),
        sign=headline.sign(verdict),
        headline=headline.headline(verdict),
        why=why.why(source, seen.around, seen.explanations),
        ledger=ledger.ledger_rows(verdict.ledger),
        gist=headline.gist(verdict),
        tiles=measures.tiles(verdict),
        identity=settings.identity(source),
        not_healed=tuple(str(why) for why in source.record.get("not_healed") or ()),
        interrupted=bool(source.record.get("interrupted")),
        broken_off=str(source.record.get("error") or ""),
        objectives=measures.objective_rows(verdict.objectives),
        findings=_findings(source, seen),
        faults=tuple(fault for fault in verdict.faults if fault.step not in QUIET),
        waits=tuple(fault for fault in verdict.faults if fault.step in QUIET),
        checks=_checks(verdict),
        clocks=clocks.told(source, seen.timeline.axis),
        axis=seen.timeline.axis,
        svg=figure.draw(seen.timeline),
        wrong={kind: word for kind, word in KINDS.items() if any(kind in by for by in seen.timeline.wrong.values())},
        explanations=seen.explanations,
        windows=measures.windows(verdict),
        measures=measures.measure_rows(verdict),
        states=states.state_table(source.states),
        groups=settings.groups(source),
        again=settings.again(source),
        notes=tuple(source.notes),
    )


def _checks(verdict: Verdict) -> tuple[tuple[str, str, str], ...]:
    """Return each check with ``clean``, ``not judged`` or its worst severity, and a remark."""
    found: dict[str, list[Finding]] = {}
    for finding in sorted(verdict.findings, key=_rank):
        found.setdefault(finding.check, []).append(finding)
    return tuple(_check(check, state, found.get(check, [])) for check, state in sorted(verdict.checks.items()))


def _check(check: str, state: str, found: list[Finding]) -> tuple[str, str, str]:
    word, _, why = state.partition(": ")
    if found and word != "not judged":
        return check, str(found[0].severity), "; ".join(finding.title for finding in found)
    return check, word, why


def _rank(finding: Finding) -> int:
    """Sort key: violations first."""
    return ("violation", "allowed", "information").index(finding.severity)


def _findings(source: Source, seen: timeline.EventSummary) -> tuple[Shown, ...]:
    verdict = source.verdict
    groups = grouped.grouped(sorted(verdict.findings, key=_rank))
    return tuple(_shown(group, verdict, seen) for group in groups)


def _shown(group: grouped.Group, verdict: Verdict, seen: timeline.EventSummary) -> Shown:
    overlapped = {name for finding in group for name in finding.faults}
    return Shown(
        group=group,
        rules=grouped.rules(group),
        proofs=tuple(_proof(finding, verdict, seen) for finding in group),
        predicted=any(headline.is_predicted(finding, verdict) for finding in group),
        faults=tuple(fault.name for fault in verdict.faults if fault.name in overlapped),
    )


def _proof(finding: Finding, verdict: Verdict, seen: timeline.EventSummary) -> Proof:
    known = seen.proofs.ranges.get((finding.check, str(finding.severity)))
    found = known.all() if known is not None else ()
    told = tuple(ranges.told(one, finding.check, seen.timeline.axis) for one in found)
    table = evidence.evidence_table(finding.evidence, verdict.began)
    return Proof(finding, told[:MOST_RANGES], max(0, len(told) - MOST_RANGES), table)

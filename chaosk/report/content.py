"""Everything a report shows, computed once and said alike by every form of it."""

from __future__ import annotations

from dataclasses import dataclass

from chaosk.report import clocks, evidence, figure, headline, measures, settings, states, timeline
from chaosk.report.axis import Axis
from chaosk.report.explain import Explanation
from chaosk.report.source import Source, read
from chaosk.rundir import RunDir
from chaosk.verdict import Finding, Verdict

Shown = tuple[Finding, evidence.Table, bool]
"""A finding, its evidence, and whether the scenario predicted it."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is told of a run, in the order in which it is told."""

    verdict: Verdict
    sign: str
    headline: str
    gist: str
    """What the headline leaves out of the analysis' own sentence."""
    tiles: tuple[measures.Tile, ...]
    identity: settings.Pairs
    not_healed: tuple[str, ...]
    interrupted: bool
    broken_off: str
    objectives: tuple[measures.ObjectiveRow, ...]
    findings: tuple[Shown, ...]
    checks: tuple[tuple[str, str, str], ...]
    """Each check, ``clean``, ``not judged`` or the worst severity that it found, and what there is to say of it."""
    clocks: tuple[str, ...]
    """Jumps of the wall clocks of hosts."""
    axis: Axis
    svg: str
    explanations: tuple[Explanation, ...]
    windows: tuple[str, ...]
    measures: tuple[measures.MeasureRow, ...]
    states: states.States
    groups: tuple[settings.Group, ...]
    again: tuple[str, ...]
    notes: tuple[str, ...]


def content(run: RunDir) -> Content:
    """Read a run directory and say all there is to say; raises UsageError where it has no verdict."""
    source = read(run)
    verdict, seen = source.verdict, timeline.see(source)
    return Content(
        verdict=verdict,
        sign=headline.sign(verdict),
        headline=headline.headline(verdict),
        gist=headline.gist(verdict),
        tiles=measures.tiles(verdict),
        identity=settings.identity(source),
        not_healed=tuple(str(why) for why in source.record.get("not_healed") or ()),
        interrupted=bool(source.record.get("interrupted")),
        broken_off=str(source.record.get("error") or ""),
        objectives=measures.objective_rows(verdict.objectives),
        findings=_findings(source),
        checks=_checks(verdict),
        clocks=clocks.told(source, seen.timeline.axis),
        axis=seen.timeline.axis,
        svg=figure.draw(seen.timeline),
        explanations=seen.explanations,
        windows=measures.windows(verdict),
        measures=measures.measure_rows(verdict),
        states=states.state_table(source.states),
        groups=settings.groups(source),
        again=settings.again(source),
        notes=tuple(source.notes),
    )


def _checks(verdict: Verdict) -> tuple[tuple[str, str, str], ...]:
    """Each check, ``clean``, ``not judged`` or the worst severity that it found, and what there is to say of it."""
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
    """Violations first."""
    return ("violation", "allowed", "information").index(finding.severity)


def _findings(source: Source) -> tuple[Shown, ...]:
    verdict = source.verdict
    found = sorted(verdict.findings, key=_rank)
    return tuple(
        (f, evidence.evidence_table(f.evidence, verdict.began), headline.is_predicted(f, verdict)) for f in found
    )

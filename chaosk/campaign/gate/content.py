"""The content of a gate's report, common to all its formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from chaosk.campaign.gate.outcome import exit_code, state_of
from chaosk.campaign.gate.record import Attempt, FigureComparison, Gate
from chaosk.campaign.gate.spread import Spread, in_words, spread
from chaosk.campaign.gate.variant_table import VariantTable, side_by_side
from chaosk.core.errors import ExitCode
from chaosk.core.figures import figure, metric_name, share
from chaosk.report.words import SIGNS
from chaosk.rundir.verdict import Outcome

_ENDS = {
    ExitCode.PASS: ("pass", "PASS"),
    ExitCode.FAIL: ("violation", "FAIL"),
    ExitCode.NOT_HEALED: ("violation", "NOT HEALED"),
    ExitCode.INTERRUPTED: ("inconclusive", "INTERRUPTED"),
    ExitCode.INCONCLUSIVE: ("inconclusive", "INCONCLUSIVE"),
}
_COULD_NOT = ("inconclusive", "COULD NOT BE RUN")


@dataclass(frozen=True, slots=True)
class RunRow:
    """One attempt."""

    scenario: str
    repeat: str
    """Like ``2 of 5``; empty if each scenario is run once."""
    state: str
    """``pass``, ``degraded``, ``violation``, ``inconclusive`` or ``not run``."""
    sign: str
    said: str
    took: str
    report: str
    """Path of its report, relative to the gate's folder; empty if there is none."""


@dataclass(frozen=True, slots=True)
class SpreadRow:
    """One figure of a scenario over its runs."""

    scenario: str
    name: str
    runs: int
    median: str
    interval: str


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One figure compared with the baseline."""

    scenario: str
    name: str
    before: str
    now: str
    chance: str
    state: str
    """``worse``, ``not worse`` or ``not compared``."""
    why: str


@dataclass(frozen=True, slots=True)
class GateContent:
    """The content of a gate's report, in the order in which it is shown."""

    tone: str
    headline: str
    facts: tuple[tuple[str, str], ...]
    why_ended: str
    runs: tuple[RunRow, ...]
    variants: tuple[VariantTable, ...]
    figures: tuple[SpreadRow, ...]
    compared: tuple[ComparedRow, ...]
    rates: str
    """The error rates of the comparison, in words."""


def content(gate: Gate) -> GateContent:
    """Return the content of a gate's report."""
    tone, word = _ENDS.get(exit_code(gate), _COULD_NOT)
    return GateContent(
        tone=tone,
        headline=f"{word} — {_counted(gate)}",
        facts=tuple(_facts(gate)),
        why_ended=gate.why_ended or "",
        runs=tuple(_run(one, gate) for one in gate.attempts),
        variants=side_by_side(gate),
        figures=tuple(_figures(gate)),
        compared=tuple(_compared(one) for one in gate.comparisons),
        rates=_rates(gate),
    )


def _counted(gate: Gate) -> str:
    passed = sum(one.exit_code == ExitCode.PASS for one in gate.attempts)
    open_ones = sum(one.state != "done" for one in gate.attempts)
    parts = [f"{passed} of {len(gate.attempts)} runs passed"]
    parts += [f"{open_ones} not run"] if open_ones else []
    still = sum(one.stood_still for one in gate.attempts)
    parts += [f"{still} say{'s' * (still == 1)} nothing, as chaosk's machine stood still"] if still else []
    worse = [one for one in gate.comparisons if one.worse]
    if worse:
        parts.append(
            f"worse than the baseline: {', '.join(f'{metric_name(one.metric)} of {one.scenario}' for one in worse)}"
        )
    elif gate.baseline is not None:
        open_figures = sum(one.p is None for one in gate.comparisons)
        told = f"; {open_figures} could not be compared" if open_figures else ""
        parts.append(f"none of {len(gate.comparisons)} figures is worse than the baseline{told}")
    return "; ".join(parts)


def _facts(gate: Gate) -> Iterator[tuple[str, str]]:
    yield "began", gate.began
    together = sum(one.seconds or 0.0 for one in gate.attempts)
    yield "took", figure(together if gate.seconds is None else gate.seconds, "s")
    if gate.side_by_side > 1:
        yield "side by side", f"{gate.side_by_side} runs at a time, {figure(together, 's')} of runs in all"
    yield "cluster", ", ".join(dict.fromkeys(one.cluster for one in gate.attempts if one.cluster)) or "unknown"
    if versions := sorted({one.kafka for one in gate.attempts if one.kafka}):
        yield "Kafka", ", ".join(versions)
    if gate.baseline is not None:
        yield "baseline", gate.baseline
    yield from ((name, gate.versions[name]) for name in ("chaosk", "librdkafka") if name in gate.versions)


def _run(one: Attempt, gate: Gate) -> RunRow:
    repeats = sum(other.scenario == one.scenario for other in gate.attempts)
    state = state_of(one)
    return RunRow(
        scenario=one.scenario,
        repeat=f"{one.repeat} of {repeats}" if repeats > 1 else "",
        state=state,
        sign=SIGNS.get(state, "·"),
        said=_said(one),
        took="" if one.seconds is None else figure(one.seconds, "s"),
        report=f"{one.folder}/report.html" if one.folder and one.verdict is not None else "",
    )


def _said(one: Attempt) -> str:
    said = one.said or ("not run" if one.exit_code is None else f"ended with {one.exit_code}")
    times = len(one.again_after)
    more = f"; run {times + 1} of it: chaosk's machine had stood still in {'that' if times == 1 else 'those'} before"
    return said + more * bool(times)


def _figures(gate: Gate) -> Iterator[SpreadRow]:
    """Yield each figure of the scenarios that were run more than once."""
    for scenario in dict.fromkeys(one.scenario for one in gate.attempts):
        runs = [one for one in gate.attempts if one.scenario == scenario]
        if len(runs) < 2:
            continue
        for metric, unit in dict.fromkeys((each.metric, each.unit) for one in runs for each in one.figures):
            values = [
                inf if each.censored else each.value
                for one in runs for each in one.figures
                if each.metric == metric and each.value is not None
            ]  # fmt: skip
            if values:
                yield _figure(scenario, metric, unit, spread(values))


def _figure(scenario: str, metric: str, unit: str, found: Spread) -> SpreadRow:
    return SpreadRow(
        scenario, metric_name(metric), len(found.values), in_words(found.median, unit),
        f"{in_words(found.low, unit)} to {in_words(found.high, unit)} ({share(found.confidence)} %)",
    )  # fmt: skip


def _compared(one: FigureComparison) -> ComparedRow:
    before, now = (_median(values, one.unit) for values in (one.before, one.now))
    state = "not compared" if one.p is None else "worse" if one.worse else "not worse"
    chance = "" if one.p is None else f"{share(one.p)} %"
    missed = "" if one.missed is None else f"twice as bad would be passed over in {share(one.missed)} % of cases"
    return ComparedRow(one.scenario, metric_name(one.metric), before, now, chance, state, one.why_not or missed)


def _median(values: tuple[float, ...], unit: str) -> str:
    return f"{in_words(spread(values).median, unit)} of {len(values)}" if values else "none"


def _rates(gate: Gate) -> str:
    if gate.baseline is None:
        return ""
    return (
        f"A figure is worse if it exceeds the baseline's by more than {share(gate.tolerance)} %, and by more than the "
        "resolution of its measurement. Without a real regression, the probability that any figure is reported as "
        f"worse is at most {share(gate.error_rate)} % (Mann and Whitney's exact test, with Holm's correction over all "
        "figures). The probability of missing a figure that is twice as bad is given beside it, estimated from the "
        "baseline's own figures."
    )


def tone(row: RunRow) -> str:
    """Return the tone in which a run is shown."""
    return row.state if row.state in set(Outcome) else "inconclusive"

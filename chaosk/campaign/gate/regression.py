"""Regressions against a baseline: figures that are worse by more than the tolerance, with stated error rates.

A figure is measured once a run, a handful of times in all, and its distribution is unknown. So ranks are compared, by
the exact test of Mann and Whitney ("On a test of whether one of two random variables is stochastically larger than the
other", Annals of Mathematical Statistics 18, 1947): one-sided, against the baseline's figures, made worse by the
tolerance. Over all figures of a gate, Holm's step-down procedure ("A simple sequentially rejective multiple test
procedure", Scandinavian Journal of Statistics 6, 1979) keeps the family-wise false-alarm rate below the requested one.
The probability of missing a figure twice as bad is given as well, estimated by drawing from the baseline's own figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb, inf

import numpy as np
import numpy.typing as npt
from scipy.stats import mannwhitneyu

from chaosk.campaign.gate.record import Attempt, FigureComparison, Gate
from chaosk.spec.metrics import METRICS, Metric

DEFAULT = ("unavailability", "recovery")
"""Metrics compared by default: the fewer metrics, the fewer runs are needed."""
COMPARABLE = tuple(name for name, one in METRICS.items() if one.bare != "exact" and one.unit in {"s", "ratio"})
FEWEST = 3
"""Minimum number of runs on each side for a comparison."""
_DRAWS = 1000
_SHORT = ("latency", "end_to_end", "connect_latency")


Figures = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Pair:
    """One figure of a scenario, on both sides."""

    scenario: str
    metric: Metric
    before: tuple[float, ...]
    now: tuple[float, ...]
    why_not: str


def compare(gate: Gate, baseline: Gate) -> tuple[FigureComparison, ...]:
    """Compare every figure that either side has, by scenario; a censored figure counts as infinite."""
    pairs = [pair for name in _scenarios(gate) for pair in _pairs(name, gate, baseline)]
    judged = [pair for pair in pairs if not pair.why_not]
    weak = [pair for pair in judged if floor(len(pair.before), len(pair.now)) > gate.error_rate / len(judged)]
    tested = {id(pair): _chance(pair, gate.tolerance) for pair in judged}
    worse = _accused(tested, gate.error_rate)
    return tuple(_told(pair, tested, worse, pair in weak, gate, len(judged)) for pair in pairs)


def floor(before: int, now: int) -> float:
    """Return the least possible p for these numbers of runs: that of the one order in which all new ones are worse."""
    return 1.0 / comb(before + now, now)


def repeats_needed(before: int, figures: int, error_rate: float) -> int:
    """Return the least number of runs, against those of the baseline, with which a regression can be found at all."""
    if before < 1:
        raise ValueError("no runs in the baseline")
    now = FEWEST
    while floor(before, now) > error_rate / max(1, figures):
        now += 1
    return now


def unlike(gate: Gate, baseline: Gate) -> str:
    """Return the reason why two gates are not comparable, else nothing: runs side by side slow each other down."""
    if gate.side_by_side == baseline.side_by_side:
        return ""
    was, now = (
        "one at a time" if each.side_by_side == 1 else f"{each.side_by_side} side by side" for each in (baseline, gate)
    )
    return f"the baseline's runs were made {was}, these {now}"


def _scenarios(gate: Gate) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.scenario for one in gate.attempts))


def _pairs(scenario: str, gate: Gate, baseline: Gate) -> Iterable[_Pair]:
    now = [one for one in gate.attempts if one.scenario == scenario]
    before = [one for one in baseline.attempts if one.scenario == scenario]
    for metric in (METRICS[name] for name in gate.metrics):
        old, new = _values(before, metric), _values(now, metric)
        if old or new:
            why_not = unlike(gate, baseline) or _why_not(before, now, old, new)
            yield _Pair(scenario, metric, old, new, why_not)


def _values(attempts: Iterable[Attempt], metric: Metric) -> tuple[float, ...]:
    measured = (one for attempt in attempts for one in attempt.figures if one.metric == metric.name)
    return tuple(sorted(inf if one.censored else one.value for one in measured if one.value is not None))


def _why_not(before: list[Attempt], now: list[Attempt], old: tuple[float, ...], new: tuple[float, ...]) -> str:
    """Return the reason why the figures of these runs are not compared; empty if they are."""
    if not before:
        return "the baseline has no such scenario"
    if {one.digest for one in before} != {one.digest for one in now}:
        return "the scenario is another one than in the baseline"
    shapes = [sorted({one.cluster for one in each if one.cluster}) for each in (before, now)]
    if shapes[0] != shapes[1]:
        return (
            f"the baseline is of another cluster: {', '.join(shapes[0])}; this is {', '.join(shapes[1]) or 'unknown'}"
        )
    if min(len(old), len(new)) < FEWEST:
        return f"too few runs tell it: {len(old)} of the baseline, {len(new)} of these; it takes {FEWEST} of each"
    return ""


def _chances(metric: Metric, before: Figures, now: Figures, tolerance: float) -> Figures:
    """Return the p-value of each row: the probability of the figures if the true regression is within the tolerance."""
    with np.errstate(invalid="ignore"):
        slack = np.where(np.isinf(before), 0.0, np.maximum(tolerance * before, resolution(metric)))
    if metric.bare == "max":
        return np.asarray(mannwhitneyu(now, before + slack, alternative="greater", method="exact", axis=1).pvalue)
    return np.asarray(mannwhitneyu(now, before - slack, alternative="less", method="exact", axis=1).pvalue)


def resolution(metric: Metric) -> float:
    """Return the least difference that counts: 1 s for outages, 5 ms for latencies, 1 % for ratios."""
    if metric.unit != "s":
        return 0.01
    return 0.005 if metric.name.startswith(_SHORT) else 1.0


def _accused(tested: dict[int, float], error_rate: float) -> set[int]:
    """Apply Holm's procedure: the smallest p against the rate divided by n, the next by n - 1, until one is too big."""
    found: set[int] = set()
    for place, (which, p) in enumerate(sorted(tested.items(), key=lambda item: item[1])):
        if p > error_rate / (len(tested) - place):
            break
        found.add(which)
    return found


def _told(
    pair: _Pair,
    tested: dict[int, float],
    worse: set[int],
    weak: bool,  # noqa: FBT001
    gate: Gate,
    family: int,
) -> FigureComparison:
    why_not, p = pair.why_not, tested.get(id(pair))
    if weak and id(pair) not in worse:
        needed = repeats_needed(len(pair.before), family, gate.error_rate)
        told = f"{len(pair.now)} runs against {len(pair.before)} cannot tell it from chance among {family} figures"
        why_not, p = f"{told}; it takes {needed}", None
    missed = None if p is None else _missed(pair, gate, family)
    return FigureComparison(
        scenario=pair.scenario, metric=pair.metric.name, unit=pair.metric.unit, before=pair.before, now=pair.now,
        p=p, worse=id(pair) in worse, missed=missed, why_not=why_not,
    )  # fmt: skip


def _chance(pair: _Pair, tolerance: float) -> float:
    return float(_chances(pair.metric, np.array([pair.before]), np.array([pair.now]), tolerance)[0])


def _missed(pair: _Pair, gate: Gate, family: int) -> float:
    """Estimate the probability of missing figures twice as bad as the baseline's, at the procedure's strictest step."""
    draw, values = np.random.default_rng(0), np.array(pair.before)
    before, drawn = (draw.choice(values, (_DRAWS, size)) for size in (len(pair.before), len(pair.now)))
    least = 2.0 * resolution(pair.metric)
    twice = drawn + np.maximum(drawn, least) if pair.metric.bare == "max" else drawn - np.maximum(1.0 - drawn, least)
    return float(np.mean(_chances(pair.metric, before, twice, gate.tolerance) > gate.error_rate / family))

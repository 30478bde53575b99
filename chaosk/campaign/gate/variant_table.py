"""The variants of a file side by side: their differing variables, verdicts, and every figure of the whole run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from chaosk.campaign.gate.outcome import state_of
from chaosk.campaign.gate.record import Attempt, Gate
from chaosk.campaign.gate.spread import in_words, spread
from chaosk.core.figures import figure, metric_name
from chaosk.report.words import SIGNS
from chaosk.spec.metrics import METRICS

Runs = dict[str, list[Attempt]]
"""By variant."""


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One line of the table, with a cell for each variant; a cell without a measurement is empty."""

    name: str
    subject: str
    """Subject of the figure, like a probe or a fault; empty for all subjects, and for other rows."""
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VariantTable:
    """The variants of one file."""

    scenario: str
    """Their common name."""
    variants: tuple[str, ...]
    rows: tuple[VariantRow, ...]
    """Their differing variables, verdicts and figures."""
    says: str
    """Explanation of the figures."""


def side_by_side(gate: Gate) -> tuple[VariantTable, ...]:
    """Return a table for every file with two variants or more, in the order of the gate."""
    files = dict.fromkeys(one.file for one in gate.attempts if one.variant)
    several = (_by_variant(one for one in gate.attempts if one.file == file) for file in files)
    return tuple(_table(runs) for runs in several if len(runs) > 1)


def _by_variant(attempts: Iterable[Attempt]) -> Runs:
    found: Runs = {}
    for one in attempts:
        found.setdefault(one.variant, []).append(one)
    return found


def _table(runs: Runs) -> VariantTable:
    first, most = next(iter(runs.values()))[0], max(map(len, runs.values()))
    return VariantTable(
        scenario=first.scenario.removesuffix(f" ({first.variant})"),
        variants=tuple(runs),
        rows=(*_settings(runs), VariantRow("verdict", "", tuple(map(_verdicts, runs.values()))), *_figures(runs)),
        says="Of the whole run." if most == 1 else f"Of the whole run; the median of up to {most} runs.",
    )


def _settings(runs: Runs) -> Iterator[VariantRow]:
    """Yield a row for each variable in which they differ."""
    for name in dict.fromkeys(name for each in runs.values() for name in each[0].differs):
        values = (each[0].differs.get(name, "") for each in runs.values())
        yield VariantRow(name, "", tuple(str(one).lower() if isinstance(one, bool) else str(one) for one in values))


def _verdicts(runs: list[Attempt]) -> str:
    """Return each verdict, with its count if there are several."""
    found = [state_of(one) for one in runs]
    signed = {each: f"{SIGNS.get(each, '·')} {each}" for each in found}
    return ", ".join(text if len(signed) == 1 else f"{text} ({found.count(each)})" for each, text in signed.items())


def _figures(runs: Runs) -> Iterator[VariantRow]:
    """Yield a row for each figure, in the order of the metrics' table, with the subjects of a metric together."""
    order = {name: place for place, name in enumerate(METRICS)}
    found = {(m.metric, m.subject): m.unit for each in runs.values() for one in each for m in one.measures}
    for which in sorted(found, key=lambda which: (order.get(which[0], len(order)), which)):
        cells = tuple(_cell(which, found[which], each) for each in runs.values())
        yield VariantRow(metric_name(which[0]), which[1], cells)


def _cell(which: tuple[str, str], unit: str, runs: list[Attempt]) -> str:
    """Return one figure of one variant; over several runs a censored one counts as infinite."""
    measures = [each for one in runs for each in one.measures if (each.metric, each.subject) == which]
    if len(measures) == 1:
        return figure(measures[0].value, unit, censored=measures[0].censored)
    values = [inf if one.censored else one.value or 0.0 for one in measures]
    return in_words(spread(values).median, unit) if values else ""

"""Many runs as rows over time: their clusters, verdicts and some figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from chaosk.campaign.history.stored_run import Cluster, StoredRun
from chaosk.core.errors import ExitCode
from chaosk.core.model import Model
from chaosk.core.printable import printable
from chaosk.report.measures import overall
from chaosk.rundir.verdict import Outcome

DEFAULT = ("unavailability", "recovery")
"""Metrics shown by default."""


class Figure(Model):
    """A figure of the whole run."""

    value: float
    unit: str
    censored: bool = False
    """True if the value is a lower bound."""


class HistoryRow(Model):
    """One run."""

    began: datetime
    """UTC."""
    scenario: str
    cluster: Cluster
    verdict: Outcome
    """The final outcome."""
    found: Outcome
    """The outcome by the rules alone."""
    expected: Outcome | None
    """The outcome that the scenario predicted; None if it predicted none."""
    as_expected: bool
    """True if the outcome is the one that its scenario wants: exit code 0."""
    healed: bool
    seconds: float
    """From the start of the timeline to the end of the audit."""
    figures: dict[str, Figure | None]
    """By metric; None if it was not measured."""
    folder: str
    """The run directory, with escapes for unprintable characters."""


@dataclass(frozen=True, slots=True)
class RunGroup:
    """The runs of one scenario on one version and mode of cluster, oldest first."""

    scenario: str
    kafka: str
    mode: str
    rows: tuple[HistoryRow, ...]


def row(one: StoredRun, metrics: Iterable[str]) -> HistoryRow:
    """Return the row of a run."""
    verdict = one.verdict
    return HistoryRow(
        began=one.began,
        scenario=verdict.scenario,
        cluster=one.cluster,
        verdict=verdict.verdict,
        found=verdict.found,
        expected=verdict.expected,
        as_expected=verdict.exit_code == ExitCode.PASS,
        healed=verdict.healed,
        seconds=verdict.duration,
        figures={name: _figure(one, name) for name in metrics},
        folder=printable(str(one.run.root)),
    )


def _figure(one: StoredRun, metric: str) -> Figure | None:
    measured = overall(metric, one.verdict.measures)
    if measured is None or measured.value is None or not isfinite(measured.value):
        return None
    return Figure(value=measured.value, unit=measured.unit, censored=measured.censored)


def chosen(rows: Iterable[HistoryRow], word: str | None, since: datetime | None) -> list[HistoryRow]:
    """Return rows oldest first; filtered by a part of the scenario's name and by the earliest start."""
    wanted = (
        each
        for each in rows
        if (word is None or word.casefold() in each.scenario.casefold()) and (since is None or each.began >= since)
    )
    return sorted(wanted, key=lambda each: (each.began, each.folder))


def groups(rows: Iterable[HistoryRow]) -> list[RunGroup]:
    """Group rows by scenario, then by Kafka version, lower ones first, then by mode; the order of rows is kept."""
    found: dict[tuple[str, str, str], list[HistoryRow]] = {}
    for each in rows:
        found.setdefault((each.scenario, each.cluster.kafka, each.cluster.mode), []).append(each)
    ordered = sorted(found, key=lambda key: (key[0], _version(key[1]), key[2]))
    return [RunGroup(*key, tuple(found[key])) for key in ordered]


def _version(text: str) -> Sequence[tuple[int, str]]:
    """Return the sort key of a version: 3.10 comes after 3.9."""
    return [(int(word[:9]), "") if word.isdecimal() else (-1, word) for word in re.findall(r"[0-9]+|[^0-9.]+", text)]

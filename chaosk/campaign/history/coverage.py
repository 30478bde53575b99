"""What was tried: fault by role, fault by client setting; and what never was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaosk.campaign.history.clients import SETTINGS, settings
from chaosk.campaign.history.fits import roles_of
from chaosk.campaign.history.roles import EXAMPLES, hit, of_a_step
from chaosk.campaign.history.stored import Stored, part
from chaosk.core.errors import ChaoskError, UsageError
from chaosk.core.model import Model
from chaosk.rundir.verdict import QUIET
from chaosk.spec.scenario import Entry, Scenario, from_plain, steps

_MOST_PROBES = 1000
"""Of one run that is counted: librdkafka looks at the settings of each."""

Pair = tuple[str, str]
"""A kind of step, and a role or a client setting."""


@dataclass(frozen=True, slots=True)
class Try:
    """What one scenario, or one run, tried."""

    aims: frozenset[Pair]
    """Kinds of step, each with a role that it was aimed at."""
    clients: frozenset[Pair]
    """Kinds of step, each with a setting of a client that lived through it."""
    verdict: str | None = None
    """What stands of a run; None for a scenario."""


class Cell(Model):
    """How often a fault met a role, or a client setting."""

    fault: str
    """The step."""
    met: str
    """The role or the setting."""
    scenarios: int
    runs: int
    verdicts: dict[str, int]
    """By outcome how many of the runs."""


class Never(Model):
    """What never was, in a scenario or in a run."""

    faults: tuple[str, ...]
    """Steps that nothing has."""
    roles: tuple[str, ...]
    """Roles that nothing was aimed at."""
    settings: tuple[str, ...]
    """Client settings that lived through no fault."""
    aims: dict[str, tuple[str, ...]]
    """By step that was tried the roles it can be aimed at, and never was."""
    clients: dict[str, tuple[str, ...]]
    """By step that was tried the client settings that never lived through it."""


class Coverage(Model):
    """All of it."""

    scenarios: int
    runs: int
    faults: tuple[str, ...]
    """The rows: every kind of step but those that do nothing."""
    roles: tuple[str, ...]
    """The columns of ``aims``: roles that something was aimed at."""
    settings: tuple[str, ...]
    """The columns of ``clients``."""
    aims: tuple[Cell, ...]
    clients: tuple[Cell, ...]
    never: Never


def of_scenario(scenario: Scenario) -> Try:
    """What a scenario would try; raises UsageError for a target that is none."""
    return _tried(scenario, scenario.timeline, None)


def of_run(one: Stored) -> Try:
    """What a run has tried: entries of its timeline that took. Raises UsageError for a plan that is not understood."""
    try:
        scenario = _scenario(part(one.plan, "scenario"))
    except (ValueError, KeyError, TypeError, RecursionError, ChaoskError) as error:
        raise UsageError(f"{one.run.root}: its plan has a scenario that this chaosk does not understand") from error
    took = {fault.name for fault in one.verdict.faults if fault.took}
    entries = [entry for entry in scenario.timeline if entry.name in took]
    return _tried(scenario, entries, str(one.verdict.verdict))


def _scenario(document: Mapping[str, Any]) -> Scenario:
    """The scenario in a plan; raises nearly anything for one that is none."""
    if len(part(document, "probes")) > _MOST_PROBES:
        raise ValueError("too many probes")
    return from_plain(Scenario, dict(document))


def _tried(scenario: Scenario, entries: Iterable[Entry], verdict: str | None) -> Try:
    faults = [entry for entry in entries if entry.kind not in QUIET]
    clients = settings(scenario.probes)
    return Try(
        aims=frozenset((entry.kind, role) for entry in faults for role in of_a_step(entry.step.targets())),
        clients=frozenset((entry.kind, setting) for entry in faults for setting in clients),
        verdict=verdict,
    )


def coverage(scenarios: Sequence[Try], runs: Sequence[Try]) -> Coverage:
    """What scenarios would try and runs have tried, as tables and as what is missing in them."""
    aims = _cells([one.aims for one in scenarios], [(one.aims, one.verdict) for one in runs])
    clients = _cells([one.clients for one in scenarios], [(one.clients, one.verdict) for one in runs])
    faults = tuple(kind for kind in steps() if kind not in QUIET)
    return Coverage(
        scenarios=len(scenarios),
        runs=len(runs),
        faults=faults,
        roles=_ordered({cell.met for cell in aims}, EXAMPLES),
        settings=_ordered({cell.met for cell in clients} | set(SETTINGS), SETTINGS),
        aims=aims,
        clients=clients,
        never=_never(faults, aims, clients),
    )


_Run = tuple[frozenset[Pair], str | None]


def _cells(scenarios: Iterable[frozenset[Pair]], runs: Iterable[_Run]) -> tuple[Cell, ...]:
    """Each pair that was met, by fault."""
    planned = Counter(pair for pairs in scenarios for pair in pairs)
    made: dict[Pair, Counter[str]] = {}
    for pairs, verdict in runs:
        for pair in pairs:
            made.setdefault(pair, Counter())[str(verdict)] += 1
    return tuple(
        Cell(
            fault=pair[0],
            met=pair[1],
            scenarios=planned[pair],
            runs=made.get(pair, Counter()).total(),
            verdicts=dict(sorted(made.get(pair, Counter()).items())),
        )
        for pair in sorted(planned.keys() | made.keys())
    )


def _ordered(found: set[str], known: Iterable[str]) -> tuple[str, ...]:
    """Those that are known in their order, then the others."""
    order = list(known)
    return tuple(sorted(found, key=lambda each: (order.index(each) if each in order else len(order), each)))


def _never(faults: Sequence[str], aims: Sequence[Cell], clients: Sequence[Cell]) -> Never:
    hits = {(cell.fault, hit(cell.met)) for cell in aims}
    tried = [fault for fault in faults if any(fault == kind for kind, _ in hits)]
    met = {(cell.fault, cell.met) for cell in clients}
    possible = {fault: roles_of(fault) for fault in tried}
    return Never(
        faults=tuple(fault for fault in faults if fault not in tried),
        roles=tuple(role for role in EXAMPLES if role not in {each for _, each in hits}),
        settings=tuple(setting for setting in SETTINGS if setting not in {each for _, each in met}),
        aims=_filled({fault: [r for r in possible[fault] if (fault, r) not in hits] for fault in tried}),
        clients=_filled({fault: [s for s in SETTINGS if (fault, s) not in met] for fault in tried}),
    )


def _filled(missing: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {fault: tuple(each) for fault, each in missing.items() if each}


def as_json(told: Coverage) -> str:
    """All of it for programs."""
    return json.dumps(told.model_dump(mode="json"), indent=1)

"""Coverage: the combinations of fault and role, and of fault and client setting, that were tried, and the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaosk.campaign.history.applicable_roles import roles_of
from chaosk.campaign.history.clients import SETTINGS, settings
from chaosk.campaign.history.roles import EXAMPLES, hit, of_a_step
from chaosk.campaign.history.stored_run import StoredRun, part
from chaosk.core.errors import ChaoskError, UsageError
from chaosk.core.model import Model
from chaosk.core.plugins import file_of
from chaosk.rundir.verdict import QUIET
from chaosk.spec.scenario import Entry, Scenario, from_plain, steps

_MOST_PROBES = 1000
"""Maximum number of probes of a run: librdkafka validates the settings of each."""

Pair = tuple[str, str]
"""A step by its file, so that ``kill_broker`` is a ``kill``; and a role or a client setting."""


@dataclass(frozen=True, slots=True)
class TriedFaults:
    """The combinations that one scenario, or one run, tried."""

    aims: frozenset[Pair]
    """Steps, each with a role that it was aimed at."""
    clients: frozenset[Pair]
    """Steps, each with a client setting that was in use."""
    verdict: str | None = None
    """The final verdict of a run; None for a scenario."""


class CoverageCell(Model):
    """Counts of one combination of a fault and a role, or a fault and a client setting."""

    fault: str
    """The step."""
    met: str
    """The role or the setting."""
    scenarios: int
    runs: int
    verdicts: dict[str, int]
    """Number of runs by outcome."""


class Never(Model):
    """The combinations that no scenario and no run has tried."""

    faults: tuple[str, ...]
    """Steps that were never used."""
    roles: tuple[str, ...]
    """Roles that were never aimed at."""
    settings: tuple[str, ...]
    """Client settings that were never combined with a fault."""
    aims: dict[str, tuple[str, ...]]
    """By step that was tried, the roles that it could be aimed at but never was."""
    clients: dict[str, tuple[str, ...]]
    """By step that was tried, the client settings that were never combined with it."""


class Coverage(Model):
    """The coverage of some scenarios and runs."""

    scenarios: int
    runs: int
    faults: tuple[str, ...]
    """The rows: every step that is a fault."""
    roles: tuple[str, ...]
    """The columns of ``aims``: roles that were aimed at."""
    settings: tuple[str, ...]
    """The columns of ``clients``."""
    aims: tuple[CoverageCell, ...]
    clients: tuple[CoverageCell, ...]
    never: Never


def of_scenario(scenario: Scenario) -> TriedFaults:
    """Return the combinations that a scenario would try; raises UsageError for an invalid target."""
    return _tried(scenario, scenario.timeline, None)


def of_run(one: StoredRun) -> TriedFaults:
    """Return the combinations that a run has tried: entries that took. Raises UsageError for an unknown scenario."""
    try:
        scenario = _scenario(part(one.plan, "scenario"))
    except (ValueError, KeyError, TypeError, RecursionError, ChaoskError) as error:
        raise UsageError(f"{one.run.root}: its plan has a scenario that this chaosk does not understand") from error
    took = {fault.name for fault in one.verdict.faults if fault.took}
    entries = [entry for entry in scenario.timeline if entry.name in took]
    return _tried(scenario, entries, str(one.verdict.verdict))


def _scenario(document: Mapping[str, Any]) -> Scenario:
    """Parse the scenario of a plan; raises nearly any exception for an invalid one."""
    if len(part(document, "probes")) > _MOST_PROBES:
        raise ValueError("too many probes")
    return from_plain(Scenario, dict(document))


def _tried(scenario: Scenario, entries: Iterable[Entry], verdict: str | None) -> TriedFaults:
    faults = [(file_of(type(entry.step)), entry.step) for entry in entries if entry.kind not in QUIET]
    clients = settings(scenario.probes)
    return TriedFaults(
        aims=frozenset((kind, role) for kind, step in faults for role in of_a_step(step.targets())),
        clients=frozenset((kind, setting) for kind, _ in faults for setting in clients),
        verdict=verdict,
    )


def coverage(scenarios: Sequence[TriedFaults], runs: Sequence[TriedFaults]) -> Coverage:
    """Return the coverage of scenarios and runs, as tables and as lists of the untried combinations."""
    aims = _cells([one.aims for one in scenarios], [(one.aims, one.verdict) for one in runs])
    clients = _cells([one.clients for one in scenarios], [(one.clients, one.verdict) for one in runs])
    faults = tuple(sorted({file_of(step) for step in steps().values()} - QUIET))
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


def _cells(scenarios: Iterable[frozenset[Pair]], runs: Iterable[_Run]) -> tuple[CoverageCell, ...]:
    """Return the counts of each combination, by fault."""
    planned = Counter(pair for pairs in scenarios for pair in pairs)
    made: dict[Pair, Counter[str]] = {}
    for pairs, verdict in runs:
        for pair in pairs:
            made.setdefault(pair, Counter())[str(verdict)] += 1
    return tuple(
        CoverageCell(
            fault=pair[0],
            met=pair[1],
            scenarios=planned[pair],
            runs=made.get(pair, Counter()).total(),
            verdicts=dict(sorted(made.get(pair, Counter()).items())),
        )
        for pair in sorted(planned.keys() | made.keys())
    )


def _ordered(found: set[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the known ones in their order, then the others."""
    order = list(known)
    return tuple(sorted(found, key=lambda each: (order.index(each) if each in order else len(order), each)))


def _never(faults: Sequence[str], aims: Sequence[CoverageCell], clients: Sequence[CoverageCell]) -> Never:
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
    """Return the coverage as JSON."""
    return json.dumps(told.model_dump(mode="json"), indent=1)

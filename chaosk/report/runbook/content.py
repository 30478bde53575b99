"""The content of a runbook, shared by all its formats."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from chaosk.core import plugins
from chaosk.core.figures import bounds
from chaosk.core.units import spell_duration
from chaosk.planning import preview
from chaosk.spec.inventory import Inventory
from chaosk.spec.metrics import METRICS
from chaosk.spec.scenario import Scenario

Pairs = tuple[tuple[str, str], ...]

ROLES = (
    "Leads the game day, decides at the console",
    "Watches the users' side: dashboards, support",
    "Looks after the cluster, can heal by hand",
    "Writes down what happens",
    "To be called if it goes wrong",
)
"""Lines to be filled in by hand."""


@dataclass(frozen=True, slots=True)
class Runbook:
    """One experiment."""

    name: str
    hypothesis: str
    cluster: Pairs
    probes: Pairs
    rows: tuple[preview.PreviewRow, ...]
    aborts: tuple[str, ...]
    """Conditions that end the run automatically."""
    allowed: Pairs
    expects: Pairs
    times: Pairs
    by_hand: tuple[str, ...]
    """Commands that heal everything."""
    roles: tuple[str, ...] = ROLES


def runbook(
    scenario: Scenario, inventory: Inventory | None, rows: tuple[preview.PreviewRow, ...], file: str
) -> Runbook:
    """Collect the content of a runbook; ``rows``: of :mod:`chaosk.planning.preview`; ``file``: the inventory's name."""
    return Runbook(
        name=scenario.name,
        hypothesis=scenario.hypothesis,
        cluster=tuple(_cluster(scenario, inventory)),
        probes=tuple(
            (name, f"{plugins.name_of(type(probe))} {', '.join(probe.topics())}")
            for name, probe in scenario.probes.items()
        ),
        rows=rows,
        aborts=tuple(_aborts(scenario, inventory)),
        allowed=tuple(scenario.allow.reasons().items()),
        expects=tuple(_expects(scenario)),
        times=(("baseline", spell_duration(scenario.baseline)), ("settle", spell_duration(scenario.settle))),
        by_hand=(f"chaosk halt --inventory {shlex.quote(file)}", f"chaosk heal --inventory {shlex.quote(file)}"),
    )


def _cluster(scenario: Scenario, inventory: Inventory | None) -> Iterator[tuple[str, str]]:
    if inventory is not None:
        yield "cluster", inventory.name
        yield "brokers", ", ".join(f"{number} on {one.host}" for number, one in inventory.brokers.items())
        for kind, nodes in (("ZooKeeper", inventory.zookeepers), ("controllers", inventory.controllers)):
            if nodes:
                yield kind, ", ".join(f"{number} on {one.host}" for number, one in nodes.items())
        yield "longest lease", spell_duration(inventory.longest_lease)
    for name, topic in scenario.topics.items():
        config = "".join(f", {key}={value}" for key, value in topic.config.items())
        yield "topic", f"{name}: {topic.partitions} partitions, {topic.replication_factor} replicas{config}"


def _aborts(scenario: Scenario, inventory: Inventory | None) -> Iterator[str]:
    for condition in (*(inventory.stop_conditions if inventory else ()), *scenario.stop_conditions):
        fields = ", ".join(f"{key}: {value}" for key, value in condition.model_dump(mode="json").items())
        yield f"{plugins.name_of(type(condition))}: {fields}" if fields else plugins.name_of(type(condition))


def _expects(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for metric, subjects in scenario.expect.bounds.items():
        for subject, limits in subjects.items():
            for limit in limits:
                about = f"{metric} {subject}".strip()
                yield about, f"{bounds(limit.min, limit.max, METRICS[metric].unit)}, over {limit.during}"
    if scenario.expect.verdict is not None:
        yield "verdict", scenario.expect.verdict.value

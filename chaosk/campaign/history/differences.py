"""Differences between the plans of runs, setting by setting, and between the resolved targets of their faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from chaosk.campaign.history.stored_run import StoredRun, part
from chaosk.core.model import Model
from chaosk.report.settings import leaves

MOST = 20_000
"""Maximum number of settings of one plan that are compared."""
_DEEPEST, _LONGEST_KEY = 12, 100

_SAID = ("name", "hypothesis", "covers", "tags")
"""Descriptive keys of a scenario, without effect on a run."""

Setting = tuple[str, str]
"""A heading, and a dotted path below it."""


class Difference(Model):
    """A setting that differs between runs."""

    group: str
    """Its heading, like ``timeline``."""
    setting: str
    """Its dotted path below the heading; in a timeline the entry's name comes first."""
    values: tuple[str | None, ...]
    """One a run; None if the run has no such setting."""


def differences(runs: Sequence[StoredRun]) -> tuple[Difference, ...]:
    """Return every setting that differs, by heading, in the order of the plans."""
    sides = [dict(islice(_settings(one), MOST)) for one in runs]
    headings = list(dict.fromkeys(group for side in sides for group, _ in side))
    every = sorted(dict.fromkeys(key for side in sides for key in side), key=lambda key: headings.index(key[0]))
    told = ((key, tuple(side.get(key) for side in sides)) for key in every)
    return tuple(Difference(group=g, setting=s, values=values) for (g, s), values in told if len(set(values)) > 1)


def _settings(one: StoredRun) -> Iterator[tuple[Setting, str]]:
    scenario, inventory = part(one.plan, "scenario"), part(one.plan, "inventory")
    yield ("run", "scenario"), one.verdict.scenario
    yield ("run", "seed"), str(one.plan.get("seed"))
    yield from ((("cluster", name), str(value)) for name, value in one.cluster.model_dump().items() if value)
    yield from _flat("variables", scenario.get("variables"))
    yield from ((("targets as resolved", fault.name), fault.targets) for fault in one.verdict.faults)
    for name, value in scenario.items():
        if name == "cluster":
            yield from _flat("cluster that is asked for", value)
        elif name not in (*_SAID, "variables"):
            yield from _flat(str(name)[:_LONGEST_KEY], _by_name(value) if name == "timeline" else value)
    yield from _flat("client settings of the cluster", inventory.get("client"))
    yield from _flat("versions", one.plan.get("versions"))


def _flat(group: str, value: object) -> Iterator[tuple[Setting, str]]:
    for path, text in leaves(_trimmed(value, 0)):
        yield (group, path), text


def _by_name(timeline: object) -> object:
    """Return the entries by name, so that an inserted one does not make all later ones differ."""
    if not isinstance(timeline, list) or not all(isinstance(entry, dict) for entry in timeline):
        return timeline
    return {
        str(entry.get("name", place)): {key: each for key, each in entry.items() if key != "name"}
        for place, entry in enumerate(timeline, 1)
    }


def _trimmed(value: Any, depth: int) -> Any:  # noqa: ANN401 - an untrusted document may contain any type
    """Cut depths and key lengths that no plan has: a path takes memory for each of its leaves."""
    if not isinstance(value, dict | list):
        return value
    if depth == _DEEPEST:
        return "…"
    if isinstance(value, list):
        return [_trimmed(each, depth + 1) for each in value]
    return {str(key)[:_LONGEST_KEY]: _trimmed(each, depth + 1) for key, each in value.items()}

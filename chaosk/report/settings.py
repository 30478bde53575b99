"""The inputs of a run: topics, probes, timeline, cluster, versions; and the commands to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from shlex import quote
from typing import Any

from chaosk.report.source import Source

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SettingsGroup:
    """Settings under one heading."""

    title: str
    pairs: Pairs


def groups(source: Source) -> tuple[SettingsGroup, ...]:
    """Return all parts of the plan that determine the outcome, by heading; missing parts are left out."""
    scenario = _mapping(source.plan.get("scenario"))
    inventory = _mapping(source.plan.get("inventory"))
    found = [SettingsGroup(f"Topic {name}", flat(topic)) for name, topic in _mapping(scenario.get("topics")).items()]
    found += [SettingsGroup(f"Probe {name}", flat(probe)) for name, probe in _mapping(scenario.get("probes")).items()]
    found += [
        SettingsGroup(f"Timeline {number + 1}", flat(e)) for number, e in enumerate(scenario.get("timeline") or ())
    ]
    found.append(SettingsGroup("Expected", flat(scenario.get("expect"))))
    found.append(SettingsGroup("Variables", flat(scenario.get("variables"))))
    found.append(SettingsGroup("Client settings of the cluster", flat(inventory.get("client"))))
    found.append(SettingsGroup("Versions", versions(source.plan)))
    found.append(SettingsGroup("Time spent", durations(source.record)))
    return tuple(group for group in found if group.pairs)


def flat(value: object) -> Pairs:
    """Flatten a document to pairs of a dotted path and a value, in the document's order."""
    return tuple(leaves(value))


def leaves(value: object) -> Iterator[tuple[str, str]]:
    """Yield the pairs of :func:`flat`."""
    return _leaves("", value)


def _leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(f"{path}.{key}" if path else str(key), item)
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for number, item in enumerate(value):
            yield from _leaves(f"{path}[{number}]", item)
    elif isinstance(value, list):
        yield path, ", ".join(_leaf(item) for item in value)
    elif value is not None and value != {}:
        yield path, _leaf(value)


def _leaf(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def versions(plan: Mapping[str, Any]) -> Pairs:
    """Return the versions of Kafka, of chaosk and of its libraries."""
    kafka = (("kafka", str(plan["kafka"])),) if plan.get("kafka") else ()
    return (*kafka, *flat(plan.get("versions")))


def durations(record: Mapping[str, Any]) -> Pairs:
    """Return the seconds of each phase, as the run recorded them."""
    return tuple((phase, f"{float(took):.1f} s") for phase, took in _mapping(record.get("durations")).items())


def identity(source: Source) -> Pairs:
    """Return the identity of this run: time, cluster, seed."""
    began = datetime.fromtimestamp(source.verdict.wall / 1e9, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    pairs = [
        ("began", began),
        ("duration", f"{source.verdict.duration:.1f} s"),
        ("cluster", _mapping(source.plan.get("inventory")).get("name")),
        ("Kafka", source.plan.get("kafka")),
        ("seed", source.plan.get("seed")),
        ("run", source.plan.get("run_id")),
        ("covers", ", ".join(source.verdict.covers)),
    ]
    return tuple((name, str(value)) for name, value in pairs if value not in (None, ""))


def again(source: Source) -> tuple[str, ...]:
    """Return the shell commands that run it again and judge it again."""
    folder, seed = quote(source.run.root.name), source.plan.get("seed")
    lines = [f"chaosk run SCENARIO.yaml --seed {quote(str(seed))}"] if seed is not None else []
    return (*lines, f"chaosk analyze {folder}", f"chaosk report {folder}")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

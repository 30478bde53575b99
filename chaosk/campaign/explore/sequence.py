"""A sequence: drawn faults with their starts and durations, and the scenario with these as its timeline."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Annotated, Any

import yaml
from pydantic import Field

from chaosk.campaign.explore.space import Space
from chaosk.core.model import Model
from chaosk.core.printable import printable
from chaosk.core.units import spell_duration
from chaosk.document.nodes import Path, Plain
from chaosk.document.scalars import resolve
from chaosk.spec.scenario import GRAMMAR

_NOTHING: dict[str, Plain] = {"wait": {"duration": "1s"}}
"""The timeline of a sequence without faults."""


class DrawnFault(Model):
    """One fault of a sequence."""

    name: str
    """Name of its entry; unchanged when other faults are left out."""
    fault: int
    """Its index in the space, from 0."""
    picks: Annotated[tuple[int, ...], Field(strict=False)] = ()
    """Index of the value of each of its choices, in order, from 0."""
    lasts: float | None = None
    """Its duration in seconds, if the space has it drawn."""
    start: float
    """Seconds from the end of the fault before it; if faults may overlap, from the start of the timeline."""


Sequence = tuple[DrawnFault, ...]


def entry(space: Space, move: DrawnFault) -> dict[str, Plain]:
    """Return a fault as a timeline entry with all its values, without its start."""
    candidate = space.faults[move.fault]
    made: Plain = dict(candidate.entry)
    for choice, pick in zip(candidate.choices, move.picks, strict=True):
        made = _put(made, choice.path, choice.options[pick])
    filled = made if isinstance(made, dict) else {}
    return filled if move.lasts is None else {**filled, "for": spell_duration(move.lasts)}


def document(space: Space, sequence: Sequence, name: str) -> dict[str, Plain]:
    """Return the scenario of a sequence as plain data: the space's keys, with the timeline in place of `explore`."""
    told: dict[str, Plain] = {}
    for key, value in space.scenario.items():
        if key == "explore":
            told["timeline"] = [*_timeline(space, sequence)]
        else:
            told[key] = name if key == "name" else value
    return told


def text(told: dict[str, Plain], comments: Iterable[str] = ()) -> str:
    """Return a scenario as YAML that chaosk parses to the same values; comments come first, a line each."""
    head = "".join(f"# {printable(line)}\n" for line in comments)
    body = yaml.dump(told, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=116)
    return f"{head}{body}"


def kinds(space: Space, sequence: Sequence) -> tuple[str, ...]:
    """Return the steps of a sequence, in order."""
    return tuple(kind_of(entry(space, move)) for move in sequence)


def kind_of(one: dict[str, Plain]) -> str:
    """Return the step of an entry."""
    return next((key for key in one if key not in GRAMMAR), "")


def _timeline(space: Space, sequence: Sequence) -> list[Plain]:
    entries = [
        _placed(space, move, sequence[number - 1].name if number else None) for number, move in enumerate(sequence)
    ]
    last: list[Plain] = [dict(each) for each in _last(space, sequence)]
    return [*entries, *last] or [dict(_NOTHING)]


def _placed(space: Space, move: DrawnFault, before: str | None) -> Plain:
    made = entry(space, move)
    start = spell_duration(move.start)
    trigger: dict[str, Plain] = (
        {"at": start} if space.explore.overlap or before is None else {"after": {"entry": before, "delay": start}}
    )
    head = {key: each for key, each in made.items() if key in ("when", "timeout")}
    rest = {key: each for key, each in made.items() if key not in ("when", "timeout", "for")}
    lasts = {"for": made["for"]} if "for" in made else {}
    return {"name": move.name, **trigger, **head, **rest, **lasts}


def _last(space: Space, sequence: Sequence) -> list[dict[str, Any]]:
    """Return the entries that end the sequence; if faults overlap, they start after the fault that ends last."""
    last: list[dict[str, Any]] = [dict(each) for each in space.explore.last]
    if space.explore.overlap and sequence and last and not {"after", "repeat"} & last[0].keys():
        latest = max(sequence, key=lambda move: move.start + (inf if move.lasts is None else move.lasts))
        last[0] = {"after": latest.name, **last[0]}
    return last


def _put(value: Plain, path: Path, new: Plain) -> Plain:
    """Return a copy of ``value`` with ``new`` at an existing path."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {key: _put(each, rest, new) if key == step else each for key, each in value.items()}
    if isinstance(value, list):
        return [_put(each, rest, new) if number == step else each for number, each in enumerate(value)]
    return value


class _Dumper(yaml.SafeDumper):
    """Quotes texts that YAML 1.2 would parse as another type, and never writes an alias."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        """Write equal values in full each time."""
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    try:
        plain = resolve(value) == value
    except ValueError:
        plain = False
    variable = "${" in value
    escaped = value.replace("${", "$${") if variable else value
    return dumper.represent_scalar("tag:yaml.org,2002:str", escaped, style=None if plain else '"')


_Dumper.add_representer(str, _text)

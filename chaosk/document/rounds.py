"""The timeline as it is executed: each round has its own entries, so that later stages need not know of rounds.

In round 3 of a block the entry ``chase`` is named ``chase-3``, and ``after: chase`` in that block refers to it. After
the block, ``after: chase`` refers to the last round, and a bound ``during: chase`` applies to each round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chaosk.document.blocks import MOST_ENTRIES, Written, carried_out, written
from chaosk.document.nodes import Node, Path, Plain, plain
from chaosk.spec.bounds import BOUND_KEYS
from chaosk.spec.metrics import METRICS
from chaosk.spec.scenario import default_name


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """One executed entry, and its place in the file."""

    path: Path
    written: str
    """Name in the file, defaults included."""
    name: str
    """Name with the number of its round, if it is in a block."""
    round: int | None
    """From 1; None for an entry outside of any block."""
    entry: Plain
    """The entry as it would be written outside of any block."""

    def shares_round(self, other: RoundEntry) -> bool:
        """Return True if both are in the same round of the same block."""
        return (self.path[:2], self.round) == (other.path[:2], other.round)


def turns(root: Node) -> tuple[RoundEntry, ...]:
    """Return all entries in order; only one round of each block if there would be too many entries."""
    every = written(root)
    single = carried_out(every) > MOST_ENTRIES
    last: dict[str, str] = {}
    found: list[RoundEntry] = []
    for place, item in enumerate(every):
        rounds = item.rounds if item.rounds is None or not single else 1
        own = tuple(_of(place, item, rounds, last))
        last |= {turn.written: turn.name for turn in own if rounds is not None}
        found += own
    return tuple(found)


def unrolled(root: Node) -> Plain:
    """Return the whole document as plain data without blocks."""
    data = plain(root)
    every = turns(root)
    if not isinstance(data, dict) or all(turn.round is None for turn in every):
        return data
    expect = data.get("expect")
    bounds: dict[str, Plain] = {"expect": dict(expected(expect, every))} if isinstance(expect, dict) else {}
    return {**data, "timeline": [turn.entry for turn in every], **bounds}


def expected(expect: Mapping[str, Plain], every: tuple[RoundEntry, ...]) -> Mapping[str, Plain]:
    """Return ``expect`` with each bound on an entry of a block applied to that entry in every round."""
    rounds: dict[str, list[str]] = {}
    for turn in every:
        if turn.round is not None:
            rounds.setdefault(turn.written, []).append(turn.name)
    return {name: _bounds(name, value, rounds) for name, value in expect.items()}


def _of(place: int, item: Written, rounds: int | None, last: Mapping[str, str]) -> Iterator[RoundEntry]:
    names = [
        _name(place, plain(node), "" if rounds is None else f".{inner + 1}")
        for inner, (_, node) in enumerate(item.entries)
    ]
    entries = [(name, path, plain(node)) for name, (path, node) in zip(names, item.entries, strict=True)]
    for number in range(1, (rounds or 1) + 1):
        own = {name: name if rounds is None else f"{name}-{number}" for name in names}
        for name, path, entry in entries:
            turn = None if rounds is None else number
            yield RoundEntry(path, name, own[name], turn, _pointed(own[name], entry, last if turn is None else own))


def _name(place: int, value: Plain, inner: str) -> str:
    given = value.get("name") if isinstance(value, dict) else None
    return given if isinstance(given, str) else default_name(place, value if isinstance(value, dict) else {}) + inner


def _pointed(name: str, entry: Plain, names: Mapping[str, str]) -> Plain:
    """Return the entry under its new name, with ``after`` referring to its own round or to the last one."""
    if not isinstance(entry, dict):
        return entry
    after = entry.get("after")
    if isinstance(after, str):
        after = names.get(after, after)
    elif isinstance(after, dict) and isinstance(other := after.get("entry"), str):
        after = {**after, "entry": names.get(other, other)}
    return {**entry, "name": name, **({} if after is None else {"after": after})}


def _bounds(metric: str, value: Plain, rounds: Mapping[str, list[str]]) -> Plain:
    faults = rounds if metric in METRICS and METRICS[metric].subject == "fault" else {}
    if isinstance(value, dict) and not value.keys() & set(BOUND_KEYS):
        by_subject = {subject: _each(bound, rounds, faults) for subject, bound in value.items()}
        return {name: bound for subject, bound in by_subject.items() for name in faults.get(subject, [subject])}
    return _each(value, rounds, faults)


def _each(value: Plain, rounds: Mapping[str, list[str]], faults: Mapping[str, list[str]]) -> Plain:
    """Expand bounds on entries of a block: ``during`` gives one bound for each round, ``of`` lists all rounds."""
    if isinstance(value, list):
        several = [_each(each, rounds, faults) for each in value]
        return [one for each in several for one in (each if isinstance(each, list) else [each])]
    if not isinstance(value, dict):
        return value
    if isinstance(of := value.get("of"), list):
        value = {**value, "of": [name for each in of for name in _rounds(each, faults)]}
    during = value.get("during")
    if isinstance(during, str) and during in rounds:
        return [{**value, "during": name} for name in rounds[during]]
    return value


def _rounds(name: Plain, faults: Mapping[str, list[str]]) -> list[Plain]:
    return [*faults.get(name, [name])] if isinstance(name, str) else [name]

"""The valid parts of a scenario as typed values, for the checks across parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from chaosk.document.blocks import REPEAT
from chaosk.document.nodes import Mapping as MappingNode
from chaosk.document.nodes import Node, Path, Plain, Scalar, Sequence, descend, plain, scalars
from chaosk.document.parse import Found
from chaosk.document.rounds import RoundEntry, expected, turns
from chaosk.spec.allow import Allow
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.contracts.stop_condition import StopCondition
from chaosk.spec.contracts.stop_rules import Rules
from chaosk.spec.expect import Expect
from chaosk.spec.scenario import ClusterShape, Entry, Topic, from_plain, probe_of

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})
"""Kafka's own topics, which faults may target."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A partly valid scenario; a part with a wrong shape is None, but its name is still known."""

    root: Node
    topics: Mapping[str, Topic | None]
    probes: Mapping[str, Probe | None]
    turns: tuple[RoundEntry, ...]
    """The timeline as it is executed."""
    unsure: bool
    """True if a number of rounds is invalid."""
    entries: tuple[Entry | None, ...]
    """One for each turn, in the same order."""
    expect: Expect
    """Without the metrics whose bounds are wrong."""
    cluster: ClusterShape | None
    allow: Allow | None
    rules: Mapping[int, StopCondition]
    """The valid stop conditions by their position."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the entries in order, defaults included."""
        return tuple(turn.name for turn in self.turns)

    @property
    def written_names(self) -> tuple[str, ...]:
        """The names as written, without the round's number of an entry in a block."""
        return tuple(dict.fromkeys(turn.written for turn in self.turns))

    def named(self, name: str) -> bool:
        """Return True if an entry has that name, or may have it because its block's number of rounds is invalid."""
        base, _, number = name.rpartition("-")
        return name in self.names or (self.unsure and number.isdigit() and base in self.written_names)

    @property
    def groups(self) -> frozenset[str]:
        """Consumer groups of the probes."""
        named = (getattr(probe, "group", None) for probe in self.probes.values() if probe is not None)
        return frozenset(group for group in named if isinstance(group, str))

    @property
    def transactional_ids(self) -> frozenset[str]:
        """The ``transactional.id`` of each transactional probe."""
        right = ((name, probe) for name, probe in self.probes.items() if probe is not None)
        return frozenset(each for name, probe in right for each in probe.transactional_ids(name))

    def at(self, path: Path, what: str) -> Found:
        """Return a complaint about the value at ``path``, or about its nearest written ancestor."""
        while path and descend(self.root, path) is None:
            path = path[:-1]
        node = descend(self.root, path) or self.root
        note = f" ({node.note})" if isinstance(node, Scalar) and node.note else ""
        return node.place, path, what + note

    def at_key(self, path: Path, what: str) -> Found:
        """Return a complaint about the key at the end of ``path``."""
        parent = descend(self.root, path[:-1])
        place = parent.keys.get(str(path[-1])) if isinstance(parent, MappingNode) else None
        return (place or self.root.place), path, what

    def written(self, path: Path) -> bool:
        """Return True if the file contains a value at ``path``."""
        return descend(self.root, path) is not None

    def holds(self, path: Path, text: str) -> Path:
        """Return the path of the value ``text`` below ``path``, else ``path`` itself."""
        below = descend(self.root, path)
        found = (where for where, node in scalars(below, path) if node.value == text) if below else iter(())
        return next(found, path)


def draft(root: Node, wrong: Iterable[Path]) -> Draft:
    """Return the parts of a scenario without any path in ``wrong``."""
    bad = tuple(wrong)

    def good(*path: str | int) -> bool:
        return not any(each[: len(path)] == path or each == path[: len(each)] != () for each in bad)

    every = turns(root)
    expect = expected(dict(_plainly(root, "expect")), every)
    return Draft(
        root=root,
        topics={n: from_plain(Topic, plain(t)) if good("topics", n) else None for n, t in _named(root, "topics")},
        probes={n: _probe(plain(p)) if good("probes", n) else None for n, p in _named(root, "probes")},
        turns=every,
        unsure=any(path[:1] == ("timeline",) and path[2:] in ((), (REPEAT,)) for path in bad),
        entries=tuple(_entry(turn) if good(*turn.path) else None for turn in every),
        expect=Expect.model_validate({name: each for name, each in expect.items() if good("expect", name)}),
        cluster=from_plain(ClusterShape, dict(_plainly(root, "cluster"))) if good("cluster") else None,
        allow=from_plain(Allow, dict(_plainly(root, "allow"))) if good("allow") else None,
        rules={
            n: one
            for n, each in _items(root, "stop_conditions")
            if good("stop_conditions", n)
            for one in _rule(plain(each))
        },
    )


def _named(root: Node, key: str) -> Iterator[tuple[str, Node]]:
    block = descend(root, (key,))
    return iter(block.values.items()) if isinstance(block, MappingNode) else iter(())


def _items(root: Node, key: str) -> Iterator[tuple[int, Node]]:
    block = descend(root, (key,))
    return enumerate(block.items) if isinstance(block, Sequence) else iter(())


def _plainly(root: Node, key: str) -> Iterator[tuple[str, Plain]]:
    return ((name, plain(node)) for name, node in _named(root, key))


def _probe(value: Plain) -> Probe | None:
    probe = probe_of(value)
    return probe if isinstance(probe, Probe) else None


def _rule(value: Plain) -> tuple[StopCondition, ...]:
    return TypeAdapter(Rules).validate_python([value])


def _entry(turn: RoundEntry) -> Entry | None:
    return from_plain(Entry, turn.entry) if isinstance(turn.entry, dict) else None

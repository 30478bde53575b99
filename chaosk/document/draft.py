"""A scenario as far as it is right: the parts whose shape is good, as typed values, for the checks across them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from chaosk.document.blocks import REPEAT
from chaosk.document.nodes import Mapping as MappingNode
from chaosk.document.nodes import Node, Path, Plain, Scalar, Sequence, descend, plain, scalars
from chaosk.document.parse import Found
from chaosk.document.rounds import Turn, expected, turns
from chaosk.spec.allow import Allow
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.contracts.stop_condition import StopCondition
from chaosk.spec.contracts.stop_rules import Rules
from chaosk.spec.expect import Expect
from chaosk.spec.scenario import ClusterShape, Entry, Topic, from_plain, probe_of

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})
"""Kafka's own; faults may aim at them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a scenario; a part whose shape is wrong is None, its name is known all the same."""

    root: Node
    topics: Mapping[str, Topic | None]
    probes: Mapping[str, Probe | None]
    turns: tuple[Turn, ...]
    """The timeline as it is carried out."""
    unsure: bool
    """Whether a number of rounds is wrong."""
    entries: tuple[Entry | None, ...]
    """Of the turns, in order."""
    expect: Expect
    """Without the metrics whose bounds are wrong."""
    cluster: ClusterShape | None
    allow: Allow | None
    rules: Mapping[int, StopCondition]
    """By place the stop conditions that are right."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the entries, in order, defaults included."""
        return tuple(turn.name for turn in self.turns)

    @property
    def written_names(self) -> tuple[str, ...]:
        """Those names as they are written: of an entry in a block without the number of a round."""
        return tuple(dict.fromkeys(turn.written for turn in self.turns))

    def named(self, name: str) -> bool:
        """Whether there is an entry of that name, or may be one: in a block of which the number of rounds is wrong."""
        base, _, number = name.rpartition("-")
        return name in self.names or (self.unsure and number.isdigit() and base in self.written_names)

    @property
    def groups(self) -> frozenset[str]:
        """The consumer groups of the probes."""
        named = (getattr(probe, "group", None) for probe in self.probes.values() if probe is not None)
        return frozenset(group for group in named if isinstance(group, str))

    @property
    def transactional_ids(self) -> frozenset[str]:
        """The ``transactional.id`` of each of the probes that has one."""
        right = ((name, probe) for name, probe in self.probes.items() if probe is not None)
        return frozenset(each for name, probe in right for each in probe.transactional_ids(name))

    def at(self, path: Path, what: str) -> Found:
        """A complaint about the value at ``path``, or about the nearest thing above that was written."""
        while path and descend(self.root, path) is None:
            path = path[:-1]
        node = descend(self.root, path) or self.root
        note = f" ({node.note})" if isinstance(node, Scalar) and node.note else ""
        return node.place, path, what + note

    def at_key(self, path: Path, what: str) -> Found:
        """A complaint about the key at the end of ``path``."""
        parent = descend(self.root, path[:-1])
        place = parent.keys.get(str(path[-1])) if isinstance(parent, MappingNode) else None
        return (place or self.root.place), path, what

    def written(self, path: Path) -> bool:
        """Whether there is something at ``path`` in the file."""
        return descend(self.root, path) is not None

    def holds(self, path: Path, text: str) -> Path:
        """The path of the value below ``path`` that is ``text``, else ``path`` itself."""
        below = descend(self.root, path)
        found = (where for where, node in scalars(below, path) if node.value == text) if below else iter(())
        return next(found, path)


def draft(root: Node, wrong: Iterable[Path]) -> Draft:
    """The parts of a scenario that have nothing ``wrong`` in them."""
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


def _entry(turn: Turn) -> Entry | None:
    return from_plain(Entry, turn.entry) if isinstance(turn.entry, dict) else None

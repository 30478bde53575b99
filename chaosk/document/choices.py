"""Mappings that must contain exactly one of several keys: the step of an entry, the kind of a probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chaosk.core.suggest import instead
from chaosk.document.blocks import written
from chaosk.document.nodes import Mapping, Node, Path, Sequence, descend
from chaosk.document.parse import Found
from chaosk.spec.contracts.stop_rules import stop_conditions
from chaosk.spec.scenario import GRAMMAR, probes, steps


def choices(root: Node) -> Iterator[Found]:
    """Yield each entry without exactly one step, and each probe or stop condition without exactly one kind."""
    named, rules = descend(root, ("probes",)), descend(root, ("stop_conditions",))
    for item in written(root):
        for path, entry in item.entries:
            yield from _one_of(entry, path, steps(), "step", GRAMMAR)
    if isinstance(rules, Sequence):
        for place, rule in enumerate(rules.items):
            yield from _one_of(rule, ("stop_conditions", place), stop_conditions(), "stop condition", ())
    if isinstance(named, Mapping):
        for name, probe in named.values.items():
            yield from _one_of(probe, ("probes", name), probes(), "kind of probe", ())


def _one_of(node: Node, path: Path, known: Iterable[str], noun: str, grammar: tuple[str, ...]) -> Iterator[Found]:
    if not isinstance(node, Mapping):
        return
    chosen = [key for key in node.values if key in known]
    unknown = [key for key in node.values if key not in known and key not in grammar]
    if not chosen and not unknown:
        yield node.place, path, f"names no {noun}; {instead('', known)}"
    if len(chosen) > 1:
        what = f"{' and '.join(chosen)} in one mapping; write one {noun} in each"
        yield node.keys[chosen[1]], (*path, chosen[1]), what

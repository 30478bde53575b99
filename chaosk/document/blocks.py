"""`repeat` as it is written: a block of timeline entries that is executed round after round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chaosk.core.suggest import instead
from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, descend
from chaosk.document.parse import Found
from chaosk.spec.scenario import GRAMMAR, steps

REPEAT, ENTRIES = "repeat", "entries"
MOST_ROUNDS = 200
"""Rounds of one block."""
MOST_ENTRIES = 500
"""Entries of a timeline with blocks, counted over all rounds."""
LONGEST_NAME = 60
"""Characters of an entry's name in a block; the number of the round is appended to it."""


@dataclass(frozen=True, slots=True)
class Written:
    """An item of the timeline: an entry, or a block of entries."""

    path: Path
    entries: tuple[tuple[Path, Node], ...]
    """The written entries, each with its path."""
    rounds: int | None
    """Repetitions of the block; None for an entry outside of any block."""
    node: Node


def written(root: Node) -> tuple[Written, ...]:
    """Return the timeline item by item; an invalid number of rounds counts as one."""
    timeline = descend(root, ("timeline",))
    items = timeline.items if isinstance(timeline, Sequence) else ()
    return tuple(_written(("timeline", place), item) for place, item in enumerate(items))


def is_block(value: object) -> bool:
    """Return True if a timeline item, as nodes or plain data, is meant as a block."""
    keys = value.values if isinstance(value, Mapping) else value
    return isinstance(keys, dict) and (REPEAT in keys or ENTRIES in keys)


def carried_out(blocks: tuple[Written, ...]) -> int:
    """Return the number of entries over all rounds."""
    return sum(len(each.entries) * (each.rounds or 1) for each in blocks)


def misfits(root: Node) -> Iterator[Found]:
    """Yield the mistakes that concern rounds; mistakes in a block's shape are found elsewhere."""
    every = written(root)
    blocks = [each for each in every if each.rounds is not None]
    for block in blocks:
        yield from _block(block)
        for path, entry in block.entries:
            yield from _inside(path, entry)
    if blocks and (count := carried_out(every)) > MOST_ENTRIES:
        path = (*blocks[0].path, REPEAT)
        what = f"with all rounds the timeline has {count} entries; write fewer rounds, for {MOST_ENTRIES} at most"
        yield (descend(root, path) or root).place, path, what


def _written(path: Path, node: Node) -> Written:
    if not is_block(node):
        return Written(path, ((path, node),), None, node)
    inner, times = descend(node, (ENTRIES,)), descend(node, (REPEAT,))
    items = inner.items if isinstance(inner, Sequence) else ()
    rounds = times.value if isinstance(times, Scalar) else None
    fits = isinstance(rounds, int) and not isinstance(rounds, bool) and 1 <= rounds <= MOST_ROUNDS
    entries = tuple(((*path, ENTRIES, place), item) for place, item in enumerate(items))
    return Written(path, entries, rounds if isinstance(rounds, int) and fits else 1, node)


def _block(block: Written) -> Iterator[Found]:
    node = block.node
    if not isinstance(node, Mapping):
        return
    if ENTRIES not in node.values:
        yield node.keys[REPEAT], block.path, "`repeat` without `entries`; list the entries of a round there"
    elif REPEAT not in node.values:
        yield node.keys[ENTRIES], block.path, "`entries` without `repeat`; write how many rounds, like `repeat: 5`"
    for key in node.values.keys() - {REPEAT, ENTRIES}:
        yield node.keys[key], (*block.path, key), _about(key)


def _about(key: str) -> str:
    if key in ("at", "after", "when"):
        return f"`repeat` begins when the entry above it is done; write `{key}` there, if need be at a `wait`"
    if key in GRAMMAR or key in steps():
        return f"`{key}` is of one entry, not of `repeat`; write it in one of the `entries`"
    return f"there is no {key!r} here; {instead(key, (REPEAT, ENTRIES))}"


def _inside(path: Path, entry: Node) -> Iterator[Found]:
    if not isinstance(entry, Mapping):
        return
    if is_block(entry):
        yield (
            entry.place,
            path,
            "a `repeat` inside another; write its entries here, as often as they are done in a round",
        )
        return
    if "at" in entry.values:
        what = "`at` would be the same moment in each round; leave it out, or write `after` or `when`"
        yield entry.keys["at"], (*path, "at"), what
    name = entry.values.get("name")
    if isinstance(name, Scalar) and len(name.text) > LONGEST_NAME:
        what = f"is too long for the number of a round behind it; write at most {LONGEST_NAME} characters"
        yield name.place, (*path, "name"), what

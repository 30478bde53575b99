"""Loading a space's file: every mistake at once, also in values that are only sometimes drawn.

Each fault is examined as the only entry of a timeline, once for each of its values, by the scenario loader itself. So a
space cannot contain anything that a scenario could not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingOf
from pathlib import Path as FilePath
from typing import Any

from chaosk.campaign.explore.space import Candidate, Explore, Space
from chaosk.campaign.explore.space_faults import Looked, choices_of, looks, span_of, unfit
from chaosk.core.model import Model
from chaosk.document.load import EXPLORE, empty, examined, merge_problems, misshapen, read, tainted, wrong
from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, descend, plain
from chaosk.document.parse import Found, parse
from chaosk.document.variables import BLOCK as VARIABLES
from chaosk.document.variables import substitute
from chaosk.document.variants import BLOCKS
from chaosk.spec.scenario import from_plain

LONGEST_NAME = 60
"""Maximum length of a space's name in characters: seed and round are appended to it."""
_TIMELINE, _FAULTS, _LAST = "timeline", "faults", "finally"
_NOTHING: MappingOf[str, str] = {}


class _Shape(Model, extra="ignore"):
    """The key of a space's file that a scenario does not have."""

    explore: Explore
    """Possible faults, their number and their times."""


def load_space(path: FilePath, sets: MappingOf[str, str] = _NOTHING) -> Space:
    """Load the space in a file, with its variables replaced by their defaults or by ``sets``. Raises DocumentError."""
    written, found = parse(read(path))
    if written is None:
        raise wrong(path, found)
    if not isinstance(written, Mapping) or EXPLORE not in written.values:
        what = "has no `explore`, so there is nothing to draw from; a scenario is run by: chaosk run FILE"
        raise wrong(path, [*found, (written.place, (), what)])
    root, more = substitute(written, sets)
    found = merge_problems(merge_problems(found, empty(written)), more)
    spared = tainted(written, found)
    found = merge_problems(found, _misplaced(written), misshapen(root, _Shape), without=spared)
    found = merge_problems(found, unfit(_items(root, _FAULTS), _items(root, _LAST)), without=spared)
    found = merge_problems(found, _scenarios(root, [*spared, *(where for _, where, _ in found)]), without=spared)
    if found or not isinstance(root, Mapping):
        raise wrong(path, found)
    return _space(path, root)


def _space(path: FilePath, root: Mapping) -> Space:
    block: Any = plain(root.values[EXPLORE])
    candidates = (
        Candidate(dict(block[_FAULTS][number]), choices_of(entry), span_of(entry))
        for number, entry in enumerate(_items(root, _FAULTS))
    )
    common = {key: plain(value) for key, value in root.values.items() if key != VARIABLES}
    return Space(path, common, tuple(candidates), from_plain(Explore, block))


def _misplaced(root: Mapping) -> Iterator[Found]:
    if _TIMELINE in root.keys:
        yield root.keys[_TIMELINE], (_TIMELINE,), "`explore` draws the timeline; remove this, or write a scenario"
    for key in (key for key in BLOCKS if key in root.keys):
        yield root.keys[key], (key,), f"`{key}` beside `explore`; keep one of them"
    name = root.values.get("name")
    if isinstance(name, Scalar) and len(name.text) > LONGEST_NAME:
        what = f"is too long for seed and round behind it; write at most {LONGEST_NAME} characters"
        yield name.place, ("name",), what


def _items(root: Node, key: str) -> tuple[Node, ...]:
    block = descend(root, (EXPLORE, key))
    return block.items if isinstance(block, Sequence) else ()


def _scenarios(root: Node, bad: Iterable[Path]) -> list[Found]:
    """Return the mistakes that the scenario loader finds in all examined scenarios, each once, by place in the file."""
    spoiled = tuple(bad)
    last = _items(root, _LAST) if not any(path[:2] == (EXPLORE, _LAST) for path in spoiled) else ()
    found: dict[Found, None] = {}
    for one in looks(_items(root, _FAULTS), (EXPLORE, _FAULTS), spoiled):
        alone = _alone(root, one, last)
        for place, where, what in examined(alone, [], ()):
            found[(place, one.written(where, (EXPLORE, _LAST)), what)] = None
    return list(found)


def _alone(root: Node, one: Looked, last: tuple[Node, ...]) -> Node:
    """Return the scenario of one fault and the entries that end every sequence."""
    if not isinstance(root, Mapping):
        return root
    timeline = Sequence(root.values[EXPLORE].place, (one.entry, *last))
    kept = {key: each for key, each in root.values.items() if key not in (EXPLORE, VARIABLES, *BLOCKS)}
    return dataclasses.replace(root, values={**kept, _TIMELINE: timeline})

"""The faults of a space as they are written: their choices, and plain entries with each of their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chaosk.campaign.explore.space import ANY, DRAWN, PREFIX, Choice, Span, named
from chaosk.core.units import parse_duration
from chaosk.document.blocks import is_block
from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, SourcePosition, descend, plain
from chaosk.document.parse import Found
from chaosk.spec.scenario import from_plain, steps

MOST_LOOKS = 200
"""Maximum number of values to examine, of all faults together."""
_ENDS = ("min", "max")
_NOWHERE = SourcePosition(1, 1)


@dataclass(frozen=True, slots=True)
class Looked:
    """A fault with one of its values, as an entry of a timeline."""

    entry: Node
    path: Path
    """Path of the fault in the file."""
    replaced: tuple[tuple[Path, Path], ...]
    """Paths of values in the entry, each with its path in the fault as written."""

    def written(self, where: Path, last: Path) -> Path:
        """Map a path in the scenario to its path in the file; ``last`` is that of the entries after the fault."""
        if where[:1] != ("timeline",) or len(where) < 2 or not isinstance(where[1], int):
            return where
        if where[1] > 0:
            return (*last, where[1] - 1, *where[2:])
        rest = where[2:]
        for stands, origin in self.replaced:
            if rest[: len(stands)] == stands:
                return (*self.path, *origin, *rest[len(stands) :])
        return (*self.path, *rest)


def choices_of(entry: Node) -> tuple[Choice, ...]:
    """Return the values of a fault that are drawn from several."""
    found = _choices(entry)
    return tuple(Choice(path, tuple(plain(item) for item in items.items)) for path, items in found)


def span_of(entry: Node) -> Span | None:
    """Return the span from which a fault's duration is drawn; None if it has none, or a choice of several."""
    lasts = descend(entry, ("for",))
    if lasts is None or (isinstance(lasts, Mapping) and ANY in lasts.values):
        return None
    return from_plain(Span, plain(lasts))


def looks(faults: Iterable[Node], path: Path, spoiled: Iterable[Path]) -> Iterator[Looked]:
    """Yield every fault that is not ``spoiled``, with its first values and then each other one.

    Yields a wait if there is no such fault, and at most ``MOST_LOOKS``.
    """
    bad, left = tuple(spoiled), MOST_LOOKS
    good = [(n, e) for n, e in enumerate(faults) if not any(_meets(each, (*path, n)) for each in bad)]
    for number, entry in good:
        for one in _looks(entry, (*path, number)):
            left -= 1
            if left >= 0:
                yield one
    if not good:
        wait = Mapping(_NOWHERE, {"duration": Scalar(_NOWHERE, "1s", "1s")})
        yield Looked(_called(Mapping(_NOWHERE, {"wait": wait})), path, ())


def unfit(faults: tuple[Node, ...], last: tuple[Node, ...]) -> Iterator[Found]:
    """Yield the mistakes in the faults of a space and in the entries that end every sequence."""
    for number, entry in enumerate(faults):
        path: Path = ("explore", "faults", number)
        if isinstance(entry, Mapping):
            yield from _entry(entry, path)
            yield from _wrong_choices(entry, path)
            yield from _wrong_span(entry, path)
    for number, entry in enumerate(last):
        if isinstance(entry, Mapping):
            yield from _ending(entry, ("explore", "finally", number))
    if sum(1 for entry in faults for _ in _looks(entry, ())) > MOST_LOOKS:
        what = f"more than {MOST_LOOKS} values to choose from; write fewer"
        yield faults[0].place, ("explore", "faults"), what


def _ending(entry: Mapping, path: Path) -> Iterator[Found]:
    if "at" in entry.values:
        what = "`at` would be the same moment however long the faults last; leave it out, or write `when`"
        yield entry.keys["at"], (*path, "at"), what
    for where in (("after",), ("after", "entry")):
        other = descend(entry, where)
        if isinstance(other, Scalar) and other.text.startswith(PREFIX):
            what = f"{other.text!r} is drawn, and not in every sequence; leave `after` out"
            yield other.place, (*path, *where), what


def _entry(entry: Mapping, path: Path) -> Iterator[Found]:
    if ANY in entry.values:
        yield entry.keys[ANY], (*path, ANY), "`any` in place of a fault; write its faults one below the other"
        return
    if is_block(entry):
        yield entry.place, path, "`repeat` cannot be drawn; write the entry itself, and let `count` be more"
        return
    for key in DRAWN:
        if key in entry.keys:
            yield entry.keys[key], (*path, key), f"`{key}` is drawn at random in a space; remove it"
    lasting = [kind for kind in entry.keys if kind in steps() and steps()[kind].lasting]
    if lasting and "for" not in entry.keys:
        what = f"{lasting[0]} without `for`; write how long it lasts, like `for: {{min: 5s, max: 20s}}`"
        yield entry.keys[lasting[0]], path, what


def _wrong_choices(entry: Mapping, path: Path) -> Iterator[Found]:
    for where, node in _drawn(entry):
        at, full = node.keys[ANY], (*path, *where)
        items = node.values[ANY]
        if len(node.values) > 1:
            yield at, full, "`any` with other keys beside it; write them elsewhere, or remove them"
        elif not isinstance(items, Sequence) or not items.items:
            yield at, (*full, ANY), "must be a list of values to choose from; write any: [A, B]"
        else:
            for number, item in enumerate(items.items):
                if next(_drawn(item), None) is not None:
                    yield item.place, (*full, ANY, number), "`any` inside another; write all values in one list"


def _wrong_span(entry: Mapping, path: Path) -> Iterator[Found]:
    lasts = entry.values.get("for")
    if not isinstance(lasts, Mapping) or ANY in lasts.values:
        return
    for key in lasts.values.keys() - set(_ENDS):
        what = f"there is no {key!r} here; write for: {{min: 5s, max: 20s}}"
        yield lasts.keys[key], (*path, "for", key), what
    for key in _ENDS:
        if key not in lasts.values:
            yield lasts.place, (*path, "for"), f"{key!r} is missing; write for: {{min: 5s, max: 20s}}"
    low, high = (_seconds(lasts.values.get(key)) for key in _ENDS)
    if low is not None and high is not None and low > high:
        yield lasts.place, (*path, "for"), "min is more than max, so nothing can be drawn; swap them"


def _seconds(node: Node | None) -> float | None:
    try:
        return parse_duration(node.value) if isinstance(node, Scalar) else None
    except ValueError:
        return None  # reported where each value is examined


def _drawn(node: Node, path: Path = ()) -> Iterator[tuple[Path, Mapping]]:
    """Yield the mappings with the key `any`, outermost only."""
    if isinstance(node, Mapping) and ANY in node.values:
        yield path, node
    elif isinstance(node, Mapping):
        for key, value in node.values.items():
            yield from _drawn(value, (*path, key))
    elif isinstance(node, Sequence):
        for number, item in enumerate(node.items):
            yield from _drawn(item, (*path, number))


def _choices(entry: Node) -> list[tuple[Path, Sequence]]:
    found = ((path, node.values[ANY]) for path, node in _drawn(entry))
    return [(path, items) for path, items in found if isinstance(items, Sequence)]


def _looks(entry: Node, path: Path) -> Iterator[Looked]:
    """Yield the entry with the first value of every choice, and then with each other value alone."""
    several = _values(entry)
    first = {where: values[0] for where, values in several.items()}
    others = [(where, one) for where, values in several.items() for one in values[1:]]
    for changed in ({}, *({where: one} for where, one in others)):
        chosen = {**first, **changed}
        made = entry
        for where, (_, node) in chosen.items():
            made = _put(made, where, node)
        yield Looked(_called(made), path, tuple((where, origin) for where, (origin, _) in chosen.items()))


def _values(entry: Node) -> dict[Path, list[tuple[Path, Node]]]:
    """Return the possible values by their path in the entry, each with its path in the file."""
    found = {
        path: [((*path, ANY, number), item) for number, item in enumerate(items.items)]
        for path, items in _choices(entry)
    }
    lasts = descend(entry, ("for",))
    if isinstance(lasts, Mapping) and ("for",) not in found:
        found[("for",)] = [(("for", key), lasts.values[key]) for key in _ENDS if key in lasts.values]
    return {path: values for path, values in found.items() if values}


def _put(node: Node, path: Path, value: Node) -> Node:
    """Return a copy of ``node`` with another value at an existing path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(node, Mapping):
        inner = {key: _put(each, rest, value) if key == step else each for key, each in node.values.items()}
        return dataclasses.replace(node, values=inner)
    if isinstance(node, Sequence):
        items = tuple(_put(each, rest, value) if number == step else each for number, each in enumerate(node.items))
        return dataclasses.replace(node, items=items)
    return node


def _called(entry: Node) -> Node:
    """Return the entry with the name that a draw would give it."""
    if not isinstance(entry, Mapping):
        return entry
    name = Scalar(entry.place, named(1), named(1))
    return dataclasses.replace(entry, values={"name": name, **entry.values}, keys={"name": entry.place, **entry.keys})


def _meets(one: Path, two: Path) -> bool:
    """Return True if one of the two paths is at or below the other."""
    return one[: len(two)] == two or two[: len(one)] == one

"""``variants:`` and ``matrix:`` of a scenario file: the same experiment with other values of its variables.

A variant sets its own values of some variables; a matrix defines one variant for each combination of its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field, replace
from itertools import islice, product

from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, SourcePosition, descend, scalars
from chaosk.document.parse import MOST_VALUES, Found
from chaosk.document.variables import BLOCK as VARIABLES
from chaosk.document.variables import declared, undeclared, unfit

VARIANTS, MATRIX = "variants", "matrix"
BLOCKS = (VARIANTS, MATRIX)
MOST = 50
"""Variants of one file; each is a run of minutes."""
_TOLD, _LONGEST = 5, 60
"""Names of variants in one message, and characters of each."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One experiment of a file."""

    name: str = ""
    """Empty if the file has no variants."""
    values: MappingOf[str, Scalar] = field(default_factory=dict)
    """Values of the variables that it sets."""

    def alone(self, root: Node) -> Node:
        """Return the document of this variant alone: its values as defaults, its name appended to the scenario's name.

        The name distinguishes folders, reports, baselines and histories.
        """
        if not isinstance(root, Mapping):
            return root
        rest = {key: each for key, each in root.values.items() if key not in BLOCKS}
        if isinstance(block := rest.get(VARIABLES), Mapping):
            own = {name: replace(each, note=f"${{{name}}} is {each.text}") for name, each in self.values.items()}
            rest[VARIABLES] = replace(block, values={**block.values, **own})
        if self.name and isinstance(name := rest.get("name"), Scalar) and isinstance(name.value, str) and name.value:
            text = f"{name.value} ({self.name})"
            rest["name"] = replace(name, value=text, text=text, note="with the variant's name behind it")
        return replace(root, values=rest)

    def does(self, known: Mapping) -> frozenset[tuple[object, ...]]:
        """Return the values of all variables, which are equal for two variants that do the same."""
        values = {name: each for name, each in {**known.values, **self.values}.items() if isinstance(each, Scalar)}
        return frozenset((name, type(each.value), each.value) for name, each in values.items())


def varying(root: Node) -> Node:
    """Return the part of a document that defines variants."""
    if not isinstance(root, Mapping):
        return Mapping(root.place, {})
    return replace(root, values={key: each for key, each in root.values.items() if key in BLOCKS})


def variants(root: Node) -> tuple[tuple[Variant, ...], list[Found]]:
    """Return a file's variants in order, as far as they can be read, and their mistakes except those of shape.

    There are no variants if the file has none, or too many.
    """
    if not isinstance(root, Mapping) or not (keys := [key for key in BLOCKS if key in root.values]):
        return (), []
    key, known = keys[0], declared(root)
    block, place = root.values[key], root.keys[key]
    found: list[Found]
    found = [(root.keys[other], (other,), f"`{key}` and `{other}` in one file; keep one of them") for other in keys[1:]]
    if not isinstance(block, Mapping):
        return (), found
    every = tuple(islice((_written if key == VARIANTS else _combined)(block, known), MOST + 1))
    if len(every) > MOST:
        return (), [*found, (place, (key,), f"more than {MOST} variants; write fewer, or several files")]
    if (count := sum(1 for _ in scalars(Variant().alone(root)))) * len(every) > MOST_VALUES:
        what = f"{len(every)} variants of {count} values are more than {MOST_VALUES} values in all"
        return (), [*found, (place, (key,), f"{what}; write fewer, or several files")]
    return every, [*found, *_unfit(key, block, known)]


def clashes(root: Node, every: Iterable[Variant], sets: MappingOf[str, str]) -> Iterator[Found]:
    """Yield valid variants that do the same or share a name, and ``sets`` of a variable in which they differ."""
    known = declared(root) if isinstance(root, Mapping) else Mapping(root.place, {})
    names: set[str] = set()
    does: dict[object, str] = {}
    for one in every:
        place, path = _where(root, one)
        if one.name in names:
            yield place, path, f"two variants are called {one.name!r}; write values without commas"
        elif (other := does.setdefault(one.does(known), one.name)) != one.name:
            yield place, path, f"does the same as {other!r}; give it other values, or remove one of them"
        names.add(one.name)
    for name, text in sets.items():
        if any(name in one.values for one in every):
            choice = f"choose with --variant: {listed(one.name for one in every)}"
            yield root.place, (), f"--set {name}={text}: it is {name!r} that the variants differ in; {choice}"


def once(found: Iterable[tuple[Variant, Iterable[Found]]]) -> list[Found]:
    """Return the mistakes of all variants, each once, with the variants' names unless all of them have it."""
    by: dict[Found, list[str]] = {}
    several = list(found)
    for variant, each in several:
        for one in dict.fromkeys(each):
            by.setdefault(one, []).append(variant.name)
    return [
        (place, path, what if len(names) == len(several) else f"{what} (in {_plural(names)} {listed(names)})")
        for (place, path, what), names in by.items()
    ]


def listed(names: Iterable[str]) -> str:
    """List names of variants in quotes; only the first of many, and the beginning of long ones."""
    every = [f"`{name if len(name) <= _LONGEST else name[:_LONGEST] + '…'}`" for name in names]
    return ", ".join(every[:_TOLD]) + (f" and {len(every) - _TOLD} more" if len(every) > _TOLD else "")


def _plural(names: list[str]) -> str:
    return "variant" if len(names) == 1 else "variants"


def _where(root: Node, one: Variant) -> tuple[SourcePosition, Path]:
    """Return the place of a variant: at its name, or in the matrix."""
    for path in ((VARIANTS, one.name), (VARIANTS,), (MATRIX,)):
        parent = descend(root, path[:-1])
        if isinstance(parent, Mapping) and path[-1] in parent.keys:
            return parent.keys[path[-1]], path
    return root.place, ()


def _written(block: Mapping, known: Mapping) -> Iterator[Variant]:
    for name, each in block.values.items():
        if isinstance(each, Mapping):
            yield Variant(name, _fit(each.values.items(), known))


def _combined(block: Mapping, known: Mapping) -> Iterator[Variant]:
    lists = {name: each.items for name, each in block.values.items() if isinstance(each, Sequence)}
    for values in product(*lists.values()):
        chosen = _fit(zip(lists, values, strict=True), known)
        yield Variant(", ".join(f"{name}={value.text}" for name, value in chosen.items()), chosen)


def _fit(values: Iterable[tuple[str, Node]], known: Mapping) -> dict[str, Scalar]:
    return {
        name: value for name, value in values
        if name in known.values and isinstance(value, Scalar) and unfit(value) is None
    }  # fmt: skip


def _unfit(key: str, block: Mapping, known: Mapping) -> Iterator[Found]:
    """Yield the mistakes in the variables that are set, and in their values, one by one."""
    for path, place, values in _settings(key, block):
        if what := undeclared(str(path[-1]), known):
            yield place, path, what
            continue
        seen: set[str] = set()
        for where, value in values:
            if what := unfit(value):
                yield value.place, where, what
            elif value.text in seen:
                yield value.place, where, f"{value.text!r} is here twice; keep one of them"
            seen.add(value.text)


def _settings(key: str, block: Mapping) -> Iterator[tuple[Path, SourcePosition, list[tuple[Path, Scalar]]]]:
    """Yield each path and place at which a variable is set, with its values and their paths."""
    for name, each in block.values.items():
        if key == MATRIX and isinstance(each, Sequence):
            items = [((key, name, number), item) for number, item in enumerate(each.items)]
            yield (key, name), block.keys[name], [(path, item) for path, item in items if isinstance(item, Scalar)]
        elif key == VARIANTS and isinstance(each, Mapping):
            for variable, value in each.values.items():
                path = (key, name, variable)
                yield path, each.keys[variable], [(path, value)] if isinstance(value, Scalar) else []

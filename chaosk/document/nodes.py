"""A YAML document as plain data with the place of each key and value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Value = str | int | float | bool | None
Plain = Value | list["Plain"] | dict[str, "Plain"]
Path = tuple[str | int, ...]
"""The keys and list positions (from 0) that lead to a node."""

_LONGEST_KEY = 80
"""Characters of a key in a message."""


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Line and column, both from 1; the column counts characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value."""

    place: SourcePosition
    value: Value
    text: str
    """The source text, without quotes."""
    note: str = ""
    """Appended to every complaint about the value, like the variable that it came from."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    place: SourcePosition
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values, in order; ``keys`` holds the place of each key."""

    place: SourcePosition
    values: dict[str, Node]
    keys: dict[str, SourcePosition] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping


def plain(node: Node) -> Plain:
    """Return the data without places, as JSON would have it."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key: plain(value) for key, value in node.values.items()}


def child(node: Node, step: str | int) -> Node | None:
    """Return the node below a key or list position, or None; numeric keys match as text."""
    if isinstance(node, Mapping):
        return node.values.get(str(step))
    if isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None


def descend(root: Node, path: Path) -> Node | None:
    """The node at ``path``, or None if there is none."""
    node: Node | None = root
    for step in path:
        node = child(node, step) if node is not None else None
    return node


def scalars(node: Node, path: Path = ()) -> Iterator[tuple[Path, Scalar]]:
    """Yield every scalar below ``node`` with its path, in order."""
    if isinstance(node, Scalar):
        yield path, node
    elif isinstance(node, Sequence):
        for place, item in enumerate(node.items):
            yield from scalars(item, (*path, place))
    else:
        for key, value in node.values.items():
            yield from scalars(value, (*path, key))


def spell(path: Path) -> str:
    """Spell a path: ``timeline[0].kill_broker.target``; long keys are cut."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{_short(step)}" for step in path).removeprefix(".")


def _short(key: str) -> str:
    return key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}…"

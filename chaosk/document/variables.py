"""``${name}`` in values: replaced in the nodes, after YAML was read, so that a value can never become structure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator
from collections.abc import Mapping as MappingOf

from chaosk.core.suggest import instead
from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, SourcePosition, scalars
from chaosk.document.parse import Found
from chaosk.document.scalars import resolve

_USE = re.compile(r"\$(\$?)\{([^}]*)\}")
BLOCK = "variables"
LONGEST = 200
"""Characters of a variable's value; it is inserted many times."""
MOST_USES = 20
"""Variables in one value."""


def substitute(root: Node, sets: MappingOf[str, str]) -> tuple[Node, list[Found]]:
    """Replace a document's variables by their defaults or ``sets``, and return it with the mistakes in its variables.

    A value that consists only of ``${name}`` takes the type of the variable. In longer text the variable's text is
    inserted. ``$${name}`` stands for the text ``${name}`` itself.
    """
    if not isinstance(root, Mapping):
        return root, []
    known = declared(root)
    found = [*defaults(root), *_unknown(known, sets, root.place)]
    chosen = {name: _chosen(name, value, sets) for name, value in known.values.items() if isinstance(value, Scalar)}
    values = {name: value for name, value in chosen.items() if len(value.text) <= LONGEST}
    used: set[str] = set()
    replaced: dict[str, Node] = {}
    for key, value in root.values.items():
        if key == BLOCK:
            replaced[key] = Mapping(value.place, dict(values), known.keys) if isinstance(value, Mapping) else value
        else:
            found += [(node.place, (key, *path), what) for path, node in scalars(value) for what in _wrong(node, known)]
            used |= {name for _, node in scalars(value) for name in _names(node)}
            replaced[key] = _replace(value, values)
    if used <= known.values.keys():  # otherwise one of the unknown names may be meant for it
        found += [
            (place, (BLOCK, name), f"{name!r} is never used; write ${{{name}}} somewhere, or remove it")
            for name, place in known.keys.items()
            if name not in used
        ]
    return Mapping(root.place, replaced, root.keys), found


def defaults(root: Node) -> Iterator[Found]:
    """Yield the mistakes in the defaults of a document's variables, used or not."""
    known = declared(root) if isinstance(root, Mapping) else Mapping(root.place, {})
    for name, value in known.values.items():
        if what := unfit(value):
            yield value.place, (BLOCK, name), what


def uses(root: Node, names: Collection[str]) -> list[Path]:
    """Return the paths of the values that use one of the variables ``names``."""
    return [path for path, node in scalars(root) if any(name in names for name in _names(node))]


def declared(root: Mapping) -> Mapping:
    """Return the variables of a document by name, with their defaults."""
    block = root.values.get(BLOCK)
    return block if isinstance(block, Mapping) else Mapping(root.place, {})


def unfit(value: Node) -> str | None:
    """Return the reason why a value cannot be a variable's; None if it can."""
    if not isinstance(value, Scalar):
        return "a variable is a single value; write a word or a number"
    if len(value.text) > LONGEST:
        return f"is longer than {LONGEST} characters; write a shorter value"
    return "a variable cannot use another; write its value" if _USE.search(value.text) else None


def undeclared(name: str, known: Mapping) -> str | None:
    """Return the complaint about an undeclared variable; None if it is declared."""
    if name in known.values:
        return None
    advice = instead(name, known.values) if known.values else f"declare it: variables: {{{name}: its default}}"
    return f"there is no variable {name!r}; {advice}"


def _unknown(known: Mapping, sets: MappingOf[str, str], place: SourcePosition) -> Iterator[Found]:
    for name, text in sets.items():
        if len(text) > LONGEST:
            yield place, (BLOCK,), f"--set {name} is longer than {LONGEST} characters; set a shorter value"
        if name not in known.values:
            advice = instead(name, known.values) if known.values else "the file has no `variables:`"
            yield place, (BLOCK,), f"--set {name}={text}: there is no variable {name!r}; {advice}"


def _chosen(name: str, default: Scalar, sets: MappingOf[str, str]) -> Scalar:
    if name not in sets:
        return dataclasses.replace(default, note=default.note or f"${{{name}}} is {default.text} by default")
    text = sets[name]
    note = f"--set {name}={text}"
    try:
        value = text if isinstance(default.value, str) else resolve(text)
    except ValueError:
        value = text
    return Scalar(default.place, value, text, note)


def _names(node: Scalar) -> Iterator[str]:
    return (name for escaped, name in _USE.findall(node.text) if not escaped)


def _wrong(node: Scalar, known: Mapping) -> Iterator[str]:
    yield from (what for name in _names(node) if (what := undeclared(name, known)))
    if len(list(_names(node))) > MOST_USES:
        yield f"uses more than {MOST_USES} variables; write fewer"


def _replace(node: Node, values: MappingOf[str, Scalar]) -> Node:
    if isinstance(node, Sequence):
        return Sequence(node.place, tuple(_replace(item, values) for item in node.items))
    if isinstance(node, Mapping):
        return Mapping(node.place, {key: _replace(value, values) for key, value in node.values.items()}, node.keys)
    whole = _USE.fullmatch(node.text)
    if whole and not whole[1] and whole[2] in values:
        return dataclasses.replace(values[whole[2]], place=node.place)
    if not isinstance(node.value, str) or not 0 < len(list(_USE.finditer(node.value))) <= MOST_USES:
        return node
    notes = [values[name].note for name in _names(node) if name in values]
    text = _USE.sub(lambda use: _inserted(use, values), node.value)
    return Scalar(node.place, text, text, ", ".join(notes))


def _inserted(use: re.Match[str], values: MappingOf[str, Scalar]) -> str:
    if use[1]:
        return use[0][1:]
    return values[use[2]].text if use[2] in values else use[0]

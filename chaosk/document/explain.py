"""Pydantic's errors as problems: located in the file, in chaosk's own words, each mistake once.

Pydantic reports each alternative of a union that did not fit; these errors are merged to one problem that names all
alternatives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from chaosk.core.messages import WANTS, wanted, words
from chaosk.core.suggest import instead, nearest
from chaosk.document.nodes import Mapping, Node, Path, Scalar, SourcePosition, child, descend, plain
from chaosk.document.parse import MOST_FOUND, Found

Error = dict[str, Any]
Loc = tuple[int | str, ...]
KEY = "[key]"
"""Pydantic's suffix of the path of a mapping's key."""


def explain(root: Node, error: ValidationError, schema: dict[str, Any]) -> list[Found]:
    """Return the mistakes in ``root``; ``schema`` is the JSON Schema of the expected document, for its known names."""
    errors: list[Error] = [dict(each) for each in error.errors(include_url=False)]
    # type "reference" is checked elsewhere
    errors = [each for each in errors if each["type"] != "reference"][:MOST_FOUND]
    errors = [each for each in errors if not _counts_failures(each, errors)]
    not_meant = _not_meant(root, errors, schema)
    likely = [each for each in errors if not any(_below(each["loc"], tried) for tried in not_meant)]
    return _complaints(root, likely, schema) or _complaints(root, errors, schema)


def _complaints(root: Node, errors: list[Error], schema: dict[str, Any]) -> list[Found]:
    by_path: dict[Path, list[Error]] = defaultdict(list)
    for each in errors:
        by_path[_path(root, each["loc"])].append(each)
    meant = set(_meant(by_path, schema))
    found = (
        complaint
        for path, several in by_path.items()
        for complaint in _at(
            root, path, [each for each in several if (*path, _key(each)) not in meant], by_path, schema
        )
    )
    return list(dict.fromkeys(found))


def _not_meant(root: Node, errors: list[Error], schema: dict[str, Any]) -> list[Loc]:
    """Return the union alternatives without a key that another alternative has: the other one was meant."""
    locs: list[Loc] = [each["loc"] for each in errors]
    extra: list[Loc] = [each["loc"] for each in errors if each["type"] == "extra_forbidden"]
    known = [loc[:-1] for loc in extra if str(loc[-1]) in known_keys(schema, _path(root, loc)[:-1])]
    return [
        tried for tried in known if any(loc[: len(tried) - 1] == tried[:-1] and not _below(loc, tried) for loc in locs)
    ]


def _counts_failures(error: Error, errors: list[Error]) -> bool:
    """Return True if a list is too short only because pydantic leaves out its invalid items."""
    start: Loc = error["loc"]
    return error["type"] == "too_short" and any(len(e["loc"]) > len(start) and _below(e["loc"], start) for e in errors)


def _below(loc: Loc, start: Loc) -> bool:
    return loc[: len(start)] == start


def _key(error: Error) -> str | None:
    """Return the missing key, if the error is a missing key."""
    return str(error["loc"][-1]) if error["type"] == "missing" else None


def _meant(by_path: dict[Path, list[Error]], schema: dict[str, Any]) -> Iterator[Path]:
    """Yield the known keys whose misspelling was found, which are therefore not missing."""
    for path, errors in by_path.items():
        if any(each["type"] == "extra_forbidden" for each in errors):
            known = nearest(str(path[-1]), known_keys(schema, path[:-1]))
            if known is not None:
                yield (*path[:-1], known)


def _path(root: Node, loc: Loc) -> Path:
    """Return the part of pydantic's location that is in the document; the rest are alternatives of unions."""
    path: list[int | str] = []
    node: Node | None = root
    for step in loc:
        inner = child(node, step) if node is not None else None
        if inner is not None:
            path.append(step)
            node = inner
    return tuple(path)


def _at(
    root: Node, path: Path, errors: list[Error], others: dict[Path, list[Error]], schema: dict[str, Any]
) -> Iterator[Found]:
    node = descend(root, path) or root
    place = node.place
    mismatched = [WANTS[each["type"]] for each in errors if each["type"] in WANTS]
    rest = [each for each in errors if each["type"] not in WANTS]
    deeper = any(len(other) > len(path) and other[: len(path)] == path for other in others)
    if mismatched and not rest and not deeper:
        yield place, path, _noted(node, wanted(tuple(mismatched), plain(node)))
    for each in rest:
        yield _one(root, path, node, each, schema)


def _one(root: Node, path: Path, node: Node, error: Error, schema: dict[str, Any]) -> Found:
    kind = error["type"]
    if kind == "extra_forbidden" or KEY in error["loc"]:
        return _key_place(root, path), path, _about_key(path, error, schema)
    if kind == "missing":
        return node.place, path, _missing(str(error["loc"][-1]), path, schema)
    if kind == "chaosk":
        return node.place, path, _noted(node, str(error["ctx"]["says"]))
    return node.place, path, _noted(node, words(kind, error.get("ctx", {}), plain(node)))


def _about_key(path: Path, error: Error, schema: dict[str, Any]) -> str:
    key = str(path[-1])
    if error["type"] == "extra_forbidden":
        return f"there is no {key!r} here; {instead(key, known_keys(schema, path[:-1]))}"
    if error["type"] == "chaosk":
        return str(error["ctx"]["says"])
    return words(error["type"], error.get("ctx", {}), key)


def _key_place(root: Node, path: Path) -> SourcePosition:
    parent = descend(root, path[:-1])
    return parent.keys[str(path[-1])] if isinstance(parent, Mapping) and str(path[-1]) in parent.keys else root.place


def _missing(key: str, path: Path, schema: dict[str, Any]) -> str:
    for level in _levels(schema, path):
        says = level.get("properties", {}).get(key, {}).get("description")
        if says:
            first = " ".join(says.split()).partition(". ")[0].rstrip(".")
            return f"{key!r} is missing; add `{key}:` ({first})"
    return f"{key!r} is missing; add `{key}:`"


def _noted(node: Node, what: str) -> str:
    return f"{what} ({node.note})" if isinstance(node, Scalar) and node.note else what


def known_keys(schema: dict[str, Any], path: Path) -> list[str]:
    """Return the keys that a mapping at ``path`` may have."""
    return sorted({key for level in _levels(schema, path) for key in level.get("properties", {})})


def _levels(schema: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    """Return every schema that may apply at ``path``, including each alternative of a union."""
    levels = _alternatives(schema, schema)
    for step in path:
        inner = [each for level in levels for each in _into(level, step)]
        levels = [each for level in inner for each in _alternatives(level, schema)]
    return levels


def _into(level: dict[str, Any], step: str | int) -> Iterator[dict[str, Any]]:
    named = level.get("properties", {}).get(step)
    others = [level.get("items"), level.get("additionalProperties"), *level.get("patternProperties", {}).values()]
    return (each for each in (others if named is None else [named]) if isinstance(each, dict))


def _alternatives(level: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in level:
        name = level["$ref"].rpartition("/")[2]
        return _alternatives(schema["$defs"][name], schema)
    inner = [each for key in ("anyOf", "oneOf", "allOf") for each in level.get(key, ())]
    return [level, *(found for each in inner for found in _alternatives(each, schema))]

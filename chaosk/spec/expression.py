"""Target and condition expressions: ``leader(orders, 0)``, ``zookeeper follower``, ``random(1, replicas(orders, 0))``.

Grammar::

    expression = name                               controller
               | name "(" argument, argument … ")"  leader(orders, 0)
               | name word                          broker 2          the same as broker(2)
               | name word …                        everyone else     the same as everyone_else
    name       = a letter, then letters, digits and _
    argument   = a word of letters, digits, . _ and -, or an expression

Names are those of the files in ``chaosk.cluster.targets`` and ``chaosk.cluster.conditions``; arguments are the fields
of the class there, in order. A tuple as the last field takes all remaining arguments. A nested expression stays text,
and the owner of the field parses it when it is needed. Targets contain only targets, conditions only conditions:
``all(isr_full(orders), not(broker_up(2)))``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, get_origin

from pydantic import ValidationError

from chaosk.core import plugins
from chaosk.core.errors import UsageError
from chaosk.core.messages import words
from chaosk.core.suggest import instead
from chaosk.spec.contracts.condition import Condition
from chaosk.spec.contracts.target import NodeKind, Target
from chaosk.spec.inventory import Inventory

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z0-9._-]+")
_LONGEST = 1000
"""Characters of an expression."""
_DEEPEST = 8
"""Levels of nested expressions."""

T = TypeVar("T", Target, Condition)


class ExpressionError(UsageError):
    """An invalid expression; ``column`` counts its characters from 1."""

    def __init__(self, text: str, column: int, what: str) -> None:
        """``what`` is the mistake and its remedy."""
        super().__init__(f"{text[:80]!r}, column {column}: {what}")
        self.column = column
        self.what = what


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    column: int


def targets() -> dict[str, type[Target]]:
    """Return every kind of target by its written name."""
    return plugins.discover("chaosk.cluster.targets", Target)


def conditions() -> dict[str, type[Condition]]:
    """Return every kind of condition by its written name."""
    return plugins.discover("chaosk.cluster.conditions", Condition)


def parse_target(text: str) -> Target:
    """Parse a target expression, which may contain only targets. Raises ExpressionError."""
    return _parse(text, targets(), "target")


def parse_condition(text: str) -> Condition:
    """Parse a condition expression, which may contain only conditions. Raises ExpressionError."""
    return _parse(text, conditions(), "condition")


def inside(value: Target | Condition) -> dict[str, Target | Condition]:
    """Map texts to the nested targets of a target, or to the nested conditions of a condition."""
    parse: Callable[[str], Target | Condition] = parse_target if isinstance(value, Target) else parse_condition
    return {text: parse(text) for text in value.nested()}


def kinds(target: Target, inventory: Inventory | None = None) -> frozenset[NodeKind]:
    """Return the kinds of nodes that a target can name, on a cluster if there is one; empty if unknown."""
    inner = [kinds(each, inventory) for each in inside(target).values() if isinstance(each, Target)]
    own = target.kinds if inventory is None else target.kinds_on(inventory)
    return own or (frozenset[NodeKind]().union(*inner) if all(inner) else frozenset())


def render(value: Target | Condition) -> str:
    """Return the canonical spelling of a target or condition; parsing it gives the same value."""
    name = plugins.name_of(type(value))
    given = [(field, getattr(value, field)) for field in type(value).model_fields]
    while given and given[-1][1] == type(value).model_fields[given[-1][0]].get_default(call_default_factory=True):
        given.pop()
    flat = [str(item) for _, each in given for item in (each if isinstance(each, tuple) else (each,))]
    return f"{name}({', '.join(flat)})" if flat else name


def _parse(text: str, known: Mapping[str, type[T]], noun: str) -> T:
    if len(text) > _LONGEST:
        raise ExpressionError(text, _LONGEST, f"longer than {_LONGEST} characters; write a shorter {noun}")
    name, arguments = _split(text, known, noun)
    if name.text not in known:
        raise ExpressionError(text, name.column, f"there is no {noun} {name.text!r}; {instead(name.text, known)}")
    value = _build(text, known[name.text], arguments)
    columns = {part.text: part.column for part in reversed(arguments)}
    for nested in value.nested():
        _check_nested(text, nested, columns.get(nested, name.column), known, noun)
    return value


def _split(text: str, known: Mapping[str, object], noun: str) -> tuple[_Token, list[_Token]]:
    start = len(text) - len(text.lstrip())
    found = _NAME.match(text, start)
    if found is None:
        raise ExpressionError(text, start + 1, f"expected the name of a {noun}; {instead('', known)}")
    name, rest = _Token(found[0], start + 1), text[found.end() :]
    if rest.lstrip().startswith("("):
        opening = text.index("(", found.end())
        return name, _arguments(text, opening)
    return _without_parentheses(text, name, rest.split(), known)


def _without_parentheses(
    text: str, name: _Token, rest: list[str], known: Mapping[str, object]
) -> tuple[_Token, list[_Token]]:
    joined = "_".join((name.text, *rest))
    if joined in known or not rest:
        return _Token(joined, name.column), []
    column = text.index(rest[0], name.column - 1 + len(name.text)) + 1
    if len(rest) > 1 or not _WORD.fullmatch(rest[0]):
        raise ExpressionError(text, column, f"unexpected {rest[0][:40]!r}; write arguments as {name.text}(a, b)")
    return name, [_Token(rest[0], column)]


def _arguments(text: str, opening: int) -> list[_Token]:
    parts, depth, begin = [], 0, opening + 1
    for position in range(opening, len(text)):
        sign = text[position]
        depth += (sign == "(") - (sign == ")")
        if depth > _DEEPEST:
            raise ExpressionError(text, position + 1, f"nested deeper than {_DEEPEST}; write it flatter")
        if (sign == "," and depth == 1) or depth == 0:
            parts.append(_argument(text, begin, position))
            begin = position + 1
        if depth == 0:
            _nothing_after(text, position + 1)
            return [] if len(parts) == 1 and not parts[0].text else parts
    raise ExpressionError(text, len(text) + 1, "a parenthesis is not closed; write ) at the end")


def _argument(text: str, begin: int, end: int) -> _Token:
    raw = text[begin:end]
    column = begin + len(raw) - len(raw.lstrip()) + 1
    part = _Token(raw.strip(), column)
    if not part.text and not (text[begin - 1] == "(" and text[end] == ")"):
        raise ExpressionError(text, column, "an argument is missing; write it, or remove the comma")
    return part


def _nothing_after(text: str, position: int) -> None:
    if text[position:].strip():
        column = position + len(text[position:]) - len(text[position:].lstrip()) + 1
        raise ExpressionError(text, column, "unexpected text after the closing parenthesis; remove it")


def _build(text: str, kind: type[T], arguments: list[_Token]) -> T:
    fields = list(kind.model_fields)
    variadic = bool(fields) and get_origin(kind.model_fields[fields[-1]].annotation) is tuple
    if len(arguments) > len(fields) and not variadic:
        extra = arguments[len(fields)]
        raise ExpressionError(text, extra.column, f"one argument too many; write {kind.spelling}")
    given: dict[str, object] = {field: part.text for field, part in zip(fields, arguments, strict=False)}
    if variadic and len(arguments) >= len(fields):
        given[fields[-1]] = tuple(part.text for part in arguments[len(fields) - 1 :])
    try:
        return kind.model_validate(given, strict=False)
    except ValidationError as error:
        raise _explained(text, kind, arguments, error) from None


def _explained(
    text: str, kind: type[Target | Condition], arguments: list[_Token], error: ValidationError
) -> UsageError:
    first = error.errors(include_url=False)[0]
    place = list(kind.model_fields).index(str(first["loc"][0])) if first["loc"] else 0
    place += int(first["loc"][1]) if len(first["loc"]) > 1 else 0
    if place >= len(arguments):
        return ExpressionError(text, len(text), f"{first['loc'][0]!r} is missing; write {kind.spelling}")
    what = words(first["type"], first.get("ctx", {}), first["input"])
    return ExpressionError(text, arguments[place].column, f"{what} ({kind.spelling})")


def _check_nested(text: str, nested: str, column: int, known: Mapping[str, type[T]], noun: str) -> None:
    """Parse a nested expression; an error's column is shifted to its position in the whole."""
    try:
        _parse(nested, known, noun)
    except ExpressionError as error:
        raise ExpressionError(text, column - 1 + error.column, error.what) from None

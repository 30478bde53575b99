"""Pydantic's errors as problems, for whatever types a plugin's fields may have: each mistake once, in our words."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError

from chaosk.core.model import Model
from chaosk.core.units import Duration
from chaosk.document.explain import explain, known_keys
from chaosk.document.nodes import plain, spell
from chaosk.document.parse import parse


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    GREEN = "green"


class Inner(Model):
    """A part."""

    size: Annotated[int, Field(ge=1, le=9)]
    """How large."""
    colour: Colour = Colour.RED


class Other(Model):
    """Another part, which can stand in the same place."""

    weight: float
    """How heavy."""


class Strange(Model):
    """Fields of every kind that a plugin may think of."""

    scalar: str | int | bool | None = None
    part: Inner | Other | None = None
    text_or_list: str | tuple[str, ...] | None = None
    pair: tuple[int, str] | None = None
    by_name: dict[str, Inner] = Field(default_factory=dict)
    several: tuple[Inner, ...] = ()
    unique: frozenset[int] = frozenset()
    choice: Literal["a", "b"] | int = "a"
    wait: Duration | None = None
    words: Annotated[tuple[str, ...], Field(min_length=2, max_length=3)] | None = None
    even: Annotated[int, Field(multiple_of=2)] | None = None
    between: Annotated[float, Field(gt=0, lt=1)] | None = None


def problems(text: str, model: type[Model] = Strange) -> list[str]:
    """What is wrong with a document of that type, each with its path."""
    root, found = parse(text.encode())
    assert root is not None
    assert not found
    try:
        model.model_validate_json(json.dumps(plain(root)))
    except ValidationError as error:
        explained = explain(root, error, model.model_json_schema())
    else:
        return []
    return sorted(f"{spell(path)}: {what}" for _, path, what in explained)


RIGHT = [
    "scalar: a", "scalar: 1", "scalar: true", "part: {size: 1}", "part: {weight: 2}", "text_or_list: a",
    "text_or_list: [a, b]", "pair: [1, a]", "by_name: {x: {size: 2, colour: green}}", "several: [{size: 1}]",
    "unique: [1, 2]", "choice: b", "choice: 7", "wait: 3s", "words: [a, b]", "even: 4", "between: 0.5",
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT)
def test_what_fits_fits(text: str) -> None:
    """JSON's rules: a list is a tuple or a set, a word a member of an enumeration."""
    assert problems(text) == []


WRONG = [
    ("scalar: [1]", "scalar: must be a single value, not a list; write one word or number"),
    ("scalar: {a: 1}", "scalar: must be a single value, not a mapping; write one word or number"),
    ("part: x", "part: must be a mapping, not 'x'; write {key: value}"),
    ("text_or_list: 5", "text_or_list: must be text or a list, not the number 5; write it in quotes: '5'"),
    ("text_or_list: [a, 5]", "text_or_list[1]: must be text, not the number 5; write it in quotes: '5'"),
    ("pair: [x, a]", "pair[0]: must be a whole number, not 'x'; write digits only, like 3"),
    ("by_name: {x: 5}", "by_name.x: must be a mapping, not the number 5; write {key: value}"),
    ("by_name: {x: {size: 0}}", "by_name.x.size: the number 0 is too small; write at least 1"),
    ("by_name: {x: {size: 1, colour: blue}}",
     "by_name.x.colour: 'blue' is not one of the choices; write one of green, red"),
    ("by_name: {x: {size: 1, color: red}}", "by_name.x.color: there is no 'color' here; did you mean 'colour'?"),
    ("by_name: {x: {}}", "by_name.x: 'size' is missing; add `size:` (How large)"),
    ("by_name: {x: {sise: 3}}", "by_name.x.sise: there is no 'sise' here; did you mean 'size'?"),
    ("several: {size: 1}", "several: must be a list, not a mapping; write [a, b]"),
    ("several: [{size: 1}, 7]", "several[1]: must be a mapping, not the number 7; write {key: value}"),
    ("unique: [a]", "unique[0]: must be a whole number, not 'a'; write digits only, like 3"),
    ("wait: 3", "wait: 3 is not a duration; write a number and a unit, like 250ms, 30s, 2m or 1h"),
    ("words: [a]", "words: a list is too short; write at least 2"),
    ("words: [a, b, c, d]", "words: a list is too long; write at most 3"),
    ("even: 3", "even: the number 3 does not fit; write a multiple of 2"),
    ("between: 1", "between: the number 1 is too large; write less than 1.0"),
    ("between: 0", "between: the number 0 is too small; write more than 0.0"),
    ("part: {weight: 2, wieght: 3}", "part.wieght: there is no 'wieght' here; did you mean 'weight'?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text for text, _ in WRONG])
def test_one_mistake_is_one_problem(text: str, said: str) -> None:
    """However many alternatives pydantic tried, the user made one mistake."""
    assert problems(text) == [said]


def test_the_alternative_that_was_meant_is_told_by_its_keys() -> None:
    """Where a mapping could be one of two, the keys that are there decide which of them it was to be."""
    assert problems("part: {size: x}") == ["part.size: must be a whole number, not 'x'; write digits only, like 3"]
    assert problems("part: {weight: x}") == ["part.weight: must be a number, not 'x'; write digits only, like 3"]
    assert problems("part: {colour: red}") == ["part: 'size' is missing; add `size:` (How large)"]


def test_all_mistakes_come_at_once() -> None:
    """Of all fields, at all depths."""
    text = "scalar: [1]\nby_name: {x: {size: 0, color: red}, y: 5}\nseveral: [{size: 1}, {}]\nwait: 3\nnope: 1\n"
    assert [line.partition(": ")[0] for line in problems(text)] == [
        "by_name.x.color", "by_name.x.size", "by_name.y", "nope", "scalar", "several[1]", "wait",
    ]  # fmt: skip


def test_places_are_those_of_values_and_of_keys() -> None:
    """A wrong value is underlined at the value, an unknown key at the key, a missing one at its mapping."""
    root, _ = parse(b"by_name:\n  x: {size: 0}\n  yy: {sise: 1, colour: red}\n  z:\n    {colour: red}\n")
    assert root is not None
    with pytest.raises(ValidationError) as caught:
        Strange.model_validate_json(json.dumps(plain(root)))
    found = explain(root, caught.value, Strange.model_json_schema())
    assert sorted((place.line, place.column) for place, _, _ in found) == [(2, 13), (3, 8), (5, 5)]


class Deep(Model):
    """A value inside itself."""

    inner: Deep | None = None
    leaf: int = 0


def test_known_keys_at_any_depth() -> None:
    """Through references, lists, mappings and unions; none where nothing is known."""
    schema: dict[str, Any] = Strange.model_json_schema()
    assert known_keys(schema, ("by_name", "x")) == ["colour", "size"]
    assert known_keys(schema, ("several", 3)) == ["colour", "size"]
    assert known_keys(schema, ("part",)) == ["colour", "size", "weight"]
    assert known_keys(schema, ("scalar",)) == []
    assert known_keys(schema, ("nowhere", "at", "all")) == []
    assert known_keys(Deep.model_json_schema(), ("inner",) * 20) == ["inner", "leaf"]


def test_a_type_within_itself_is_explained() -> None:
    """Recursive types have recursive schemas, and mistakes at any depth."""
    assert problems("inner: {inner: {inner: {laef: 1}}}", Deep) == [
        "inner.inner.inner.laef: there is no 'laef' here; did you mean 'leaf'?"
    ]

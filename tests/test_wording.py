"""Messages: ours, for every kind of error that pydantic knows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic_core._pydantic_core import list_all_errors

from chaosk.core.messages import MAPPING, TEXT, WHOLE, show, summary, wanted, words

VALUES: tuple[object, ...] = ("abc", "", 5, 1.5, True, None, {"a": 1}, [1], "x" * 500)


@pytest.mark.parametrize("error", list_all_errors(), ids=lambda error: error["type"])
def test_no_kind_of_error_leaks_its_own_words(error: dict[str, Any]) -> None:
    """Every error type of the installed pydantic gets a message that is ours and says what to do."""
    context = {key: value if value is not None else "" for key, value in (error.get("example_context") or {}).items()}
    for value in VALUES:
        said = words(error["type"], context, value)
        if error["type"] not in {"value_error", "assertion_error"}:
            assert re.search(r";|\?", said), said
        for foreign in ("Input should", "dictionary", "instance", "pydantic", "frozenset", "JSON"):
            assert foreign not in said
        assert len(said) < 400


def test_our_own_errors_pass_through() -> None:
    """A ValueError that a validator of ours raises is the message."""
    assert words("value_error", {"error": ValueError("write a or b")}, "c") == "write a or b"


@pytest.mark.parametrize(
    ("wants", "value", "said"),
    [
        ((TEXT,), 5, "must be text, not the number 5; write it in quotes: '5'"),
        ((TEXT,), True, "must be text, not true; write it in quotes: 'true'"),
        ((WHOLE,), "3", "must be a whole number, not '3'; write 3, without quotes"),
        ((WHOLE,), "three", "must be a whole number, not 'three'; write digits only, like 3"),
        (("true or false",), "yes", "must be true or false, not 'yes'; write true or false, without quotes"),
        (("a list",), "a", "must be a list, not 'a'; write [a]"),
        ((MAPPING,), "a", "must be a mapping, not 'a'; write {key: value}"),
        ((TEXT, "a list"), {"a": 1}, "must be text or a list, not a mapping; write one word or sentence or [a, b]"),
        ((TEXT, WHOLE, "true or false"), [1], "must be a single value, not a list; write one word or number"),
    ],
)
def test_wrong_kind_of_value(wants: tuple[str, ...], value: object, said: str) -> None:
    """What was wanted, what is there, and what to write: quotes where quotes are all that is missing."""
    assert wanted(wants, value) == said


def test_choice_suggests_the_nearest() -> None:
    """One of several words: the nearest is named, else all of them."""
    context = {"expected": "'preferred' or 'unclean'"}
    assert words("literal_error", context, "prefered").endswith("did you mean 'preferred'?")
    assert words("literal_error", context, "x").endswith("write one of preferred, unclean")


def test_pattern_is_explained_in_words_where_it_is_known() -> None:
    """A user is told what a name looks like, not its regular expression."""
    said = words("string_pattern_mismatch", {"pattern": r"^[a-zA-Z0-9._-]{1,249}$"}, "a b")
    assert said == "'a b' does not fit; write a topic name of letters, digits, . _ and -, like orders"


def test_long_values_are_shortened() -> None:
    """A message stays one line, however long the value is."""
    assert len(show("x" * 10_000)) <= 60
    assert show("short") == "'short'"


def test_summary_is_the_first_paragraph_on_one_line() -> None:
    """The first paragraph of a docstring, its line breaks gone."""

    def documented() -> None:
        pass

    documented.__doc__ = "First line\n    goes on.\n\n    Second paragraph.\n"
    assert summary(documented) == "First line goes on."

"""Variables: what they are replaced by, what kind the value then has, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.document.nodes import Node, Scalar, descend, plain, spell
from chaosk.document.parse import parse
from chaosk.document.variables import substitute, uses


def nodes(text: str) -> Node:
    """The nodes of a right document."""
    root, found = parse(text.encode())
    assert root is not None
    assert not found
    return root


def replaced(text: str, **sets: str) -> Any:
    """The data of a document after its variables were replaced without a complaint."""
    root, found = substitute(nodes(text), sets)
    assert not found
    return plain(root)


def complaints(text: str, **sets: str) -> list[str]:
    """What is wrong with the variables of a document, each with its path."""
    return [f"{spell(path)}: {what}" for _, path, what in substitute(nodes(text), sets)[1]]


@pytest.mark.parametrize(("written", "value"), [("6", 6), ("1.5", 1.5), ("true", True), ("30s", "30s"), ('"6"', "6")])
def test_whole_value_takes_the_kind_of_the_variable(written: str, value: object) -> None:
    """A number stays a number, text stays text, quoted or not around the variable."""
    for use in ("${x}", '"${x}"', "'${x}'"):
        data = replaced(f"variables: {{x: {written}}}\nvalue: {use}\n")
        assert data["value"] == value
        assert type(data["value"]) is type(value)


def test_inside_text_its_text_is_inserted() -> None:
    """As it was written, several times, beside others."""
    document = 'variables: {topic: orders, n: 0, yes: true}\na: "leader(${topic}, ${n})"\nb: "${n}${n} ${yes}"\n'
    assert replaced(document) == {
        "variables": {"topic": "orders", "n": 0, "yes": True},
        "a": "leader(orders, 0)",
        "b": "00 true",
    }


def test_set_overrides_the_default_and_keeps_its_kind() -> None:
    """Where the default is text the given text is text, else it is read as YAML would read it."""
    document = "variables: {hold: 30s, n: 3, version: '3.9'}\na: ${hold}\nb: ${n}\nc: ${version}\n"
    data = replaced(document, hold="1m", n="5", version="4.0")
    assert (data["a"], data["b"], data["c"]) == ("1m", 5, "4.0")
    assert data["variables"] == {"hold": "1m", "n": 5, "version": "4.0"}


def test_two_dollars_stand_for_one() -> None:
    """Text that looks like a variable can be written."""
    assert replaced('variables: {x: 1}\na: "$${x} ${x}"\nb: "$${file:/etc/x}"\n')["a"] == "${x} 1"


def test_a_value_never_becomes_structure() -> None:
    """What a variable holds is one value, however much it looks like YAML."""
    data = replaced('variables: {x: a}\nvalue: ${x}\nlist: ["${x}"]\n', x="{b: [1, 2]}, !!evil &a *b\n- c")
    assert data["value"] == "{b: [1, 2]}, !!evil &a *b\n- c"
    assert data["list"] == ["{b: [1, 2]}, !!evil &a *b\n- c"]


def test_keys_are_not_replaced() -> None:
    """Only values take variables: a key with one stays as it is written."""
    assert replaced('variables: {x: 1}\n"${x}": ${x}\n')["${x}"] == 1


HODL = "variables: --set hodl=2: there is no variable 'hodl'; did you mean 'hold'?"


@pytest.mark.parametrize(
    ("document", "sets", "said"),
    [
        ("variables: {hold: 1}\na: ${hodl}\n", {}, "a: there is no variable 'hodl'; did you mean 'hold'?"),
        ("a: ${x}\n", {}, "a: there is no variable 'x'; declare it: variables: {x: its default}"),
        ("variables: {x: 1}\na: 2\n", {}, "variables.x: 'x' is never used; write ${x} somewhere, or remove it"),
        ("variables: {hold: 1}\na: ${hold}\n", {"hodl": "2"}, HODL),
        ("a: 1\n", {"x": "2"}, "variables: --set x=2: there is no variable 'x'; the file has no `variables:`"),
        ("variables: {x: [1]}\na: ${x}\n", {},
         "variables.x: a variable is a single value; write a word or a number"),
        ("variables: {x: 1, y: '${x}'}\na: ${x}${y}\n", {},
         "variables.y: a variable cannot use another; write its value"),
    ],
)  # fmt: skip
def test_mistakes(document: str, sets: dict[str, str], said: str) -> None:
    """Unknown, unused, nested and compound variables, and values for variables that are not there."""
    assert complaints(document, **sets) == [said]


def test_values_cannot_grow_without_bound() -> None:
    """Inserted values are short and few, so a small file cannot become a large one."""
    long = "x" * 201
    assert complaints(f"variables: {{x: {long}}}\na: ${{x}}\n") == [
        "variables.x: is longer than 200 characters; write a shorter value"
    ]
    assert complaints("variables: {x: 1}\na: ${x}\n", x=long) == [
        "variables: --set x is longer than 200 characters; set a shorter value"
    ]
    assert complaints(f"variables: {{x: 1}}\na: {'${x}' * 21}\n") == ["a: uses more than 20 variables; write fewer"]
    assert replaced(f"variables: {{x: ab}}\na: {'${x}' * 20}\n")["a"] == "ab" * 20


def test_where_a_value_came_from_is_remembered() -> None:
    """A later complaint about the value can say which variable, default or --set, it came from."""
    document = "variables: {x: 5}\na: ${x}\nb: about ${x}\n"
    root, _ = substitute(nodes(document), {"x": "7"})
    for key in ("a", "b"):
        node = descend(root, (key,))
        assert isinstance(node, Scalar)
        assert node.note == "--set x=7"
    root, _ = substitute(nodes(document), {})
    node = descend(root, ("a",))
    assert isinstance(node, Scalar)
    assert node.note == "${x} is 5 by default"


def test_uses_of_a_variable_are_found() -> None:
    """The places that a wrong default spoils, so that they are not complained about as well."""
    root = nodes("variables: {x: 1, y: 2}\na: ${x}\nb: [1, 'about ${x}', '$${x}']\nc: ${y}\n")
    assert uses(root, {"x"}) == [("a",), ("b", 1)]


@given(st.text(alphabet="${}x yab$", max_size=30))
def test_any_text_is_replaced_or_complained_about(text: str) -> None:
    """Dollars and braces in any order never raise; what looks like no variable stays."""
    root = nodes("variables: {x: 1}\na: placeholder\nb: ${x}\n")
    assert hasattr(root, "values")
    root.values["a"] = Scalar(root.place, text, text)
    replaced_root, found = substitute(root, {})
    node = descend(replaced_root, ("a",))
    assert isinstance(node, Scalar)
    assert found or "${" not in text or node.value != text or "$${" in text or "}" not in text[text.index("${") :]

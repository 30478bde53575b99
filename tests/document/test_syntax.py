"""Syntax errors: libyaml's verdict in words that say what to write."""

from __future__ import annotations

import pytest
import yaml

from chaosk.document.nodes import SourcePosition
from chaosk.document.parse import parse
from chaosk.document.syntax import explained

BROKEN = [
    ("a: b: c\n", SourcePosition(1, 5), "a colon where no key can be"),
    ("a: [1, 2\nb: 3\n", SourcePosition(2, 2), "a bracket or brace is not closed"),
    ("a: {x: 1\n", SourcePosition(2, 1), "a bracket or brace is not closed"),
    ("a: ]\n", SourcePosition(1, 4), "a bracket has no partner"),
    ('a: "x\n', SourcePosition(2, 1), "a quote is not closed"),
    ("a: 'x\n", SourcePosition(2, 1), "a quote is not closed"),
    ('a: "\\z"\n', SourcePosition(1, 5), "a backslash in double quotes"),
    ("a: `x`\n", SourcePosition(1, 4), "starts nothing in YAML"),
    ("a: @x\n", SourcePosition(1, 4), "starts nothing in YAML"),
    ("a: %x\n", SourcePosition(1, 4), "starts nothing in YAML"),
    ("a:\n\tb: 1\n", SourcePosition(2, 1), "use spaces"),
    ("a:\n  - b\n c\n", SourcePosition(3, 2), "the indentation does not fit"),
    ("a: 1\n  b: 2\n", SourcePosition(2, 4), "a colon where no key can be"),
    ("a: - b\n", SourcePosition(1, 4), "a list cannot start on this line"),
    ("a: !x!y z\n", SourcePosition(1, 4), "tags (!…) are not read"),
    ("a\nb: 1\n", SourcePosition(2, 2), "a colon where no key can be"),
]


@pytest.mark.parametrize(
    ("text", "place", "says"), BROKEN, ids=[text.strip().replace("\n", "|") for text, _, _ in BROKEN]
)
def test_broken_yaml(text: str, place: SourcePosition, says: str) -> None:
    """Where reading stopped, and in our words why: one problem, and no document."""
    root, found = parse(text.encode())
    assert root is None
    assert [(each[0], each[1]) for each in found] == [(place, ())]
    assert says in found[0][2]


def test_what_is_not_known_is_still_a_message() -> None:
    """An error that libyaml may say tomorrow has a place and an advice, too."""
    place, what = explained(yaml.YAMLError("whatever"))
    assert place == SourcePosition(1, 1)
    assert what == "this is not YAML: it cannot be read; check quotes, colons and indentation"


def test_every_other_error_is_passed_on_in_full() -> None:
    """The words of the parser are kept where we have none of our own."""
    error = yaml.scanner.ScannerError("while", None, "found something new", yaml.Mark("f", 0, 4, 2, None, 0))
    place, what = explained(error)
    assert place == SourcePosition(5, 3)
    assert "found something new" in what

"""PyYAML's syntax errors in chaosk's own words: the mistake and its remedy."""

from __future__ import annotations

import yaml

from chaosk.document.nodes import SourcePosition

_SAID = {
    "mapping values are not allowed": "a colon where no key can be; quote the value, or check the indentation",
    "could not find expected ':'": "a key without a colon; write `key: value`",
    "cannot start any token": "a character that starts nothing in YAML (a tab, @, % or `); use spaces, or quote",
    "did not find expected key": "the indentation does not fit the lines above, or a quote is open; align the keys",
    "did not find expected '-' indicator": "the indentation does not fit the list above; align the dashes",
    "did not find expected ',' or": "a bracket or brace is not closed, or a comma is missing; close it",
    "did not find expected node content": "a value is missing or a bracket has no partner; write the value",
    "did not find expected <document start>": "text after the end of the document; remove it, or check the indentation",
    "unexpected end of stream": "a quote is not closed; close it",
    "unknown escape character": "a backslash in double quotes that escapes nothing; use single quotes",
    "undefined tag handle": "tags (!…) are not read; remove it",
    "block sequence entries are not allowed": "a list cannot start on this line; start it on the next line",
}
"""Our messages by a part of libyaml's."""


def explained(error: yaml.YAMLError) -> tuple[SourcePosition, str]:
    """Return the place where reading stopped, and the reason."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = SourcePosition(mark.line + 1, mark.column + 1) if mark else SourcePosition(1, 1)
    said = str(getattr(error, "problem", None) or "it cannot be read")
    ours = next((ours for part, ours in _SAID.items() if part in said), None)
    return place, ours or f"this is not YAML: {said}; check quotes, colons and indentation"

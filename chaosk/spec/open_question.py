"""Open questions of an inventory: a value that begins with ``???`` stands where a fact is missing.

``chaosk discover`` writes them, an operator replaces them, and no command runs with one of them.
"""

from __future__ import annotations

MARK = "???"
"""The beginning of an open question."""


def question(text: str) -> str:
    """Return the value that stands for a question."""
    return f"{MARK} {text}"


def question_in(value: object) -> str | None:
    """Return the question that a value stands for; None if it is no question."""
    return value.removeprefix(MARK).strip() if isinstance(value, str) and value.startswith(MARK) else None

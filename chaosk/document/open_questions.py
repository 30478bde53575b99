"""Open questions in an inventory: each is a mistake until it is answered."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.document.nodes import Node, scalars
from chaosk.document.parse import Found
from chaosk.spec.open_question import question_in


def open_questions(root: Node) -> Iterator[Found]:
    """Yield each value that is still a question, with the question."""
    for path, node in scalars(root):
        if (asked := question_in(node.value)) is not None:
            yield node.place, path, f"is an open question: {asked or 'write the value'}"

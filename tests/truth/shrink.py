"""A shrinker: from a story that a check judges wrongly, the smallest that it still judges wrongly.

It leaves out one part after the other. All attempts of a round are judged side by side, because judging a hundred
stories takes Spark no longer than judging one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.history import Row
from truth.story import Story

Failing = Callable[[Sequence[Story]], list[bool]]
"""Which of some stories are judged wrongly."""
Part = tuple[str, int]
"""A table and the number of a row in it."""
ALWAYS = ("incarnations",)
"""Tables that say who somebody is: rows that nobody names any more go at the end."""


def shrink(story: Story, failing: Failing) -> Story:
    """The smallest story that still fails; each of its rows is needed. The story itself must fail."""
    assert failing([story]) == [True]
    parts = [(name, row) for name, rows in story.rows.items() if name not in ALWAYS for row in range(len(rows))]
    pieces = 2
    while parts:
        size = max(1, -(-len(parts) // pieces))
        chunks = [parts[at : at + size] for at in range(0, len(parts), size)]
        spare = [
            chunk for chunk, fails in zip(chunks, failing([_without(story, c) for c in chunks]), strict=True) if fails
        ]
        gone = _most(story, spare, failing)
        story, parts = _after(story, parts, gone)
        if not gone and size == 1:
            break
        pieces = max(2, len(parts) // size) if gone else pieces * 2
    return _nameless(story)


def words(story: Story) -> str:
    """The rows of a story, a line each, without what is empty."""
    lines = [f"seed {story.seed}, plants {story.plants}"]
    for name, rows in story.rows.items():
        for row in rows:
            said = " ".join(f"{column}={value}" for column, value in row.items() if value is not None)
            lines.append(f"{name}: {said}")
    return "\n".join(lines)


def _most(story: Story, spare: list[list[Part]], failing: Failing) -> list[Part]:
    """As many of the chunks that can each be spared as can be spared together."""
    unions = [[part for chunk in spare[: at + 1] for part in chunk] for at in range(len(spare))]
    fails = failing([_without(story, union) for union in unions]) if len(unions) > 1 else [True] * len(unions)
    return next((union for union, still in zip(unions[::-1], fails[::-1], strict=True) if still), [])


def _without(story: Story, gone: Sequence[Part]) -> Story:
    left = set(gone)
    rows = {
        name: [dict(row) for number, row in enumerate(rows) if (name, number) not in left]
        for name, rows in story.rows.items()
    }
    return replace(story, rows=rows, known=False)


def _after(story: Story, parts: list[Part], gone: list[Part]) -> tuple[Story, list[Part]]:
    """The story without some parts, and the parts that it still has, under their new numbers."""
    if not gone:
        return story, parts
    left = _without(story, gone)
    return left, [(name, row) for name, rows in left.rows.items() if name not in ALWAYS for row in range(len(rows))]


def _nameless(story: Story) -> Story:
    named = {who for name, rows in story.rows.items() if name not in ALWAYS for row in rows for who in _processes(row)}
    kept = [row for row in story.rows["incarnations"] if (row["probe"], row["incarnation"]) in named]
    return replace(story, rows=story.rows | {"incarnations": kept})


def _processes(row: Row) -> set[tuple[str, int]]:
    return {
        (row[who], row[number])
        for who, number in (("probe", "incarnation"), ("producer", "producer_incarnation"))
        if row.get(who) is not None and row.get(number) is not None
    }

"""The shrinker, at defects planted into a copy of a rule: what is left is what shows the defect, and little else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest
from analysis.history import Row
from truth.plants import planted
from truth.reference_log import lost
from truth.reference_reading import poll_skip, redelivery
from truth.shrink import shrink, words
from truth.story import Story
from truth.told import compared

pytestmark = pytest.mark.long

Rule = Callable[[Story], Iterable[Row]]


def without_seeks(story: Story) -> Iterable[Row]:
    """B1, defective: it does not know that a consumer may seek."""
    return poll_skip(replace(story, rows=story.rows | {"seeks": []}))


def without_retention(story: Story) -> Iterable[Row]:
    """A4, defective: it takes every log to begin at 0."""
    ranges = [row | {"log_start": 0} for row in story.rows["audit_ranges"]]
    return lost(replace(story, rows=story.rows | {"audit_ranges": ranges, "offsets": []}))


def without_outcomes(story: Story) -> Iterable[Row]:
    """B4, defective: it believes commits that failed."""
    commits = [row | {"outcome": "ok"} for row in story.rows["commits"]]
    return redelivery(replace(story, rows=story.rows | {"commits": commits}))


@pytest.mark.parametrize(
    ("check", "right", "wrong", "most"),
    [
        ("poll_skip", poll_skip, without_seeks, 4),
        ("lost", lost, without_retention, 4),
        ("redelivery", redelivery, without_outcomes, 6),
    ],
)
def test_a_defect_is_shown_by_a_few_rows(check: str, right: Rule, wrong: Rule, most: int) -> None:
    """Of a thousand rows those remain without which the defect would not show."""

    def failing(stories: Sequence[Story]) -> list[bool]:
        return [compared(check, right(story)) != compared(check, wrong(story)) for story in stories]

    story = next(story for story in map(planted, range(1_000)) if failing([story])[0])
    small = shrink(story, failing)
    assert failing([small]) == [True]
    kept = sum(len(rows) for name, rows in small.rows.items() if name != "incarnations")
    assert kept <= most, words(small)
    assert sum(map(len, story.rows.values())) > 100
    assert words(small).startswith(f"seed {story.seed}, plants")

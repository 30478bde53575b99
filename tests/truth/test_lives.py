"""Topics that were deleted and made again: of each life the rules say what they say of it alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from analysis.history import ns
from pyspark.sql import SparkSession
from truth import reference_ends, reference_reading
from truth.judged import Difference, answers, differences, judged_rules
from truth.plants import planted
from truth.reference import reference
from truth.story import END, Story
from truth.test_truth import ruined
from truth.together import FORMER, LATER, both

pytestmark = [pytest.mark.spark, pytest.mark.timeout(7_200), pytest.mark.long]

PAIRS = int(os.environ.get("CHAOSK_HISTORIES", "30")) // 2
"""Pairs of stories that are judged side by side."""


@pytest.fixture
def _longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference's run ends as late as that of two lives."""
    monkeypatch.setattr(reference_reading, "RUN_ENDED", ns(END + LATER))
    monkeypatch.setattr(reference_ends, "RUN_ENDED", ns(END + LATER))
    monkeypatch.setattr(reference_ends, "END", END + LATER)


def lives(pair: int) -> tuple[Story, Story]:
    """Two stories, of which what is planted, or went wrong by chance, is different."""
    first, second = (planted, ruined) if pair % 2 else (ruined, planted)
    return first(3_000 + 2 * pair), second(3_001 + 2 * pair)


def wrong(spark: SparkSession, pairs: Sequence[tuple[Story, Story]], root: Path) -> list[Difference]:
    """What is said otherwise of pairs of lives, all in one run, than the reference says of them."""
    said = answers(spark, [story for pair in pairs for story in pair], root, judged_rules(), lives=2)
    found, told = [], Counter[bool]()
    for pair, answer in zip(pairs, said, strict=True):
        story = both(*pair)
        found += differences(story, answer, reference(story, answer))
        told.update((row.get("partition") or 0) >= FORMER for rows in answer.values() for row in rows)
    assert min(told[True], told[False]) >= len(pairs), f"hardly anything is told of one of the lives: {told}"
    return found


@pytest.mark.usefixtures("_longer")
def test_each_life_of_a_topic_is_judged_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever was planted in either, row for row; the first without what brokers tell only in the end."""
    found = wrong(spark, [lives(pair) for pair in range(PAIRS)], tmp_path / "run")
    assert not found, found[:5]

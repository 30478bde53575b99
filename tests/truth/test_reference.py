"""The reference finds exactly what was planted: model, plants and reference mean the same, without Spark."""

from __future__ import annotations

import os

import pytest
from truth.generate import flawless
from truth.plants import PLANTS, planted
from truth.reference import RULES, reference
from truth.told import telling

HISTORIES = int(os.environ.get("CHAOSK_HISTORIES", "130"))
"""Stories of each kind."""


def test_a_flawless_story_tells_nothing() -> None:
    """Crashes, restarts, rebalances, aborts, time-outs and retention as Kafka allows them: no rule has a row."""
    for seed in range(HISTORIES):
        assert telling(reference(flawless(seed))) == set(), seed


def test_what_is_planted_is_found_and_nothing_else() -> None:
    """As many anomalies and near misses as a story has room for: the rows of each, and no others, of every rule.

    Some need what few stories have: it goes on until each of them was met.
    """
    checks, plants = set[str](), set[str]()
    for seed in range(10 * HISTORIES):
        if seed >= HISTORIES and checks == set(RULES) and plants == set(PLANTS):
            break
        story = planted(seed)
        assert telling(reference(story)) == story.expected, (seed, story.plants)
        checks |= {each.check for each in story.expected}
        plants |= set(story.plants)
    assert checks == set(RULES)
    assert plants == set(PLANTS)


@pytest.mark.parametrize("kind", [flawless, planted])
def test_a_seed_repeats_its_story(kind: object) -> None:
    """A failing seed can be looked at again."""
    assert callable(kind)
    assert kind(7) == kind(7)
    assert kind(7) != kind(8)

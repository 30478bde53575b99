"""The reference finds exactly what was planted: model, plants and reference mean the same, without Spark."""

from __future__ import annotations

import os
from functools import cache

import pytest
from truth.generate import flawless
from truth.plants import PLANTS, planted
from truth.reference import RULES, reference
from truth.story import Story
from truth.told import telling

pytestmark = pytest.mark.long

HISTORIES = int(os.environ.get("CHAOSK_HISTORIES", "130" if "CHAOSK_ALL" in os.environ else "10"))
"""Stories of each kind."""
SHARES = 5
"""Tests that they are spread over, so that several processes take part."""
MANY = 400
"""Stories among which there is one with room for whatever can be planted."""


@pytest.mark.parametrize("share", range(SHARES))
def test_a_flawless_story_tells_nothing(share: int) -> None:
    """Crashes, restarts, rebalances, aborts, time-outs and retention as Kafka allows them: no rule has a row."""
    for seed in range(share, HISTORIES, SHARES):
        assert telling(reference(flawless(seed))) == set(), seed


@pytest.mark.parametrize("share", range(SHARES))
def test_what_is_planted_is_found_and_nothing_else(share: int) -> None:
    """As many anomalies and near misses as a story has room for: the rows of each, and no others, of every rule."""
    for seed in range(share, HISTORIES, SHARES):
        story = planted(seed)
        assert telling(reference(story)) == story.expected, (seed, story.plants)


@cache
def alone(name: str) -> Story:
    """The first story that has room for a plant, with nothing else planted; of an anomaly, one that must be found."""
    stories = (planted(seed, only=(name,)) for seed in range(MANY))
    return next(each for each in stories if each.plants and (each.expected or name.startswith("near_")))


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTS)
def test_each_plant_alone_is_found(name: str) -> None:
    """Every one of them is met, and has the rows that it says and no others; most near misses have none."""
    assert telling(reference(alone(name))) == alone(name).expected


def test_each_rule_has_a_plant() -> None:
    """No reference that nothing was ever planted for."""
    assert {each.check for name in PLANTS for each in alone(name).expected} == set(RULES)


@pytest.mark.parametrize("kind", [flawless, planted])
def test_a_seed_repeats_its_story(kind: object) -> None:
    """A failing seed can be looked at again."""
    assert callable(kind)
    assert kind(7) == kind(7)
    assert kind(7) != kind(8)

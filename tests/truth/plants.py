"""Plants: small changes to a flawless story, each of which breaks a rule at one place, and says what must be found.

A plant takes a partition for itself, so that no two disturb each other, and gives up (False) where the story has no
place that suits it. Those whose name begins with ``near_`` are near misses: they change something, and nothing may be
found.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from truth import plants_cluster, plants_commits, plants_log, plants_pipes, plants_reading, plants_txn
from truth.generate import flawless
from truth.story import Story, random

Plant = Callable[[Story, Random], bool]

PLANTS: dict[str, Plant] = {
    plant.__name__: plant
    for module in (plants_log, plants_reading, plants_txn, plants_pipes, plants_commits, plants_cluster)
    for plant in module.PLANTS
}  # fmt: skip
"""Every plant by name."""
MOST = 13
"""Plants tried in one story."""


def planted(seed: int, only: tuple[str, ...] | None = None) -> Story:
    """A flawless story with anomalies that its seed draws, or with ``only`` these of them."""
    story = flawless(seed)
    names = random("plants", seed).sample(sorted(PLANTS), MOST)
    for name in names:
        if (only is None or name in only) and PLANTS[name](story, random(name, seed)):
            story.plants.append(name)
    return story

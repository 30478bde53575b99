"""Plants: small changes to a flawless story, each of which breaks a rule at one place, and says what must be found.

A plant takes a partition for itself, so that no two disturb each other, and gives up (False) where the story has no
place that suits it. Those whose name begins with ``near_`` are near misses: they change something, and nothing may be
found.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from truth import (
    plants_cluster,
    plants_commits,
    plants_ends,
    plants_failures,
    plants_log,
    plants_markers,
    plants_members,
    plants_pipes,
    plants_reading,
    plants_txn,
)
from truth.generate import flawless
from truth.reference_cluster import truncation_after_ack
from truth.reference_log import duplicate_in_log, send_order
from truth.reference_reading import unseen
from truth.sightings import settings
from truth.story import Story, random
from truth.told import KEYS, TELLING

Plant = Callable[[Story, Random], bool]

PLANTS: dict[str, Plant] = {
    plant.__name__: plant
    for module in (
        plants_log, plants_reading, plants_txn, plants_pipes, plants_commits, plants_members, plants_cluster,
        plants_markers, plants_failures, plants_ends,
    )
    for plant in module.PLANTS
}  # fmt: skip
"""Every plant by name."""
MOST = 24
"""Plants tried in one story."""
DEMANDING = (
    {plant.__name__ for plant in plants_txn.PLANTS},
    {plant.__name__ for plant in plants_markers.PLANTS}
    | {"begun_behind_killed", "committed_alone", "committed_ahead", "near_not_committed", "near_skipped_across"},
)
"""Those that few stories have a place for, the rarest first: they are tried before others have taken it."""


def planted(seed: int, only: tuple[str, ...] | None = None) -> Story:
    """A flawless story with anomalies that its seed draws, or with ``only`` these, where it has room for them."""
    story = flawless(seed)
    names = only or random("plants", seed).sample(sorted(PLANTS), MOST)
    for name in sorted(names, key=lambda name: [name not in some for some in DEMANDING]):
        if PLANTS[name](story, random(name, seed)):
            story.plants.append(name)
    _follow(story)
    return story


def _follow(story: Story) -> None:
    """What follows of nearly every plant: that readers lack records (A5), and where logs end in the end (A15).

    Also what a retry excuses (A2, A8), because other plants are signs that there was one.
    """
    idempotent = {process: row["idempotent"] for process, row in settings(story).items()}
    for check, rows in (("duplicate_in_log", duplicate_in_log(story)), ("send_order", send_order(story))):
        for row in rows:
            value = tuple(row[name] for name in KEYS[check])
            if idempotent.get(value[:2]) is False and row["severity"] in TELLING:
                story.expect(check, row["severity"], *value)
    for row in unseen(story):
        story.expect("unseen", row["severity"], *(row[name] for name in KEYS["unseen"]))
    for row in truncation_after_ack(story):
        if row["leader"] is None:
            story.expect("truncation_after_ack", row["severity"], *(row[name] for name in KEYS["truncation_after_ack"]))

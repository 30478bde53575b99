"""When records left a log at the earliest, in plain Python: what a reader had passed before it had to be given."""

from __future__ import annotations

from dataclasses import dataclass

from truth.logs import Place
from truth.story import Story, place_of
from truth.truncated import SURE, cuts, unclean


def before_deletion(story: Story, place: Place, offset: int, at: int | None) -> bool:
    """Whether a leader told so long after ``at`` that its log still began at or before an offset."""
    leaders = [row for row in story.all("offsets", leader=True) if place_of(row) == place]
    told = [(row["at"], row["log_start"]) for row in leaders if row["log_start"] is not None]
    kept = max((when for when, start in told if start <= offset), default=None)
    gone = min((when for when, start in told if start > offset), default=None)
    if kept is None or at is None:
        return False
    return bool(at < (kept if gone is None else min(kept, gone)) - SURE)


@dataclass(frozen=True, slots=True)
class Passage:
    """How a reader came beyond an offset."""

    at: int | None
    """Its first delivery beyond; None if there was none, or it was before the record was sent."""
    epoch: int | None
    """The lowest leader epoch of all of them."""


def passage(story: Story, key: tuple[str, str, int], offset: int, sent: int) -> Passage:
    """How a reader passed a record of an offset that was sent at some time."""
    mine = (row for row in story.rows["reads"] if (row["group"] or row["probe"], *place_of(row)) == key)
    beyond = [row for row in mine if row["offset"] > offset]
    first = min((row["at"] for row in beyond), default=None)
    epochs = (row["leader_epoch"] for row in beyond)
    lowest = min((epoch for epoch in epochs if epoch is not None and epoch >= 0), default=None)
    return Passage(first if first is not None and first >= sent else None, lowest)


def preceded(story: Story, place: Place, offset: int, answered: int, passed: Passage) -> bool:
    """Whether a reader passed an offset before each cut that may have removed what was acknowledged there."""
    mine = [cut for cut in cuts(story) if cut.place == place] if unclean(place[0]) else []
    once = len({cut.epoch for cut in mine}) == 1
    return all(
        (passed.at is not None and passed.at < cut.since - SURE)
        or (once and passed.epoch is not None and passed.epoch < cut.epoch)
        for cut in mine
        if offset >= cut.at and answered <= cut.until
    )

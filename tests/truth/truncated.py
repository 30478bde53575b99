"""Which logs of a story were cut back, and who saw it, in plain Python: what excuses a loss by that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.history import Row
from truth.logs import Place
from truth.sightings import covers
from truth.story import TOPICS, Story, named, place_of, value_of

SURE = 5_000_000_000
"""Nanoseconds that a leader may be at work before the first sample that names it, and after the last one."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One log that was cut back."""

    place: Place
    at: int
    """The first offset that is gone."""
    since: int
    until: int
    epoch: int
    """Leader epoch of the new log."""


def unclean(topic: str) -> bool:
    """Whether an unclean election was allowed for a topic."""
    return TOPICS[topic].get("unclean.leader.election.enable") == "true"


def excused(
    story: Story,
    place: Place,
    offset: int | None,
    at: int | None = None,
    later: int | None = None,
    also: Callable[[Cut], bool] = lambda _: True,
) -> bool:
    """Whether an offset was cut from a log after ``at``, and before ``later``, by a cut of which ``also`` is true."""
    return unclean(place[0]) and any(
        cut.place == place
        and (offset is None or offset >= cut.at)
        and (at is None or at <= cut.until)
        and (later is None or later >= cut.since - SURE)
        and also(cut)
        for cut in cuts(story)
    )


def served(story: Story, place: Place, send: Row | None) -> tuple[int, int] | None:
    """The newest epoch in which a producer had been acknowledged there before it sent a record, and since when."""
    if send is None:
        return None
    who = send["probe"], send["incarnation"]
    mine = {
        (row["seq"], row["offset"]): row["completed"]
        for row in story.all("sends", probe=who[0], incarnation=who[1], outcome="ok", **named(place))
        if row["offset"] is not None and row["completed"] is not None
    }
    if story.settings((*who, 0)).get("acks") == 0:
        return None
    since: dict[int, int] = {}
    for row in (*story.all("audit", **named(place)), *story.all("reads", **named(place))):
        value = value_of(row)
        if value and value[:2] == who and row["leader_epoch"] is not None and (value[2], row["offset"]) in mine:
            done = mine[value[2], row["offset"]]
            since[row["leader_epoch"]] = min(done, since.get(row["leader_epoch"], done))
    return max(((epoch, at) for epoch, at in since.items() if at <= send["invoked"]), default=None)


def renewed(story: Story, place: Place, send: Row | None) -> Callable[[Cut], bool]:
    """Whether the producer of a record may still have written to the log that was cut."""
    last = served(story, place, send)
    return lambda cut: last is None or last[0] < cut.epoch


def cuts(story: Story) -> Iterator[Cut]:
    """A leader that was not in the ISR that was named before, nor is anyone who was when it is named first."""
    samples: dict[Place, list[Row]] = defaultdict(list)
    for row in sorted(story.rows["partitions"], key=lambda each: int(each["at"])):
        if unclean(row["topic"]) and row["leader_epoch"] is not None:
            samples[place_of(row)].append(row)
    for place, rows in samples.items():
        for epoch in sorted({row["leader_epoch"] for row in rows}):
            led = [row for row in rows if row["leader_epoch"] == epoch and row["leader"] >= 0]
            past = [row for row in rows if row["leader_epoch"] < epoch and row["isr"]]
            if led and past and not {led[0]["leader"], *led[0]["isr"]} & _last_isr(past) and not _denied(past, led[0]):
                until = max(led[0]["at"], *(row["at"] for row in rows if row["leader_epoch"] < epoch)) + SURE
                yield Cut(place, _kept(story, place, epoch) + 1, led[0]["at"], until, epoch)


def _last_isr(rows: list[Row]) -> set[int]:
    """The ISR that a broker turned to last, in the latest epoch."""
    latest = max(row["leader_epoch"] for row in rows)
    told: dict[int, list[int]] = {}
    found: list[int] = []
    for row in rows:
        if row["leader_epoch"] == latest and told.get(row["asked"]) != row["isr"]:
            told[row["asked"]] = found = row["isr"]
    return set(found)


def _denied(past: list[Row], led: Row) -> bool:
    """Whether a broker went on for long to name the new leader as in sync after another one had left it out."""
    latest = [row for row in past if row["leader_epoch"] == max(row["leader_epoch"] for row in past)]
    told: dict[int, Row] = {}
    changed = 0
    for row in latest:
        if row["asked"] not in told or told[row["asked"]]["isr"] != row["isr"]:
            changed = row["at"]
        told[row["asked"]] = row
    return any(led["leader"] in row["isr"] and row["at"] > changed + SURE for row in told.values())


def _kept(story: Story, place: Place, epoch: int) -> int:
    """The last offset of earlier epochs that is left; -1 if nobody knows, or none is."""
    cover = covers(story).get(place)
    mine = [row for row in story.rows["audit"] if place_of(row) == place and row["leader_epoch"] is not None]
    earlier = [row["offset"] for row in mine if row["leader_epoch"] < epoch]
    return max(earlier, default=-1) if cover and cover.complete else -1

"""Plants in what applications did that read, write and commit in transactions; at most one in a story."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from analysis.history import Row
from truth.logs import Place, Value
from truth.planting import torn, vanish
from truth.reference_pipes import eos
from truth.reference_reading import owned
from truth.sightings import attempts, shown_to_careful, written
from truth.story import INTO, Story, member_of, place_of, value_of

Term = tuple[Any, ...]
"""Probe, incarnation, topic, partition, assignment."""


def output_lost(story: Story, draw: Random) -> bool:
    """C4: the acknowledged output of an input that the group has committed past is gone (A4, C3)."""
    sends = attempts(story)
    row = _tap(story, draw, [row for row in _done(story) if sends.get(_output(row), _NONE)["outcome"] == "ok"])
    if row is None:
        return False
    value = _output(row)
    vanish(story, value, "reads", "audit")
    story.expect("eos", "violation", *_input(story, row), "missing")
    if value in written(story):  # else nothing shows any more that its transaction committed
        story.expect("lost", "violation", *value)
    torn(story, value)
    return True


def done_twice(story: Story, draw: Random) -> bool:
    """C4: one input has the output of another one as well, which has none then, whether it was tried or not."""
    row = _tap(story, draw, _done(story))
    if row is None:
        return False
    mine = _input(story, row)
    others = [each for each in _done(story) if _input(story, each)[0] == mine[0] and _input(story, each) != mine]
    if not others:
        return False
    other = draw.choice(others)
    story.expect("eos", "violation", *_input(story, other), "repeated")
    row |= {name: other[name] for name in ("topic", "partition", "offset")}
    found = [(each["group"], each["topic"], each["partition"], each["offset"], each["kind"]) for each in eos(story)]
    if (*mine, "missing") in found:
        story.expect("eos", "violation", *mine, "missing")
    return True


def committed_alone(story: Story, draw: Random) -> bool:
    """C4: a transaction was aborted, but its offsets were committed; what was read on is too far (B11)."""
    ends = [end for end in story.rows["transactions"] if end["outcome"] == "committed" and _outputs(story, end)]
    end = _tap(story, draw, [end for end in ends if set(_places(story, end["txn"])) <= set(story.free)])
    if end is None:
        return False
    story.free = [place for place in story.free if place not in _places(story, end["txn"])]
    end["outcome"] = "aborted"
    values = {_output(row) for row in _outputs(story, end)}
    careful = {member_of(row) for row in story.all("incarnations", isolation="read_committed")}
    story.drop("audit", lambda row: value_of(row) in values and row["isolation"] == "read_committed")
    story.drop("reads", lambda row: value_of(row) in values and member_of(row) in careful)
    for row in _outputs(story, end):
        story.expect("eos", "violation", *_input(story, row), "missing")
    for key, _, following in _parts(story, end["txn"]):
        if following is not None:
            story.expect("abort_rewind", "violation", "advance", *key, end["txn"])
        else:
            story.expect(
                "abort_rewind", "unproven", "left", *key, end["txn"]
            )  # what it committed it is not given again
    return True


def written_alone(story: Story, draw: Random) -> bool:
    """C4: a group's offset in the end is below inputs whose outputs can be read."""
    row = _tap(story, draw, _done(story))
    if row is None:
        return False
    for told in story.rows["groups"]:
        if (told["group"], *place_of(told)) == _input(story, row)[:3]:
            told["offset"] = row["offset"]
    careful = shown_to_careful(story)
    for other in story.rows["outputs"]:
        mine = _input(story, other)[:3] == _input(story, row)[:3] and other["offset"] >= row["offset"]
        if mine and _output(other) in careful:
            story.expect("eos", "violation", *_input(story, other), "uncommitted")
    return True


def rewound_further(story: Story, draw: Random) -> bool:
    """B11: after a transaction that was not committed an application reads what was before it once more."""
    found = []
    committed = {end["txn"] for end in story.rows["transactions"] if end["outcome"] == "committed"}
    for end in story.rows["transactions"]:
        for key, part, following in _parts(story, end["txn"]) if end["outcome"] != "committed" else ():
            stream = _stream(story, key)
            before = stream[: stream.index(part[0])]
            right = following is not None and following["offset"] == part[0]["offset"]
            back = before and before[-1]["offset"] < part[0]["offset"] and place_of(part[0]) in story.free
            if following and right and back and following["txn"] in committed:
                found.append((key, part, following, before[-1], end))
    one = _tap(story, draw, [{"found": each} for each in found])
    if one is None:
        return False
    key, _, following, before, end = one["found"]
    story.free.remove(place_of(before))
    again = dict(following) | {name: before[name] for name in _RECORD}
    for row in story.rows["reads"]:
        if member_of(row) == key[:2] and row["n"] >= again["n"]:
            row["n"] += 1
    story.rows["reads"].append(again)
    story.expect("abort_rewind", "violation", "further", *key, end["txn"])
    return True


# --- near misses ------------------------------------------------------------------------------------------------------


def near_undecided(story: Story, draw: Random) -> bool:
    """Of a transaction that was committed its application did not learn that: it went on where it had to."""
    ends = [end for end in story.rows["transactions"] if end["outcome"] == "committed" and _outputs(story, end)]
    end = _tap(story, draw, ends)
    if end is None:
        return False
    end["outcome"] = "info"
    return True


def near_tried_twice(story: Story, draw: Random) -> bool:
    """An input was tried once more, in a transaction that came to nothing."""
    row = _tap(story, draw, _done(story))
    if row is None:
        return False
    story.rows["outputs"].append(row | {"seq": 1_000_000})
    return True


PLANTS = (
    output_lost, done_twice, committed_alone, written_alone, rewound_further, near_undecided, near_tried_twice,
)  # fmt: skip


# --- what they share --------------------------------------------------------------------------------------------------

_NONE: Row = {"outcome": None}
_RECORD = ("offset", "producer", "producer_incarnation", "seq", "leader_epoch", "intact")


def _tap(story: Story, draw: Random, rows: list[Row]) -> Row | None:
    """One of the rows, if nothing of the kind was planted yet."""
    if story.tapped or not rows:
        return None
    story.tapped = True
    return draw.choice(rows)


def _output(row: Row) -> Value:
    """The output's value, of a row of ``outputs``."""
    return row["probe"], row["incarnation"], row["seq"]


def _input(story: Story, row: Row) -> tuple[str, str, int, int]:
    (process,) = story.all("incarnations", probe=row["probe"], incarnation=row["incarnation"])
    return process["group"], *place_of(row), row["offset"]


def _done(story: Story) -> list[Row]:
    """Outputs that can be read and whose input the group has committed past."""
    careful = shown_to_careful(story)
    ends = {owned(row): row["offset"] for row in story.rows["groups"]}
    return [
        row
        for row in story.rows["outputs"]
        if _output(row) in careful and row["offset"] < (ends.get(_input(story, row)[:3]) or 0)
    ]


def _outputs(story: Story, end: Row) -> list[Row]:
    """The outputs of a transaction that anyone was to see."""
    sends = {v for v, row in attempts(story).items() if row["txn"] == end["txn"] and row["topic"] == INTO}
    return [row for row in story.rows["outputs"] if _output(row) in sends]


def _places(story: Story, txn: str) -> list[Place]:
    """The partitions of a transaction's inputs."""
    return [place_of(row) for row in story.rows["reads"] if row["txn"] == txn]


def _stream(story: Story, key: Term) -> list[Row]:
    rows = [r for r in story.rows["reads"] if (*member_of(r), *place_of(r), r["assignment"]) == key and r["txn"]]
    return sorted(rows, key=lambda row: int(row["n"]))


def _parts(story: Story, txn: str) -> Iterator[tuple[Term, list[Row], Row | None]]:
    """By term in which a transaction was given anything: those deliveries, and the one after them."""
    keys = {(*member_of(r), *place_of(r), r["assignment"]) for r in story.rows["reads"] if r["txn"] == txn}
    for key in sorted(keys):
        stream = _stream(story, key)
        mine = [row for row in stream if row["txn"] == txn]
        after = stream[stream.index(mine[-1]) + 1 :]
        yield key, mine, after[0] if after else None

"""The rules about applications that read, write and commit in transactions (C4, B11), from the definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from analysis.history import Row
from truth.logs import Value
from truth.reference_reading import Owned, kept, owned, passed_over, proven, sightings
from truth.reference_txn import ended
from truth.sightings import covers, settings, shown_to_careful, spot_of
from truth.story import INTO, Story, member_of, named, place_of, value_of
from truth.truncated import excused


def eos(story: Story) -> Iterator[Row]:
    """C4: an input with several visible outputs, none though the group is past it, or one though it is not."""
    process, careful = settings(story), shown_to_careful(story)
    inputs: dict[tuple[Owned, int], list[Value]] = defaultdict(list)
    for row in story.rows["outputs"]:
        group = process[member_of(row)]["group"]
        inputs[(group, *place_of(row)), row["offset"]].append((*member_of(row), row["seq"]))
    for row in story.rows["reads"]:
        if process.get(member_of(row), {}).get("kind") == "transform":
            inputs.setdefault((owned(row), row["offset"]), [])
    ends = {owned(row): row["offset"] for row in story.rows["groups"]}
    nothing = {key for key, end in ends.items() if end is None}
    made = {value for values in inputs.values() for value in values}
    pipes = {who[0] for who, row in process.items() if row["kind"] == "transform"}
    strange = any(value not in made for value in careful if value and value[0] in pipes)
    for (key, offset), values in inputs.items():
        visible, committed = sum(value in careful for value in values), ends.get(key)
        if visible > 1:
            kind = "repeated"
        elif visible and key in nothing:
            kind = "uncommitted"
        elif committed is not None and (visible == 0) == (offset < committed):
            kind = "uncommitted" if visible else "missing"
        else:
            continue
        yield {
            "severity": "unproven" if not visible and (strange or not _whole(story)) else "violation", "kind": kind,
            "group": key[0], "topic": key[1], "partition": key[2], "offset": offset, "outputs": visible,
            "attempts": len(values), "committed": committed, "into": INTO,
        }  # fmt: skip


def _whole(story: Story) -> bool:
    """Whether all outputs that there are were audited, and none may have been deleted."""
    cover = covers(story)
    cut = any(row["log_start"] > 0 for row in story.rows["audit_ranges"] if row["topic"] == INTO)
    return not cut and all(place in cover and cover[place].complete for place in story.logs if place[0] == INTO)


def abort_rewind(story: Story) -> Iterator[Row]:
    """B11: what is delivered after a transaction that was not committed is not what it began with."""
    ends, shown, seen = ended(story), proven(story), sightings(story, deleted=True)
    streams: dict[Any, list[Row]] = defaultdict(list)
    for row in sorted(story.rows["reads"], key=lambda each: int(each["n"])):
        if row["txn"] is not None:
            streams[*member_of(row), *place_of(row), row["assignment"]].append(row)
    for (probe, incarnation, topic, partition, assignment), stream in streams.items():
        for txn in {row["txn"] for row in stream}:
            mine = [number for number, row in enumerate(stream) if row["txn"] == txn]
            outcome = ends.get(txn, {}).get("outcome", "committed")
            due = _remaining(story, [stream[number] for number in mine])
            if (
                outcome == "aborted"
                and mine[-1] + 1 == len(stream)
                and due is not None
                and not _again(story, due, stream[mine[-1]])
            ):
                yield {
                    "severity": "unproven", "kind": "left", "probe": probe, "incarnation": incarnation, "topic": topic,
                    "partition": partition, "assignment": assignment, "txn": txn, "outcome": outcome,
                    "first": stream[mine[0]]["offset"], "last": stream[mine[-1]]["offset"], "next": None,
                    "expected": None,
                }  # fmt: skip
            if outcome == "committed" or mine[-1] + 1 == len(stream):
                continue
            first, last, following = (stream[n]["offset"] for n in (mine[0], mine[-1], mine[-1] + 1))
            later = [o for o in shown["read_committed", topic, partition] if o > last]
            expected = min(later, default=None) if outcome == "info" else None
            onward = outcome == "info" and following > last and (expected is None or following <= expected)
            after = stream[mine[-1] + 1]
            span = (last + 1 if outcome == "info" and following > last else first, following)
            there = kept(story, (topic, partition), seen["read_committed", topic, partition], after["at"])
            over = passed_over(there, span, after["at"], (None, after["leader_epoch"]))
            if following != first and not onward and (following < first or over is not None):
                cut = first - 1 if following < first else over
                began = min(stream[number]["at"] for number in mine)
                gone = excused(story, (topic, partition), cut, began, later=after["at"])
                yield {
                    "severity": "allowed" if gone else "violation",
                    "kind": "further" if following < first else "advance",
                    "probe": probe, "incarnation": incarnation, "topic": topic, "partition": partition,
                    "assignment": assignment, "txn": txn, "outcome": outcome, "first": first, "last": last,
                    "next": following, "expected": expected,
                }  # fmt: skip


def _remaining(story: Story, inputs: list[Row]) -> Row | None:
    """The first input of a transaction in a partition that the log still has; the first of all if nobody knows."""
    place = place_of(inputs[0])
    cover = covers(story).get(place)
    if cover is None or not cover.complete:
        return inputs[0]
    there = {(value_of(r), spot_of(r)) for r in story.all("audit", isolation="read_committed", **named(place))}
    left = [row for row in inputs if (value_of(row), spot_of(row)) in there]
    return min(left, key=lambda row: int(row["offset"]), default=None)


def _again(story: Story, input_: Row, last: Row) -> bool:
    """Whether its group was given an input after the last one of its transaction, or in one that was committed."""
    same = ("group", "topic", "partition", "offset")
    ends = ended(story)
    others = [row for row in story.rows["reads"] if all(row[name] == input_[name] for name in same)]
    return any(row["at"] > last["at"] or ends.get(row["txn"], {}).get("outcome") == "committed" for row in others)

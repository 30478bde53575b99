"""The rules about reading and committing (B) in plain Python, from the definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from analysis.history import Row
from truth.logs import Place, Value
from truth.reference_log import absences, excuses_reader
from truth.removals import before_deletion
from truth.sightings import Spot, acknowledged, attempts, covers, in_log, settings, spot_of, written
from truth.story import LEVELS, RUN_ENDED, Story, member_of, place_of, value_of
from truth.truncated import SURE, Cut, excused

Owned = tuple[str, str, int]
"""Group, topic, partition."""


def owned(row: Row) -> Owned:
    """Group and place of a row."""
    return row["group"], row["topic"], row["partition"]


# --- B1, B2: step by step ---------------------------------------------------------------------------------------------


def steps(story: Story) -> Iterator[tuple[Row, Row]]:
    """Neighbouring deliveries of one member, partition and assignment without a seek of that partition between."""
    streams: dict[Any, list[Row]] = defaultdict(list)
    for row in story.rows["reads"]:
        streams[member_of(row), place_of(row), row["assignment"]].append(row)
    sought = [(member_of(row), place_of(row), row["at"]) for row in story.rows["seeks"]]
    for (member, place, _), stream in streams.items():
        times = [at for who, where, at in sought if (who, where) == (member, place)]
        for before, row in pairwise(sorted(stream, key=lambda each: int(each["n"]))):
            if not any(before["at"] <= at <= row["at"] for at in times):
                yield before, row


def poll_skip(story: Story) -> Iterator[Row]:
    """B1: a step over an offset that is proven to hold a record which the reader may see, and which was there then."""
    shown = sightings(story, deleted=True)
    careful = {who: row["isolation"] != "read_uncommitted" for who, row in settings(story).items()}
    for before, row in steps(story):
        place, level = place_of(row), LEVELS[careful.get(member_of(row), True)]
        epochs = before["leader_epoch"], row["leader_epoch"]
        there = kept(story, place, shown[level, *place], row["at"])
        over = passed_over(there, (before["offset"] + 1, row["offset"]), row["at"], epochs)
        if over is not None and not _rewound(story, before, row):
            yield _step(story, before, row) | {"skipped": over}
    for seek, before, row in _sought(story):
        place, level = place_of(row), LEVELS[careful.get(member_of(row), True)]
        left = member_of(row), place, seek["offset"] - 1, before["poll"]
        mine = (each for each in story.rows["reads"] if (member_of(each), place_of(each)) == left[:2])
        low = next((each["leader_epoch"] for each in mine if (each["offset"], each["poll"]) == left[2:]), None)
        seen = kept(story, place, shown[level, *place], row["at"])
        over = passed_over(seen, (seek["offset"], row["offset"]), row["at"], (low, row["leader_epoch"]))
        if over is not None and not _rewound(story, before, row):
            past = before | {"offset": seek["offset"] - 1, "at": seek["at"]}
            yield _step(story, past, row) | {"skipped": over}


def _sought(story: Story) -> Iterator[tuple[Row, Row, Row]]:
    """Seeks in the middle of an assignment, with the delivery before each and the lowest one of the poll after it."""
    for seek in story.rows["seeks"]:
        whose = member_of(seek), place_of(seek)
        reads = [row for row in story.rows["reads"] if (member_of(row), place_of(row)) == whose]
        before = max((row for row in reads if row["at"] < seek["at"]), key=lambda row: int(row["n"]), default=None)
        first = min((row["at"] for row in reads if row["at"] >= seek["at"]), default=None)
        others = [s["at"] for s in story.rows["seeks"] if (member_of(s), place_of(s)) == whose]
        if before is None or first is None or any(seek["at"] < at <= first for at in others):
            continue
        row = min((row for row in reads if row["at"] == first), key=lambda row: int(row["offset"]))
        if row["assignment"] == before["assignment"] and row["offset"] > seek["offset"]:
            yield seek, before, row


def poll_order(story: Story) -> Iterator[Row]:
    """B2: a step that does not lead forward."""
    return (
        _step(story, before, row)
        for before, row in steps(story)
        if row["offset"] <= before["offset"] and not _rewound(story, before, row)
    )


def _rewound(story: Story, before: Row, row: Row) -> bool:
    """Whether the step leads out of a transaction that was not committed, as far as anybody knows: B11's."""
    ends = {each["txn"]: each["outcome"] for each in story.rows["transactions"]}
    return (
        None not in (before["txn"], row["txn"])
        and before["txn"] != row["txn"]
        and (ends.get(before["txn"], "committed") != "committed")
    )


Sighting = tuple[int, int | None, int | None]
"""Offset, leader epoch, and when the record was sent; None where nobody knows."""


def kept(story: Story, place: Place, shown: Iterable[Sighting], at: int) -> Iterator[Sighting]:
    """Those that cannot have been deleted by then: from the highest log start on, or told to be there later."""
    cover = covers(story).get(place)
    for each in shown:
        if cover is None or each[0] >= cover.start or before_deletion(story, place, each[0], at):
            yield each


def passed_over(
    shown: Iterable[Sighting], between: tuple[int, int], at: int | None, epochs: tuple[int | None, int | None]
) -> int | None:
    """The first offset from one on and below another whose record was there when they were passed; None for none."""
    low, high = epochs
    found = [
        offset
        for offset, epoch, sent in shown
        if between[0] <= offset < between[1]
        and not (epoch is not None and low is not None and epoch < low)
        and not (epoch is not None and high is not None and epoch > high)
        and not (sent is not None and at is not None and sent > at)
    ]
    return min(found, default=None)


def proven(story: Story, *, deleted: bool = False) -> dict[tuple[str, str, int], set[int]]:
    """By isolation and place the offsets that hold a record; from the log's start on, or those ``deleted``, too."""
    seen = sightings(story, deleted=deleted)
    found: dict[tuple[str, str, int], set[int]] = defaultdict(set)
    found.update({key: {offset for offset, *_ in shown} for key, shown in seen.items()})
    return found


def sightings(story: Story, *, deleted: bool = False) -> dict[tuple[str, str, int], set[Sighting]]:
    """The same, each with its leader epoch and when it was sent."""
    found: dict[tuple[str, str, int], set[Sighting]] = defaultdict(set)
    process, cover, sends, known = settings(story), covers(story), attempts(story), in_log(story)
    for row in story.rows["audit"]:
        found[row["isolation"], *place_of(row)].add(_sighting(row, sends))
    for row in story.rows["reads"]:
        if row["topic"] == "compacted":
            continue  # it may have been removed before the next reader came
        level = process.get(member_of(row), {}).get("isolation") or "read_committed"
        found[level, *place_of(row)].add(_sighting(row, sends))
    for value in written(story):
        send = sends[value]
        audited = cover.get(place_of(send))
        firm = process.get(value[:2], {}).get("acks") == -1 and not (audited and audited.complete)
        firm = firm and send["topic"] != "compacted"
        spots = known.get(value)
        if firm and spots and acknowledged(send) and min(spots) <= spot_of(send) <= max(spots):
            found["read_committed", *place_of(send)].add((send["offset"], None, send["invoked"]))
    for place in {(topic, partition) for _, topic, partition in found}:
        start = cover[place].start if place in cover and not deleted else 0
        found[LEVELS[0], *place] |= found[LEVELS[1], *place]
        for level in LEVELS:
            found[level, *place] = {each for each in found[level, *place] if each[0] >= start}
    return found


def _sighting(row: Row, sends: dict[Value, Row]) -> Sighting:
    send = sends.get(value_of(row) or ("", 0, 0))
    return row["offset"], row["leader_epoch"], send["invoked"] if send else None


def _step(story: Story, before: Row, row: Row) -> Row:
    names = ("probe", "incarnation", "group", "assignment", "topic", "partition", "offset", "poll", "n")
    allowed = excused(story, place_of(row), before["offset"], before["at"], row["at"])
    severity = "allowed" if allowed else "violation"
    past: Row = {"severity": severity, "before": before["offset"], "before_poll": before["poll"]}
    return past | {name: row[name] for name in names}


# --- A5, B3, B4: group by group ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Holding:
    """What a reader had of a partition."""

    orphaned: bool
    """Whether no member held it in the end."""
    start: int | None
    known_at: int | None
    """When it had the position that it began at."""
    lowest: int | None
    reached: int | None
    committed: int | None
    beyond: int | None
    """Up to which offset a member sought after it had begun to read."""
    automatic: bool
    offsets: set[int]

    @property
    def sought(self) -> bool:
        """Whether a member sought after it had begun."""
        return self.beyond is not None


def holdings(story: Story) -> dict[Owned, Holding]:
    """By group and partition that it was ever given; a transform's group, too."""
    groups = {row["group"] for row in story.rows["incarnations"]}
    return {key: each for key, each in debts(story).items() if key[0] in groups}


def reader_of(row: Row) -> str:
    """The group of a row, or the probe that has none."""
    return str(row["group"] or row["probe"])


def debts(story: Story) -> dict[Owned, Holding]:
    """By reader and partition that it was ever given."""
    whose = {member_of(row): reader_of(row) for row in story.rows["incarnations"]}
    automatic = {member_of(row) for row in story.rows["incarnations"] if row["commit"] == "automatic"}
    alone = {row["probe"] for row in story.readers() if row["group"] is None}
    found: dict[Owned, Holding] = {}
    by_key: dict[Owned, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for table in ("assignments", "reads"):
        for row in story.rows[table]:
            by_key[reader_of(row), row["topic"], row["partition"]][table].append(row)
    for key, mine in by_key.items():
        moves, reads = mine["assignments"], mine["reads"]
        if not moves:
            continue
        offsets = {row["offset"] for row in reads}
        first = min((row["at"] for row in reads), default=None)
        seeks = [row for row in story.rows["seeks"] if (whose.get(member_of(row)), *place_of(row)) == key]
        seeks.sort(key=lambda row: row["at"])
        by_seek = _moved_at_once([row["at"] for row in seeks], first)
        asked = min((r for r in story.rows["fetched"] if owned(r) == key), key=lambda r: r["completed"], default=None)
        began = seeks[0]["offset"] if by_seek else (asked["offset"] or 0) if asked else 0 if key[0] in alone else None
        known_at = seeks[0]["at"] if by_seek else asked["completed"] if asked else None
        later = [row["offset"] for row in (seeks[1:] if by_seek else seeks)]
        done = [row for row in story.rows["commits"] if owned(row) == key and row["outcome"] == "ok"]
        last = max(done, key=lambda row: (row["completed"], row["offset"]), default={"offset": None})
        told = [r["offset"] for r in story.rows["groups"] if owned(r) == key and r["offset"] is not None]
        found[key] = Holding(
            orphaned=not any(began <= RUN_ENDED <= ended for began, ended in _terms(story, moves)),
            start=None if began is None else min([began, *offsets]),
            known_at=known_at, lowest=min(offsets, default=None), reached=max(offsets, default=None),
            committed=max(told) if told else last["offset"],
            beyond=max(later, default=None),
            automatic=any(member_of(row) in automatic for row in moves if row["kind"] == "assign")
            or any(row["kind"] == "auto" for row in done),
            offsets=offsets,
        )  # fmt: skip
    return found


def _terms(story: Story, moves: list[Row]) -> Iterator[tuple[int, int]]:
    """From when until when a member held a partition: a killed one until its probe's next process began."""
    started = {member_of(row): row["started"] for row in story.rows["incarnations"]}
    for who, number in {(member_of(row), row["assignment"]) for row in moves}:
        mine = [row for row in moves if (member_of(row), row["assignment"]) == (who, number)]
        given = [row["at"] for row in mine if row["kind"] == "assign"]
        taken = [row["at"] for row in mine if row["kind"] != "assign"]
        next_ones = [
            at for (probe, which), at in started.items() if probe == who[0] and which > who[1] and at > started[who]
        ]
        over = min(next_ones, default=RUN_ENDED + 1) if who in story.killed() and who in started else RUN_ENDED + 1
        if given:
            yield min(given), min(taken, default=over)


def _moved_at_once(seeks: list[int], first: int | None) -> bool:
    """Whether a member sought before the group had read anything: then it did not begin at what it found."""
    return bool(seeks) and (first is None or min(seeks) <= first)


Blind = tuple[int, int | None, int]
"""Offsets from one to before another, and until when their process may have been there."""


def blind(story: Story) -> dict[Owned, list[Blind]]:
    """By group and partition the offsets that killed members may have had: from one past their last to the next one's.

    What a killed process did last is not written down.
    """
    found: dict[Owned, list[Blind]] = defaultdict(list)
    for who in story.killed():
        for key in {owned(r) for r in story.rows["assignments"] if member_of(r) == who and r["group"]}:
            given = [r for r in story.rows["assignments"] if member_of(r) == who and owned(r) == key]
            if not any(row["kind"] == "assign" for row in given):
                continue
            reads = [row for row in story.rows["reads"] if owned(row) == key]
            mine = [row for row in reads if member_of(row) == who]
            last_at = max((row["at"] for row in mine), default=0)
            later = [row for row in reads if member_of(row) != who and row["at"] > last_at]
            onward = min(later, key=lambda row: row["at"])["offset"] if later else None
            found[key].append((max((row["offset"] for row in mine), default=-1) + 1, onward, _over(story, who)))
    return found


def _over(story: Story, who: tuple[str, int]) -> int:
    """When a killed process had ended at the latest: when its probe's next process began."""
    started = {member_of(row): row["started"] for row in story.rows["incarnations"]}
    later = [at for (probe, which), at in started.items() if probe == who[0] and which > who[1] and at > started[who]]
    return min(later, default=2**62)


def hidden(spans: list[Blind], offset: int, sent: int | None = None) -> bool:
    """Whether an offset is in one of these stretches, and was not sent after the end of their process."""
    here = [over for low, high, over in spans if low <= offset and (high is None or offset < high)]
    return any(sent is None or sent <= over for over in here)


def unseen(story: Story) -> Iterator[Row]:
    """A5: written, in the log, owed to a reader from its position on, and never given to it."""
    sends, known, spans = attempts(story), in_log(story), blind(story)
    shown = {level: {value_of(row) for row in story.rows["audit"] if row["isolation"] == level} for level in LEVELS}
    given: dict[str, set[Value | None]] = defaultdict(set)
    for row in story.rows["reads"]:
        given[reader_of(row)].add(value_of(row))
    gone = dict(absences(story))
    in_full = {value for value in written(story) if all(value in level for level in shown.values())}
    late = {value for value in written(story) - in_full if value in gone and gone[value].offset is not None}
    groups = {row["group"] for row in story.rows["incarnations"]}
    for (reader, topic, partition), holding in debts(story).items():
        for value in in_full | late:
            spot = min(known[value]) if value in known else spot_of(sends[value])
            if value in late and excuses_reader(story, gone[value], reader):
                continue
            if spot[:2] != (topic, partition) or value in given[reader]:
                continue
            if holding.start is not None and spot[2] < holding.start:
                if holding.known_at is not None and sends[value]["invoked"] > holding.known_at:
                    there = excused(story, (topic, partition), spot[2])
                    yield {
                        "severity": "allowed" if there else "unproven", "group": reader, **_value(value),
                        "topic": topic, "partition": partition, "offset": spot[2], "reached": holding.reached,
                    }  # fmt: skip
                continue
            passed = holding.reached is not None and spot[2] <= holding.reached
            sought = holding.beyond is not None and spot[2] < holding.beyond
            sent = sends[value]["invoked"]
            unclear = reader in groups and hidden(spans[reader, topic, partition], spot[2], sent)
            if unclear and not sought and reader in groups and _ran_ahead(holding, spot[2]):
                continue
            certain = holding.start is not None or (holding.lowest is not None and spot[2] >= holding.lowest)
            cut = passed and certain and _overwritten(story, (reader, topic, partition), spot[2], sends[value])
            severity = "unproven" if not passed or not certain or cut or unclear or sought else "violation"
            yield {
                "severity": severity, "group": reader, **_value(value), "topic": topic,
                "partition": partition, "offset": spot[2], "reached": holding.reached,
            }  # fmt: skip


def _overwritten(story: Story, key: Owned, offset: int, send: Row) -> bool:
    """Whether the log was cut there, and the reader had passed the offset before the record was sent."""
    reads = [row for row in story.rows["reads"] if (reader_of(row), *place_of(row)) == key]
    before = any(row["offset"] >= offset and row["at"] <= send["invoked"] for row in reads)
    return before and excused(story, key[1:], offset)


def _ran_ahead(holding: Holding, offset: int) -> bool:
    """Whether automatic commits passed an offset: B3 tells of it then, if a killed process may have had it."""
    known = holding.start is not None and holding.committed is not None
    return known and holding.automatic and offset < (holding.committed or 0)


def commit_skip(story: Story) -> Iterator[Row]:
    """B3: visible to all, at or after the group's first position, below its committed offset, and never given to it."""
    spans, sends = blind(story), attempts(story)
    careful = [row for row in story.rows["audit"] if row["isolation"] == "read_committed"]
    for (group, topic, partition), holding in holdings(story).items():
        if holding.start is None or holding.committed is None:
            continue
        for row in careful:
            offset = row["offset"]
            inside = place_of(row) == (topic, partition) and holding.start <= offset < holding.committed
            if inside and offset not in holding.offsets:
                send = sends.get(value_of(row) or ("", 0, 0))
                unclear = hidden(spans[group, topic, partition], offset, send["invoked"] if send else None)
                allowed = unclear and holding.automatic
                severity = "allowed" if allowed else "unproven" if unclear else "violation"
                sought = holding.beyond is not None and offset < holding.beyond
                yield {
                    "severity": "unproven" if sought else severity, "group": group, "topic": topic,
                    "partition": partition, "offset": offset, "committed": holding.committed,
                    **{name: row[name] for name in ("producer", "producer_incarnation", "seq")},
                }  # fmt: skip


def redelivery(story: Story) -> Iterator[Row]:
    """B4: more than one delivery of an offset to a group; too many where a member begins below what was committed."""
    times: dict[tuple[str, Spot, Value | None], list[Row]] = defaultdict(list)
    for row in story.rows["reads"]:
        if row["group"] is not None:
            times[row["group"], spot_of(row), value_of(row)].append(row)
    held = holdings(story)
    for (group, spot, _), rows in times.items():
        if len(rows) > 1:
            terms = {(member_of(row), row["assignment"]) for row in rows}
            due = [each for who, number in terms for each in _due(story, (group, *spot[:2]), who, number)]
            committed = max((each.surely for each in due), default=None)
            perhaps = max((each.perhaps for each in due), default=-1)
            holding = held.get((group, *spot[:2]))
            sought = bool(holding and holding.sought)
            excess = committed is not None and spot[2] < committed and not sought
            again = min(row["at"] for row in rows), max(row["at"] for row in rows)
            lost = [found for who, number in terms for found in _behind(story, (group, *spot), who, number)]
            later = found_after(min(lost)) if lost else lambda _: True
            allowed = excess and excused(story, spot[:2], (committed or 0) - 1, *again, also=later)
            mild = "unproven" if spot[2] < perhaps and not sought else "information"
            yield {
                "severity": mild if not excess else "allowed" if allowed else "violation", "group": group,
                "topic": spot[0], "partition": spot[1], "offset": spot[2], "deliveries": len(rows),
                "committed": committed if committed is None or spot[2] < committed else max(committed, perhaps),
            }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Due:
    """Where a member has to begin: at one offset for sure, and at another one perhaps."""

    surely: int
    perhaps: int


def _due(story: Story, key: Owned, who: tuple[str, int], assignment: int) -> Iterator[Due]:
    """The newest commit when a member asked, or was given the partition if it was not answered; none without any."""
    answer, given = _answer(story, key, who, assignment), _given(story, key, who, assignment)
    when = answer["invoked"] if answer else given
    mine = [row for row in story.rows["commits"] if owned(row) == key]
    done = [row for row in mine if row["outcome"] == "ok" and row["completed"] is not None]
    before = [row for row in done if when is not None and row["completed"] < when]
    if when is None or not before:
        return
    highest, newest = max(row["offset"] for row in before), max(_sent(story, row) for row in before)
    followed = {id(row): _follower(row, done) for row in done}

    def older(row: Row) -> bool:
        return row in done and (row["completed"] < newest or followed[id(row)] < when)

    def replaced(row: Row) -> bool:
        issued = [r["invoked"] for r in before if member_of(r) == member_of(row) and r["kind"] != "auto"]
        late = row["outcome"] == "info" and row["invoked"] < newest
        return older(row) or late or row["invoked"] < max(issued, default=0)

    if answer is not None:
        same = [r for r in mine if r["offset"] == answer["offset"] and r["invoked"] < answer["completed"]]
        found = any((row["outcome"] == "info" or row in done) and not replaced(row) for row in same)
        yield Due(*[min(answer["offset"], highest) if found else highest] * 2)
        return

    may = [row for row in mine if (row in done or row["outcome"] == "info") and row["invoked"] < when]
    left = [row for row in may if not replaced(row)]
    yield Due(
        min((row["offset"] for row in left), default=highest),
        max((row["offset"] for row in left if row in before), default=highest),
    )


def _sent(story: Story, commit: Row) -> int:
    """When a commit was sent at the earliest; nobody knows when automatic ones are."""
    if commit["kind"] != "auto":
        return int(commit["invoked"])
    return _given(story, owned(commit), member_of(commit), commit["assignment"]) or 0


def _follower(commit: Row, done: list[Row]) -> int:
    """When the next commit of a member that waits for each was acknowledged."""
    if commit["kind"] == "async":
        return 2**62
    mine = sorted(
        (row for row in done if member_of(row) == member_of(commit)), key=lambda row: (row["completed"], row["offset"])
    )
    number = next(number for number, row in enumerate(mine) if row is commit)
    return int(mine[number + 1]["completed"]) if number + 1 < len(mine) else 2**62


def _given(story: Story, key: Owned, who: tuple[str, int], assignment: int) -> int | None:
    """When a member was given a partition."""
    mine = [row for row in story.rows["assignments"] if member_of(row) == who and owned(row) == key]
    return min((r["at"] for r in mine if r["kind"] == "assign" and r["assignment"] == assignment), default=None)


def _answer(story: Story, key: Owned, who: tuple[str, int], assignment: int) -> Row | None:
    """The first answer of the committed offset to a member in an assignment."""
    mine = [row for row in story.rows["assignments"] if member_of(row) == who and owned(row) == key]
    given = [r["at"] for r in mine if r["kind"] == "assign" and r["assignment"] == assignment]
    again = [r["at"] for r in mine if r["kind"] == "assign" and r["assignment"] > assignment]
    asked = [row for row in story.rows["fetched"] if member_of(row) == who and owned(row) == key]
    answers = [row for row in asked if given and min(given) <= row["completed"] < min(again, default=2**62)]
    return min(answers, key=lambda row: int(row["completed"]), default=None)


def _behind(
    story: Story, where: tuple[str, str, int, int], who: tuple[str, int], assignment: int
) -> Iterator[tuple[int, int]]:
    """What a member found that began at or before an offset though more was committed, and when that was committed."""
    key, offset = where[:3], where[3]
    answer = _answer(story, key, who, assignment)
    committed = max((each.surely for each in _due(story, key, who, assignment)), default=0)
    if answer and committed > offset and (answer["offset"] is None or answer["offset"] <= offset):
        same = [row for row in story.rows["commits"] if owned(row) == key and row["offset"] == answer["offset"]]
        at = max((row["invoked"] for row in same if row["invoked"] < answer["completed"]), default=0)
        yield (-1 if answer["offset"] is None else answer["offset"]), at


def found_after(found: tuple[int, int]) -> Callable[[Cut], bool]:
    """Whether a cut explains an offset that a member found, and that was last committed at a time."""
    return lambda cut: found[0] >= cut.at or found[1] >= cut.since - SURE


def _value(value: Value) -> Row:
    return {"producer": value[0], "producer_incarnation": value[1], "seq": value[2]}

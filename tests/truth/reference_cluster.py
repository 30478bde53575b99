"""The rules about whole logs and their leaders (A3, A10, A11, A13 to A16) in plain Python, from the definitions."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from analysis.history import Row
from truth.logs import Place, Value
from truth.reference_log import deposed, followed, inconsistent_offset
from truth.reference_reading import debts, reader_of, steps
from truth.sightings import Spot, acknowledged, attempts, covers, in_log, settings, spot_of, written
from truth.story import TOPICS, Story, member_of, named, place_of, value_of
from truth.truncated import SURE, excused, renewed

CELL = 250_000_000
"""To this many nanoseconds it is known what a log had reached."""
DEPOSED = 5_000_000_000
"""Nanoseconds before anyone names a later leader, from when on the one before it is not held to what it does not know.
"""


def lost_write(story: Story) -> Iterator[Row]:
    """A3: a reader passed an acknowledged record that nobody ever had, where no audit is complete."""
    sends, known, cover = attempts(story), in_log(story), covers(story)
    starts: dict[Place, int] = defaultdict(int)
    for row in (*(r for r in story.rows["offsets"] if r["leader"]), *story.rows["audit_ranges"]):
        starts[place_of(row)] = max(starts[place_of(row)], row["log_start"] or 0)
    jumps = [(since["offset"], to["offset"], to["at"], place_of(to)) for since, to in steps(story)]
    for (reader, *where), debt in debts(story).items():
        first = [row["at"] for row in story.rows["reads"] if (reader_of(row), *place_of(row)) == (reader, *where)]
        if debt.start is not None and debt.lowest is not None and debt.start < debt.lowest:
            jumps.append((debt.start - 1, debt.lowest, min(first), (str(where[0]), int(str(where[1])))))
    for value in written(story):
        row = sends[value]
        place, audited = place_of(row), cover.get(place_of(row))
        if value in known or not acknowledged(row) or (audited and audited.complete) or place[0] == "compacted":
            continue
        passed = any(
            there == place and before < row["offset"] < after and at >= row["completed"]
            for before, after, at, there in jumps
        )
        if passed and row["offset"] >= starts[place]:
            acks = settings(story).get(value[:2], {}).get("acks")
            risky = acks is not None and (acks == 0 or (acks != -1 and deposed(story, place, row)))
            old = renewed(story, place, row)
            allowed = excused(story, place, row["offset"], row["completed"], also=old) or risky
            severity = "allowed" if allowed else "violation"
            yield {"severity": severity, **_named(value), **_at(spot_of(row)), "acks": acks}


def unknown_value(story: Story) -> Iterator[Row]:
    """A10: a whole record of a process that never ran, or none where one of ours is known to be."""
    started, sightings, ours = set(settings(story)), Counter[tuple[Spot, Value | None]](), set[Spot]()
    for table in ("reads", "audit"):
        for row in story.rows[table]:
            value = value_of(row)
            sightings[spot_of(row), value] += value is None or value[:2] not in started
            ours |= {spot_of(row)} if value else set()
    process = settings(story)
    for value, row in attempts(story).items():
        if acknowledged(row) and process.get(value[:2], {}).get("acks") == -1:
            ours.add(spot_of(row))
    yield from _not_sent_there(story)
    for (spot, value), count in sightings.items():
        kind = "unknown" if value else "corrupt" if spot in ours else "foreign"
        severity = {"unknown": "violation", "foreign": "information"}.get(kind)
        if count:
            cut = "allowed" if excused(story, spot[:2], spot[2]) else "violation"
            yield {
                "severity": severity or cut, "kind": kind, **_at(spot),
                **(_named(value) if value else _NOBODY), "sightings": count,
            }  # fmt: skip


def _not_sent_there(story: Story) -> Iterator[Row]:
    """Whole records that a process which told all did not send, or that stand in another partition than they were."""
    sends, told = attempts(story), set(settings(story)) - story.killed()
    seen = Counter((spot_of(row), value) for table in ("reads", "audit") for row in story.rows[table]
                   if (value := value_of(row)))  # fmt: skip
    for (spot, value), count in seen.items():
        row = sends.get(value)
        elsewhere = row is not None and row["partition"] is not None and place_of(row) != spot[:2]
        kind = "unsent" if row is None and value[:2] in told else "misplaced" if elsewhere else None
        if kind:
            yield {"severity": "violation", "kind": kind, **_at(spot), **_named(value), "sightings": count}


_NOBODY: Row = {"producer": None, "producer_incarnation": None, "seq": None}


def shown(story: Story, *, firm: bool) -> dict[Place, list[tuple[int, int]]]:
    """By partition the highest offset known, each time that rose, by cell; ``firm``: not by a leader alone."""
    return {place: _rising(known) for place, known in told(story, firm=firm).items()}


def told(story: Story, *, firm: bool) -> dict[Place, list[tuple[int, int]]]:
    """By partition whatever named an offset: when it was known, and the offset."""
    found: dict[Place, list[tuple[int, int]]] = defaultdict(list)
    process = settings(story)
    for value, row in attempts(story).items():
        certain = process.get(value[:2], {}).get("acks") == -1
        if acknowledged(row) and row["completed"] is not None and (certain or not firm):
            found[place_of(row)].append((row["completed"], row["offset"]))
    for row in story.rows["reads"]:
        found[place_of(row)].append((row["at"], row["offset"]))
    return found


def _known_at(known: list[tuple[int, int]], until: int) -> int:
    """When the highest offset before the cell of a moment was known: the last time in its cell that anything was."""
    cells: dict[int, tuple[int, int]] = {}
    for at, offset in known:
        highest, last = cells.get(at // CELL, (-1, 0))
        cells[at // CELL] = max(highest, offset), max(last, at)
    return max((each for cell, each in cells.items() if cell < until // CELL), default=(-1, 0))[1]


def _rising(known: list[tuple[int, int]]) -> list[tuple[int, int]]:
    highest, found = -1, []
    for at, offset in sorted(known):
        if offset > highest:
            highest = offset
            found.append((at // CELL, offset))
    return found


def reached(known: list[tuple[int, int]], at: int) -> int:
    """The highest offset that was known before the cell of a moment; -1 for none."""
    before = bisect_left(known, (at // CELL, -1))
    return known[before - 1][1] if before else -1


def stale_append(story: Story) -> Iterator[Row]:
    """A11: acknowledged at an offset that the log was known to have before the record was sent."""
    told, firm, process = shown(story, firm=False), shown(story, firm=True), settings(story)
    crowded = {spot_of(row) for row in inconsistent_offset(story)}
    for value, row in attempts(story).items():
        if not acknowledged(row) or spot_of(row) in crowded:
            continue
        highest, surely = (reached(each.get(place_of(row), []), row["invoked"]) for each in (told, firm))
        acks = process.get(value[:2], {}).get("acks")
        if row["offset"] <= highest:
            proven = row["offset"] <= surely
            cut = excused(story, place_of(row), row["offset"], later=row["completed"])
            turn = followed(story, place_of(row))
            alone = (acks != -1 or not proven) and turn is not None and turn <= row["completed"] + SURE
            violated = not alone and not cut
            yield {
                "severity": "violation" if violated else "allowed", **_named(value), **_at(spot_of(row)),
                "reached": surely if proven else highest, "acks": acks,
            }  # fmt: skip


def leader_epoch_regression(story: Story) -> Iterator[Row]:
    """A13: in the order of the offsets, a record of an earlier leader behind one of a later leader."""
    epochs: dict[Place, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for table in ("reads", "audit"):
        for row in story.rows[table]:
            if row["leader_epoch"] is not None and row["leader_epoch"] >= 0:
                epochs[place_of(row)][row["offset"]].add(row["leader_epoch"])
    for place, seen in epochs.items():
        for before, offset in pairwise(sorted(seen)):
            if min(seen[offset]) < max(seen[before]):
                yield {
                    "severity": "allowed" if excused(story, place, offset) else "violation", **_at((*place, offset)),
                    "before": before, "before_epoch": max(seen[before]), "leader_epoch": min(seen[offset]),
                }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What a leader said of its log, and what was known of it by then."""

    place: Place
    leader: int
    epoch: int
    log_end: int | None
    high_watermark: int | None
    reached: int
    shown: int
    """When that was known."""
    at: int


def answers(story: Story) -> Iterator[Answer]:
    """The answers of brokers that held themselves to be leaders, as they said right before."""
    firm, certain = shown(story, firm=True), told(story, firm=True)
    views: dict[Place, list[Row]] = defaultdict(list)
    for row in story.rows["partitions"]:
        views[place_of(row)].append(row)
    for row in story.rows["offsets"]:
        mine = [view for view in views[place_of(row)] if view["leader_epoch"] is not None]
        said = [v for v in views[place_of(row)] if v["asked"] == row["asked"] and v["at"] <= row["at"]]
        view = max(said, key=lambda each: int(each["at"]), default=None)
        if not row["leader"] or view is None or view["leader_epoch"] is None or view["leader"] != row["asked"]:
            continue
        later = [
            v["at"] - DEPOSED
            for v in mine
            if v["leader_epoch"] > view["leader_epoch"] and v["leader"] != view["leader"]
        ]
        until = min([view["at"], *later])
        known = reached(firm.get(place_of(row), []), until)
        yield Answer(
            place_of(row), row["asked"], view["leader_epoch"], row["log_end"], row["high_watermark"], known,
            _known_at(certain.get(place_of(row), []), until), row["at"],
        )  # fmt: skip


def end_offset_regression(story: Story) -> Iterator[Row]:
    """A14: the end that consumers are told lies at or before what was shown, and the log itself still has it."""
    wrong: dict[tuple[Place, int, int], list[Answer]] = defaultdict(list)
    for each in answers(story):
        held = each.log_end is None or each.log_end > each.reached
        if each.high_watermark is not None and each.high_watermark <= each.reached and held:
            wrong[each.place, each.leader, each.epoch].append(each)
    for term, several in wrong.items():
        yield _ends(story, term, several) | {"high_watermark": min(each.high_watermark or 0 for each in several)}


def truncation_after_ack(story: Story) -> Iterator[Row]:
    """A15: a leader's own log ends at or before what was shown."""
    wrong: dict[tuple[Place, int, int], list[Answer]] = defaultdict(list)
    for each in answers(story):
        if each.log_end is not None and each.log_end <= each.reached:
            wrong[each.place, each.leader, each.epoch].append(each)
    for term, several in wrong.items():
        yield _ends(story, term, several) | {"log_end": min(each.log_end or 0 for each in several)}
    yield from _cut_in_the_end(story)


def _cut_in_the_end(story: Story) -> Iterator[Row]:
    """The same of where the audit found logs to end: no leader's word."""
    careful = {who for who, row in settings(story).items() if row["acks"] == -1}
    acked = [row for row in story.rows["sends"] if acknowledged(row) and member_of(row) in careful]
    shown = [(place_of(row), row["offset"], row["completed"]) for row in acked if row["completed"] is not None]
    shown += [(place_of(row), row["offset"], row["at"]) for row in story.rows["reads"]]
    for place in {place_of(row) for row in story.rows["audit_ranges"]}:
        ends = [r["end"] for r in story.all("audit_ranges", **named(place)) if r["isolation"] == "read_uncommitted"]
        mine = [(offset, at) for where, offset, at in shown if where == place]
        if covers(story)[place].complete and mine and min(ends) <= max(mine)[0]:
            offset, at = max(mine)
            yield {
                "severity": "allowed" if excused(story, place, offset, at) else "violation", **named(place),
                "leader": None, "leader_epoch": None, "offset": offset, "log_end": min(ends), "samples": 0,
            }  # fmt: skip


def ack_below_min_isr(story: Story) -> Iterator[Row]:
    """A16: sent and acknowledged by all in sync between two samples, and all from one to the other name too few.

    Open if the leader itself names too few for five seconds around one.
    """
    careful = {who for who, row in settings(story).items() if row["acks"] == -1}
    for place in story.logs:
        bound = int(TOPICS[place[0]].get("min.insync.replicas", 1))
        sends = [row for row in story.all("sends", **named(place), outcome="ok") if member_of(row) in careful]
        samples = sorted(story.all("partitions", **named(place)), key=lambda row: (row["at"], row["asked"]))
        for short, group in groupby(samples, key=lambda row: len(row["isr"]) < bound):
            rows = list(group)
            began, ended = rows[0]["at"], rows[-1]["at"]
            inside = [row["offset"] for row in sends if began <= row["invoked"] <= row["completed"] <= ended]
            own = [row["at"] for row in rows if row["asked"] == row["leader"]]
            sure = own and any(min(own) + SURE <= r["invoked"] and r["completed"] <= max(own) - SURE for r in sends)
            if short and inside:
                yield {
                    "severity": "unproven" if sure else "information", **named(place), "first": min(inside),
                    "last": max(inside), "min_isr": bound, "isr": max(len(row["isr"]) for row in rows),
                    "samples": len(rows), "acknowledged": len(inside),
                }  # fmt: skip


def _ends(story: Story, term: tuple[Place, int, int], several: list[Answer]) -> Row:
    place, leader, epoch = term
    offset = max(each.reached for each in several)
    times = min(each.shown for each in several), max(each.at for each in several)
    return {
        "severity": "allowed" if excused(story, place, offset, *times) else "violation", "leader": leader,
        "leader_epoch": epoch, **_at((*place, offset)), "samples": len(several),
    }  # fmt: skip


def _named(value: Value) -> Row:
    return {"producer": value[0], "producer_incarnation": value[1], "seq": value[2]}


def _at(spot: Spot) -> Row:
    return {"topic": spot[0], "partition": spot[1], "offset": spot[2]}

"""The rules about the log (A) in plain Python: as few loops over dicts as their definitions need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from analysis.history import Row, ns
from truth.logs import Place, Value
from truth.removals import before_deletion, passage, preceded
from truth.sightings import Cover, Spot, acknowledged, attempts, covers, in_log, settings, spot_of, written
from truth.story import INTO, LEVELS, Story, named, place_of, value_of
from truth.truncated import SURE, cuts, excused, renewed, served, unclean

FAULT = (ns(1), ns(6))
"""When the kill of every made-up run began, and when it was healed."""
TIMEOUT = ns(30) - ns(0)
"""Nanoseconds after which a producer sends again what nobody answered."""


def inconsistent_offset(story: Story) -> Iterator[Row]:
    """A1: one place at which different values were seen or acknowledged."""
    seen: dict[Spot, list[tuple[Value, bool]]] = defaultdict(list)
    for table in ("reads", "audit"):
        for row in story.rows[table]:
            if value := value_of(row):
                seen[spot_of(row)].append((value, True))
    known, sends = in_log(story), attempts(story)
    proven_txns = {row["txn"] for value, row in sends.items() if value in known}
    for value, row in sends.items():
        happened = value in known or (row["txn"] is not None and row["txn"] in proven_txns)
        proven = row["outcome"] == "info" and row["offset"] is not None and row["offset"] >= 0 and happened
        if acknowledged(row) or proven:
            seen[spot_of(row)].append((value, False))
    process = settings(story)
    for spot, sightings in seen.items():
        if len({value for value, _ in sightings}) > 1:
            firm = {v for v, in_the_log in sightings if in_the_log or process.get(v[:2], {}).get("acks") == -1}
            alone = len(firm) <= 1 and followed(story, spot[:2]) is not None
            violated = not alone and not excused(story, spot[:2], spot[2])
            yield {
                "severity": "violation" if violated else "allowed", **_at(spot),
                "read": sum(in_the_log for _, in_the_log in sightings),
                "acknowledged": sum(not in_the_log for _, in_the_log in sightings),
            }  # fmt: skip


def duplicate_in_log(story: Story) -> Iterator[Row]:
    """A2: one value at two places; one that was only acknowledged is in no log. A retry excuses a loose producer."""
    sends, process = attempts(story), settings(story)
    for value, spots in in_log(story).items():
        row = sends.get(value)
        places = spots | ({spot_of(row)} if row and acknowledged(row) else set())
        if len(places) > 1:
            idempotent = process.get(value[:2], {}).get("idempotent")
            other = max(places)
            loose = "unproven" if idempotent is None or not resent(story, value, min(places)[:2]) else "allowed"
            copied = None if idempotent is None else _copied(story, value, places)
            yield {
                "severity": copied or ("violation" if idempotent else loose),
                **_named(value), **_at(min(places)), "other_topic": other[0], "other_partition": other[1],
                "other_offset": other[2], "outcome": row["outcome"] if row else None, "idempotent": idempotent,
            }  # fmt: skip


def _copied(story: Story, value: Value, places: set[Spot]) -> str | None:
    """Whether each copy but the last was cut off a log, and the next one is of a later one."""
    rows = [r for table in ("reads", "audit") for r in story.rows[table] if value_of(r) == value]
    epochs = {spot: max((r["leader_epoch"] or -1 for r in rows if spot_of(r) == spot), default=-1) for spot in places}
    there = {spot_of(row) for row in story.rows["audit"] if value_of(row) == value}
    in_turn = sorted(places, key=lambda spot: (epochs[spot], spot[2]))
    send = attempts(story).get(value)
    if acknowledged(send) and send is not None and spot_of(send) != in_turn[-1]:
        return None
    sure = True
    for spot, following in pairwise(in_turn):
        cover = covers(story).get(spot[:2])
        mine = [
            cut for cut in (cuts(story) if unclean(spot[0]) else ())
            if spot[:2] == following[:2] == cut.place and spot[2] >= cut.at and spot not in there
            and 0 <= epochs[spot] < cut.epoch <= epochs[following]
        ]  # fmt: skip
        if not mine:
            return None
        sure = sure and cover is not None and cover.complete
    return "allowed" if sure else "unproven"


def resent(story: Story, value: Value, place: Place) -> bool:
    """Whether anything shows that a client may have sent a record again: no answer, a fault, errors, another leader.

    All within five seconds of its sending and its answer. No producer of a story is without retries.
    """
    send = attempts(story).get(value)
    if send is None or send["outcome"] != "ok" or send["completed"] is None:
        return True
    began, ended = send["invoked"] - SURE, send["completed"] + SURE
    mine = [row for row in story.rows["sends"] if (row["probe"], row["incarnation"]) == value[:2]]
    failed = [row["completed"] for row in mine if row["outcome"] != "ok" and row["completed"] is not None]
    in_fault = FAULT[0] <= send["completed"] and FAULT[1] >= began
    long = send["completed"] - send["invoked"] >= TIMEOUT
    changes = [(low, high) for low, high in _changes(story, place) if low <= ended and high >= began]
    return in_fault or long or bool(changes) or any(began <= at <= ended for at in failed)


def _changes(story: Story, place: Place) -> Iterator[tuple[int, int]]:
    """Yield when a leader epoch was first named, and when an older one was named for the last time."""
    views = [(row["leader_epoch"], row["at"]) for row in story.rows["partitions"] if place_of(row) == place]
    views = [(epoch, at) for epoch, at in views if epoch is not None]
    for epoch in {epoch for epoch, _ in views}:
        named = min(at for number, at in views if number == epoch)
        if older := [at for number, at in views if number < epoch]:
            yield named, max(named, *older)


def lost(story: Story) -> Iterator[Row]:
    """A4: acknowledged or read, and not in the log at both levels, with what this run shows to excuse it."""
    owed = written(story)
    for value, gone in absences(story):
        cleaned = gone.place[0] == "compacted" and value not in owed and _aborted(story, gone.send)
        if not deleted(story, gone) and not (cleaned and gone.cover and gone.cover.complete):
            yield {
                "severity": _answer(story, gone), "kind": _kind(gone), "acknowledged": value in owed, **_named(value),
                "topic": gone.place[0], "partition": gone.place[1], "offset": gone.offset, "acks": gone.acks,
            }  # fmt: skip


def absences(story: Story) -> Iterator[tuple[Value, Gone]]:
    """The records that were acknowledged or read, and are not in the log at both levels, excused or not."""
    sends, known, owed, cover = attempts(story), in_log(story), written(story), covers(story)
    levels = [{value_of(row) for row in story.rows["audit"] if row["isolation"] == level} for level in LEVELS]
    stored, visible = levels
    read: dict[Value, list[Row]] = defaultdict(list)
    for row in story.rows["reads"]:
        if value := value_of(row):
            read[value].append(row)
    plain = {value for value, row in sends.items() if row["txn"] is None}
    half = {value for value in owed | plain if (value in stored) != (value in visible)}
    process = settings(story)
    for value in {*(owed | set(read)) - stored - visible, *half}:
        place, offset = _whereabouts(sends.get(value), known.get(value, set()))
        audited = value in stored or value in visible
        if place is not None:
            if value in read and not audited:
                offset = max(spot_of(row) for row in read[value])[2]
            first = min((row["at"] for row in read.get(value, ())), default=None)
            yield value, Gone(
                place, offset, cover.get(place), sends.get(value), first, process.get(value[:2], {}).get("acks"),
                value in stored, value in visible,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gone:
    """A record that is missing: where it was, what the audit proves there, its send, when it was read first, acks."""

    place: Place
    offset: int | None
    cover: Cover | None
    send: Row | None
    read: int | None
    acks: int | None
    stored: bool
    """Whether the audit has it at read_uncommitted."""
    visible: bool
    """Whether the audit has it at read_committed."""

    @property
    def below(self) -> bool:
        """Whether the log begins behind it."""
        return self.cover is not None and self.offset is not None and self.offset < self.cover.start


def _kind(gone: Gone) -> str:
    given = "truncated_after_read" if gone.read is not None else "lost"
    return "hidden" if gone.stored or gone.visible else "deleted" if gone.below else given


def _answer(story: Story, gone: Gone) -> str:
    found = gone.cover
    if found is None or not found.complete or gone.visible or gone.place[0] == "compacted":
        return "unproven"
    if gone.stored and gone.offset is not None and gone.offset >= (found.visible_end or 0):
        return "unproven"
    if gone.offset is None and found.trimmed:
        return "allowed" if gone.acks == 0 and gone.read is None else "unproven"
    answered = gone.send["completed"] if gone.send and gone.send["completed"] is not None else None
    hole, old = amid(story, gone), renewed(story, gone.place, gone.send)
    least, most = _between(story, gone)
    if not hole and least is not None and excused(story, gone.place, least, answered or gone.read, also=old):
        return "allowed"
    if lone(story, gone):
        return "allowed"
    open_ended = gone.offset is None and excused(story, gone.place, most, answered or gone.read, also=old)
    return "unproven" if open_ended else "violation"


def lone(story: Story, gone: Gone) -> bool:
    """Whether acks allow the loss: a leader may have had it alone, or no broker had to acknowledge it."""
    alone = gone.acks not in {None, -1} and deposed(story, gone.place, gone.send)
    return gone.read is None and (gone.acks == 0 or (alone and not amid(story, gone) and not replicated(story, gone)))


def excuses_reader(story: Story, gone: Gone, reader: str) -> bool:
    """Whether the log answers for a reader that lacks a written record, too: not if it had passed it before.

    What the log excuses by a deletion or by a cut counts only if that may have come before.
    """
    if gone.send is None or gone.offset is None:
        return True
    passed = passage(story, (reader, *gone.place), gone.offset, gone.send["invoked"])
    answered = gone.send["completed"]
    by_cut = excused(story, gone.place, gone.offset, answered)
    not_cut = by_cut and preceded(story, gone.place, gone.offset, answered, passed)
    if deleted(story, gone):
        if not before_deletion(story, gone.place, gone.offset, passed.at):
            return True
        return lone(story, gone) or (by_cut and not not_cut)
    if _answer(story, gone) != "allowed" or not not_cut:
        return True
    return lone(story, gone)


def amid(story: Story, gone: Gone) -> bool:
    """Whether one leader's records are on both sides of an offset, and none is at it.

    Where markers or foreign records may stand, only if that leader had acknowledged the producer before.
    """
    rows, last = story.all("audit", **named(gone.place)), served(story, gone.place, gone.send)
    if gone.offset is None or any(row["offset"] == gone.offset for row in rows):
        return False
    mixed = gone.place[0] in {"orders", "compacted", INTO}
    mixed |= any(send["txn"] is not None for send in story.all("sends", **named(gone.place)))
    mixed |= any(not row["intact"] for row in (*rows, *story.all("reads", **named(gone.place))))
    spans: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if row["leader_epoch"] is not None:
            spans[row["leader_epoch"]].append(row["offset"])
    return any(
        min(offsets) < gone.offset < max(offsets) and (not mixed or (last is not None and last[0] >= epoch))
        for epoch, offsets in spans.items()
    )


def _between(story: Story, gone: Gone) -> tuple[int | None, int | None]:
    """Between which offsets a record stood, by its neighbours of the same producer if it names none."""
    if gone.offset is not None or gone.send is None:
        return gone.offset, gone.offset
    send = gone.send
    process = story.settings((send["probe"], send["incarnation"], 0))
    sent = story.all("sends", probe=send["probe"], incarnation=send["incarnation"], **named(gone.place))
    known = {row["seq"]: row["offset"] for row in sent if acknowledged(row)}
    if not process.get("idempotent") or process.get("acks") == 0:
        return None, None
    before, behind = ([seq for seq in known if (seq < send["seq"]) == low] for low in (True, False))
    return known[max(before)] + 1 if before else None, known[min(behind)] if behind else None


def _aborted(story: Story, send: Row | None) -> bool:
    """Whether a record was sent in a transaction that is known to be aborted: compaction removes it."""
    names = {row["txn"] for row in story.all("transactions", outcome="aborted")}
    return send is not None and send["txn"] in names


def deleted(story: Story, gone: Gone) -> bool:
    """Whether a record lies below the log's start of the topic that keeps nothing, and was there before that moved."""
    since = gone.send["invoked"] if gone.send else gone.read
    if gone.place[0] != "trimmed" or gone.cover is None or not gone.cover.complete or not gone.below or since is None:
        return False
    told = [r for r in story.all("offsets", leader=True) if (r["topic"], r["partition"]) == gone.place]
    moved = [r["at"] for r in told if r["log_start"] is not None and r["log_start"] > (gone.offset or 0)]
    return bool(min(moved, default=ns(2**20)) - since + 1_000_000_000 >= 0)


def deposed(story: Story, place: Place, send: Row | None) -> bool:
    """Whether a record may have been sent to a leader that another one followed.

    A new epoch was named after it was sent, or shortly before, or a broker still named itself at an older one.
    """
    views = [row for row in story.rows["partitions"] if (row["topic"], row["partition"]) == place]
    views = [row for row in views if row["leader_epoch"] is not None and row["leader"] >= 0]
    newest = max(others(story, place), default=None)
    if send is None or newest is None:
        return False
    named_at = min(row["at"] for row in views if row["leader_epoch"] == newest)
    held = [row["at"] for row in views if row["leader_epoch"] < newest and row["leader"] == row["asked"]]
    last, about_then = served(story, place, send), send["invoked"] - SURE
    there = last is not None and any(at > last[1] and at >= about_then for at in held)
    return max(named_at, *held, 0) >= about_then and (last is None or last[0] < newest or there)


def others(story: Story, place: Place) -> set[int]:
    """The epochs in which another replica may lead than in the one before: another one, or an epoch is missing."""
    leaders: dict[int, int] = {}
    for row in story.all("partitions", **named(place)):
        if row["leader_epoch"] is not None:
            leaders[row["leader_epoch"]] = max(row["leader"], leaders.get(row["leader_epoch"], -1))
    led = sorted(epoch for epoch, leader in leaders.items() if leader >= 0)
    return {
        later
        for epoch, later in pairwise(led)
        if leaders[epoch] != leaders[later] or any(number not in leaders for number in range(epoch, later))
    }


SECOND = 1_000_000_000
"""Nanoseconds by which the ISR that a broker tells may be old."""


def replicated(story: Story, gone: Gone) -> bool:
    """Whether its leader told a high watermark beyond a record, before another leader was named: all in sync had it."""
    if gone.send is None or gone.offset is None:
        return False
    sent, named = gone.send["invoked"], {}
    for row in sorted(story.rows["partitions"], key=lambda each: int(each["at"]), reverse=True):
        if (row["topic"], row["partition"]) == gone.place and row["leader"] >= 0 and row["leader_epoch"] is not None:
            named[row["leader_epoch"]] = row["at"], row["leader"]
    before = [(at, epoch) for epoch, (at, _) in named.items() if at <= sent]
    until = min((at for at, _ in named.values() if at > sent), default=0)
    if not before:
        return False
    epoch = max(before)[1]
    mine = [r for r in story.rows["partitions"] if (r["topic"], r["partition"]) == gone.place]
    mine = [r for r in mine if r["leader_epoch"] == epoch and r["leader"] >= 0]
    shared = max((row["at"] for row in mine if len(row["isr"]) > 1), default=0)
    alone = max((row["at"] for row in mine if len(row["isr"]) == 1), default=None)
    return any(
        row["asked"] == named[epoch][1] and row["high_watermark"] > gone.offset and sent <= row["at"] < until
        and (shared >= row["at"] + SECOND or alone is None or alone < row["at"] - SURE)
        for row in story.all("offsets", leader=True)
        if (row["topic"], row["partition"]) == gone.place and row["high_watermark"] is not None
    )  # fmt: skip


def followed(story: Story, place: Place) -> int | None:
    """When a later leader than the first was first named; None if none was."""
    later = others(story, place)
    views = story.all("partitions", **named(place))
    return min((row["at"] for row in views if row["leader_epoch"] in later and row["leader"] >= 0), default=None)


def send_order(story: Story) -> Iterator[Row]:
    """A8: neighbours by sequence number, of one process and partition, that stand in the log the other way round."""
    sends, known, cover, process = attempts(story), in_log(story), covers(story), settings(story)
    audit_starts: dict[Place, int] = {}
    for row in story.rows["audit_ranges"]:
        place = row["topic"], row["partition"]
        audit_starts[place] = max(row["log_start"], audit_starts.get(place, 0))
    streams: dict[tuple[str, int, str, int], list[tuple[int, int]]] = defaultdict(list)
    for value in sorted(set(sends) | set(known)):
        send = sends.get(value)
        if send and acknowledged(send):
            topic, partition, offset = spot_of(send)
            found = cover.get((topic, partition))
            if value not in known and found and found.complete and offset >= audit_starts[topic, partition]:
                continue  # the audit would have found it: it is lost, and has no place in any order
        elif value in known:
            topic, partition, offset = min(known[value])
        else:
            continue
        streams[*value[:2], topic, partition].append((value[2], offset))
    for (probe, incarnation, topic, partition), stream in streams.items():
        for (before_seq, before), (seq, offset) in pairwise(stream):
            if offset <= before:
                earlier = sends.get((probe, incarnation, before_seq), {}).get("outcome", "unknown")
                answered = sends.get((probe, incarnation, seq), {}).get("completed")
                cut = excused(story, (topic, partition), before, later=answered)
                yield {
                    "severity": _order(
                        process.get((probe, incarnation)), earlier, cut=cut,
                        again=resent(story, (probe, incarnation, before_seq), (topic, partition)),
                    ),
                    **_named((probe, incarnation, seq)), **_at((topic, partition, offset)),
                    "earlier_seq": before_seq, "earlier_offset": before, "earlier_outcome": earlier,
                    "outcome": sends.get((probe, incarnation, seq), {}).get("outcome"),
                }  # fmt: skip


def _order(settings: Row | None, earlier: str, *, cut: bool, again: bool) -> str:
    if settings is None or settings["idempotent"] is None:
        return "unproven"
    loose = not settings["idempotent"] and settings["max_in_flight"] != 1
    if (loose and again) or cut:
        return "allowed"
    if earlier != "ok":
        return "information"
    return "unproven" if loose else "violation"


def _whereabouts(send: Row | None, seen: set[Spot]) -> tuple[Place | None, int | None]:
    """Where a value is: the log's word first, then the acknowledgement's, then the partition it was meant for."""
    if seen:
        return min(seen)[:2], min(seen)[2]
    if send is None or send["partition"] is None:
        return None, None
    return (send["topic"], send["partition"]), send["offset"] if acknowledged(send) else None


def _named(value: Value) -> Row:
    return {"producer": value[0], "producer_incarnation": value[1], "seq": value[2]}


def _at(spot: Spot) -> Row:
    return {"topic": spot[0], "partition": spot[1], "offset": spot[2]}

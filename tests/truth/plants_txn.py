"""Plants in transactions: torn, shown too early or although they were aborted, and clients that outlive successors."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from analysis.history import Row
from truth.logs import Place, Value
from truth.planting import append, gone, torn, unclaimed, vanish
from truth.sightings import acknowledged, attempts, in_log, settings, shown_to_careful, spot_of, written
from truth.story import Story, member_of, named, place_of, value_of


def torn_in_two(story: Story, draw: Random) -> bool:
    """C3: an acknowledged record of a transaction is gone (A4), and another one can be read."""
    owed, careful = written(story), shown_to_careful(story)
    sends = {value: row for value, row in attempts(story).items() if row["txn"] is not None}
    pairs = [
        (value, row)
        for value, row in sends.items()
        if value in owed
        and acknowledged(row)
        and unclaimed(story, row)
        and row["topic"] != "compacted"
        and any(row["txn"] == other["txn"] and twin != value and twin in careful for twin, other in sends.items())
    ]
    if not pairs:
        return False
    value, row = draw.choice(pairs)
    story.free.remove(place_of(row))
    vanish(story, value, "reads", "audit")
    gone(story, value)
    torn(story, value)
    return True


def shown_though_aborted(story: Story, draw: Random) -> bool:
    """A6: a transaction that everybody could read was aborted, says its producer."""
    end = _ended(story, draw, "committed")
    if end is None:
        return False
    end["outcome"] = "aborted"
    careful = shown_to_careful(story)
    for value, row in _of(story, end).items():
        if value in careful and row["outcome"] != "fail":
            story.expect("aborted_read", "violation", *value)
    return True


def shown_though_failed(story: Story, draw: Random) -> bool:
    """A6: a record is in the log of which its producer knows for sure that it was not written."""
    known = in_log(story)
    pairs = [(v, row) for v, row in attempts(story).items() if v in known and unclaimed(story, row, judged=False)]
    if not pairs:
        return False
    value, row = draw.choice(pairs)
    story.free.remove(place_of(row))
    row |= {"outcome": "fail", "offset": None, "error": "_QUEUE_FULL"}
    story.expect("aborted_read", "violation", *value)
    return True


def shown_too_early(story: Story, draw: Random) -> bool:
    """A7: the commit of a transaction was asked for only after careful readers had been given of it."""
    end = _ended(story, draw, "committed", "info")
    reads = _careful_reads(story, end) if end else []
    if end is None or not reads:
        return False
    end["ending"] = draw.choice(reads)["at"] + draw.randint(1, 9)
    end["ended"] = end["ending"] + 1_000_000
    for row in reads:
        if row["at"] < end["ending"]:
            value = value_of(row) or ("", 0, 0)
            story.expect("precommitted_read", "violation", *member_of(row), *spot_of(row), *value)
    _fence(story, end)
    return True


def outlived(story: Story, draw: Random) -> bool:
    """C1: a client took over a ``transactional.id``, and the one before it went on to write; C5: and to commit."""
    return _overlap(story, draw, before_sends=True)


def committed_late(story: Story, draw: Random) -> bool:
    """C5: a client took over a ``transactional.id`` between the last send and the commit of the one before it."""
    return _overlap(story, draw, before_sends=False)


def overtaken(story: Story, draw: Random) -> bool:
    """C1: a record of an older client, uncertain to it, comes to stand behind one of its successor's."""
    value, place = _late_arrival(story, draw)
    if value is None or place is None:
        return False
    append(story, place, value)
    story.expect("zombie_write", "violation", "overtaken", *value)
    return True


# --- near misses ------------------------------------------------------------------------------------------------------


def near_overtaken_aborted(story: Story, draw: Random) -> bool:
    """Such a record, but nobody who reads carefully is shown it."""
    value, place = _late_arrival(story, draw)
    if value is None or place is None:
        return False
    append(story, place, value)
    story.drop("audit", lambda row: value_of(row) == value and row["isolation"] == "read_committed")
    return True


def near_outlived_refused(story: Story, draw: Random) -> bool:
    """An older client tried to write after its successor had begun, and was refused."""
    clients = _successions(story)
    fitting = [(row, until) for row in story.rows["sends"] for until in [clients.get(_client(row))] if until]
    row, until = draw.choice(fitting) if fitting else (None, None)
    if row is None or until is None:
        return False
    who = member_of(row)
    seq = 1 + max(r["seq"] for r in story.rows["sends"] if member_of(r) == who)
    times = {"scheduled": until + 1, "invoked": until + 1, "completed": until + 5_000_000}
    refused = {"outcome": "fail", "offset": None, "error": "_FENCED", "seq": seq + 1_000, "txn": f"{row['txn']}+"}
    story.rows["sends"].append(row | times | refused)
    return True


def near_shown_in_time(story: Story, draw: Random) -> bool:
    """A careful reader was given of a transaction at the very moment at which its commit was asked for."""
    end = _ended(story, draw, "committed")
    reads = _careful_reads(story, end) if end else []
    if end is None or not reads:
        return False
    end["ending"] = min(row["at"] for row in reads)
    end["ended"] = end["ending"] + 1_000_000
    _fence(story, end)
    return True


PLANTS = (
    torn_in_two, shown_though_aborted, shown_though_failed, shown_too_early, outlived, committed_late, overtaken,
    near_overtaken_aborted, near_outlived_refused, near_shown_in_time,
)  # fmt: skip


# --- what they share --------------------------------------------------------------------------------------------------


def _of(story: Story, end: Row) -> dict[Value, Row]:
    return {value: row for value, row in attempts(story).items() if row["txn"] == end["txn"]}


def _claim(story: Story, rows: list[Row]) -> bool:
    """Take the partitions of some rows, if all of them are free."""
    places = {place_of(row) for row in rows}
    if not places or not places <= set(story.free):
        return False
    story.free = [place for place in story.free if place not in places]
    return True


def _ended(story: Story, draw: Random, *outcomes: str) -> Row | None:
    """A transaction that careful eyes saw some of, with such an outcome, its partitions taken from then on."""
    careful = shown_to_careful(story)
    fitting = [
        end
        for end in story.rows["transactions"]
        if end["outcome"] in outcomes and any(value in careful for value in _of(story, end))
    ]
    end = draw.choice(fitting) if fitting else None
    return end if end and _claim(story, list(_of(story, end).values())) else None


def _careful_reads(story: Story, end: Row) -> list[Row]:
    mine, process = _of(story, end), settings(story)
    careful = {who for who, row in process.items() if row["isolation"] == "read_committed"}
    return [row for row in story.rows["reads"] if value_of(row) in mine and member_of(row) in careful]


def _client(row: Row) -> tuple[str, int, int]:
    return row["probe"], row["incarnation"], row["producer_epoch"]


def _successions(story: Story) -> dict[tuple[str, int, int], int]:
    """By client that has a successor, when that one took over."""
    clients = sorted({(r["transactional_id"], r["initialized"], _client(r)) for r in story.rows["transactions"]})
    return {older[2]: newer[1] for older, newer in pairwise(clients) if older[0] == newer[0]}


def _fence(story: Story, end: Row) -> None:
    """A commit that is asked for late may be asked for after a successor came (C5)."""
    until = _successions(story).get(_client(end))
    sent = any(row["outcome"] == "ok" for row in _of(story, end).values())
    if until is not None and end["ending"] > until and end["outcome"] == "committed" and sent:
        story.expect("fenced_late", "violation", end["txn"])


def _overlap(story: Story, draw: Random, *, before_sends: bool) -> bool:
    """Have a client take over before the one before it wrote, or committed, its last transaction."""
    clients = _successions(story)
    last = {_client(end): end for end in sorted(story.rows["transactions"], key=lambda r: int(r["begun"]))}
    fitting = [end for client, end in last.items() if client in clients and _of(story, end) and end["ending"]]
    end = draw.choice(fitting) if fitting else None
    if end is None or not _claim(story, list(_of(story, end).values())):
        return False
    mine, until = _of(story, end), clients[_client(end)]
    others = [
        row["invoked"] for row in story.rows["sends"] if _client(row) == _client(end) and row["txn"] != end["txn"]
    ]
    latest = max(row["invoked"] for row in mine.values())
    earliest = max(end["begun"] if before_sends else latest, max(others, default=0))
    if not earliest < (latest if before_sends else end["ending"]) - 1:
        return False
    came = (earliest + (latest if before_sends else end["ending"])) // 2
    for row in story.rows["transactions"]:
        if row["initialized"] == until and row["transactional_id"] == end["transactional_id"]:
            row["initialized"] = came
    careful = {value_of(row) for row in story.all("audit", isolation="read_committed")}
    for value, row in mine.items():
        if row["invoked"] > came and (row["outcome"] == "ok" or value in careful):
            story.expect("zombie_write", "violation", "late", *value)
    _fence(story, end)
    return True


def _late_arrival(story: Story, draw: Random) -> tuple[Value | None, Place | None]:
    """A send of an older client that nobody knows the fate of, into a partition that has a record of its successor."""
    clients = _successions(story)
    names = {_client(row): row["transactional_id"] for row in story.rows["transactions"]}
    known = in_log(story)
    fitting = []
    for older, until in clients.items():
        for value, row in attempts(story).items():
            newer = row["txn"] is not None and names.get(_client(row)) == names[older] and row["invoked"] > until
            if newer and value in known and place_of(row) in story.free:
                fitting.append((older, until, place_of(row)))
    if not fitting:
        return None, None
    older, until, place = draw.choice(fitting)
    sends = [row for row in story.rows["sends"] if _client(row) == older]
    if not sends:
        return None, None
    seq = 1_000 + max(row["seq"] for row in story.rows["sends"] if member_of(row) == older[:2])
    story.free.remove(place)
    times = {"scheduled": until - 9, "invoked": until - 9, "completed": until + 9}
    fate = {"outcome": "info", "offset": None, "error": "_MSG_TIMED_OUT", "txn": f"{sends[0]['txn']}+", "seq": seq}
    story.rows["sends"].append(sends[0] | named(place) | times | fate)
    return (*older[:2], seq), place

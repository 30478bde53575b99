"""Twists of one record in all tables that tell of it, or in all but one: the history stays nearly possible."""

from __future__ import annotations

from random import Random

from analysis.history import VALUE, History
from twisted.twist import (
    LEVELS,
    PLACED,
    SAW,
    SECOND,
    WROTE,
    Value,
    about,
    copied,
    end_of,
    forget,
    next_n,
    readers,
    renumbered,
    sent,
    some,
    twist,
    value_of,
)  # fmt: skip


def _without(history: History, value: Value, *tables: str) -> None:
    for table in tables:
        forget(history, table, lambda row, table=table: value_of(table, row) == value)  # type: ignore[misc]


@twist
def gone(history: History, draw: Random) -> None:
    """A record is in no table, or only in some; or at one isolation level."""
    if (value := sent(history, draw)) is None:
        return
    if draw.random() < 0.3:
        level = draw.choice(LEVELS)
        forget(history, "audit", lambda row: value_of("audit", row) == value and row["isolation"] == level)
    else:
        _without(history, value, *some(draw, (*WROTE, *SAW)))


@twist
def stretch_gone(history: History, draw: Random) -> None:
    """Some records that follow each other in a partition's log are not found by the audit, or not delivered either."""
    if (value := sent(history, draw)) is None:
        return
    row = next(row for _, row in about(history, value, "sends"))
    first, past = row["offset"], (row["offset"] or 0) + draw.choice([2, 5, 12])
    tables = draw.choice([("audit",), ("reads",), ("audit", "reads")])
    for table in tables:
        forget(
            history,
            table,
            lambda r: (
                (r["topic"], r["partition"]) == (row["topic"], row["partition"])
                and first is not None
                and first <= r["offset"] < past
            ),
        )


@twist
def moved(history: History, draw: Random) -> None:
    """A record stands at another offset of its log, says every table, or all but one."""
    if (value := sent(history, draw)) is None:
        return
    tables = some(draw, PLACED)
    by = draw.choice([-5, -1, 1, 3, 60])
    for _, row in about(history, value, *tables):
        if row["offset"] is not None:
            row["offset"] = max(0, row["offset"] + by)


@twist
def places_exchanged(history: History, draw: Random) -> None:
    """Two records have exchanged their places, says every table, or all but one; or they are neighbours."""
    one, other = sent(history, draw), sent(history, draw)
    if one is None or other is None:
        return
    if draw.random() < 0.5:
        other = (one[0], one[1], one[2] + 1)
    tables = some(draw, PLACED)
    places = {}
    for value in (one, other):
        for _, row in about(history, value, "sends"):
            places[value] = {name: row[name] for name in ("topic", "partition", "offset")}
    if len(places) == 2:
        rows = [(row, places[there]) for here, there in ((one, other), (other, one))
                for _, row in about(history, here, *tables)]  # fmt: skip
        for row, place in rows:
            row.update(place)


@twist
def there_twice(history: History, draw: Random) -> None:
    """A record is in the log a second time, at its end or in place of another one, and is delivered twice or not."""
    if (value := sent(history, draw)) is None:
        return
    seen = [row for _, row in about(history, value, "audit")]
    if not seen:
        return
    end = end_of(history, seen[0]["topic"], seen[0]["partition"])
    offset = draw.choice([end, end + 3, draw.randrange(end + 1)])
    history.rows["audit"] += copied(seen, offset=offset)
    if draw.random() < 0.6:
        for _, row in list(about(history, value, "reads")):
            n = next_n(history, row["probe"], row["incarnation"])
            history.rows["reads"].append(row | {"offset": offset, "n": n, "poll": n, "at": row["at"] + 20 * SECOND})


@twist
def of_unknown_fate(history: History, draw: Random) -> None:
    """The client was not told that a record was written, or was told that it was not; it is there, or is not."""
    if (value := sent(history, draw)) is None:
        return
    outcome = draw.choice(["info", "info", "fail"])
    error = draw.choice([None, "_MSG_TIMED_OUT"])
    for _, row in about(history, value, "sends"):
        row |= {"outcome": outcome, "error": error, "offset": draw.choice([None, row["offset"]])}
        if outcome == "info" and draw.random() < 0.3:
            row["partition"] = None
    if draw.random() < 0.5:
        _without(history, value, *draw.choice([("audit", "reads"), ("audit",), ("reads",)]))


@twist
def somebody_elses(history: History, draw: Random) -> None:
    """The payload of a record is not ours, said everybody who saw it, or only some."""
    if (value := sent(history, draw)) is None:
        return
    for table, row in list(about(history, value, *some(draw, SAW))):
        row |= {**dict.fromkeys(VALUE), "intact": False}
        if table == "reads":
            row["scheduled"] = None


@twist
def elsewhere(history: History, draw: Random) -> None:
    """A record is in another partition or topic than it was, says every table, or all but one."""
    if (value := sent(history, draw)) is None:
        return
    topics = sorted({row["topic"] for row in history.rows["audit_ranges"]})
    place = draw.choice([{"partition": draw.choice([0, 1, 2])}, {"topic": draw.choice(topics or ["orders"])}])
    for _, row in about(history, value, *some(draw, PLACED)):
        row.update(place)


@twist
def given_again(history: History, draw: Random) -> None:
    """A record is given to a reader a second time: to the same process, to another one, or to another group's."""
    rows = history.rows["reads"]
    if not rows:
        return
    row, other = draw.choice(rows), draw.choice(rows)
    who = {name: other[name] for name in ("probe", "incarnation", "group", "assignment")}
    n = next_n(history, who["probe"], who["incarnation"])
    rows.append(row | who | {"n": n, "poll": n, "at": row["at"] + round(draw.choice([0.001, 0.3, 2]) * SECOND)})
    if draw.random() < 0.5:
        renumbered(history)


@twist
def withheld(history: History, draw: Random) -> None:
    """Some records are not given to one of the readers."""
    if not (names := readers(history)):
        return
    probe, first = draw.choice(names), draw.randrange(50)
    past = first + draw.choice([1, 1, 2, 5, 50])
    forget(history, "reads", lambda row: row["probe"] == probe and first <= row["offset"] < past)


@twist
def out_of_turn(history: History, draw: Random) -> None:
    """Two deliveries of a process came in the other order."""
    rows = history.rows["reads"]
    if not rows:
        return
    one = draw.choice(rows)
    other = draw.choice([row for row in rows if row["probe"] == one["probe"]])
    for name in ("n", "at", "poll"):
        one[name], other[name] = other[name], one[name]


@twist
def sent_again(history: History, draw: Random) -> None:
    """The application sent a record again, as a new one behind all others; the first one is there, or is not."""
    if (value := sent(history, draw)) is None:
        return
    rows = history.rows["sends"]
    seq = max(row["seq"] for row in rows if (row["probe"], row["incarnation"]) == value[:2]) + 1
    later = 20 * SECOND
    for table, row in list(about(history, value)):
        offset = {} if table == "outputs" else {"offset": end_of(history, row["topic"], row["partition"])}
        again = row | {"seq": seq}
        if table == "sends":
            again |= {"resend_of": value[2], "invoked": row["invoked"] + later, **offset}
            again["completed"] = None if row["completed"] is None else row["completed"] + later
            place = again["offset"]
        elif table in ("reads", "audit"):
            again["offset"] = place
        if table == "reads":
            n = next_n(history, row["probe"], row["incarnation"])
            again |= {"n": n, "poll": n, "at": row["at"] + later}
        history.rows[table].append(again)
    if draw.random() < 0.5:
        _without(history, value, "audit", "reads")


@twist
def read_early(history: History, draw: Random) -> None:
    """A record was delivered before it was acknowledged, or before it was sent, or long after."""
    if (value := sent(history, draw)) is None:
        return
    by = draw.choice([-2, -0.012, -0.008, 8])
    for _, row in about(history, value, "reads"):
        row["at"] += round(by * SECOND)
    if draw.random() < 0.7:
        renumbered(history)

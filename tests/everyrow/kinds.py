"""Kinds of rows: by table what a row may stand for, and one row for each of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.history import TIMES, Row, ns
from everyrow.world import BACK, KILLED

Rows = dict[str, list[Row]]
TIME = TIMES | {
    "clocks": ("monotonic",), "heartbeats": ("at",), "stream_ends": (), "brokers": ("invoked", "completed"),
    "zookeepers": ("at",), "tallies": ("at",),
}  # fmt: skip
"""By table the columns that are moments."""
WATCHED = ("heartbeats", "stream_ends", "partitions", "offsets", "brokers", "zookeepers", "host_clocks")
"""Tables of samples, one like the other: one in the middle stands for all of its kind."""


@dataclass(frozen=True)
class Kind:
    """A kind of row, and the row that stands for it."""

    table: str
    name: str
    number: int
    """Which row of the table."""
    next: int | None
    """The row after it of the same kind, if there is one."""


def kinds(rows: Rows) -> Iterator[Kind]:
    """Every kind of row that these tables hold: first, middle and last of those that are alike."""
    fates = {row["txn"]: row["outcome"] for row in rows["transactions"]}
    values = {(row["probe"], row["incarnation"], row["seq"]): fates.get(row["txn"]) for row in rows["sends"]}
    roles = {(row["probe"], row["incarnation"]): row["kind"] for row in rows["incarnations"]}
    for table, found in rows.items():
        alike: dict[str, list[int]] = {}
        for number, row in enumerate(found):
            if row.get("partition") in (0, None):
                name = _name(table, row, fates, values, roles)
                alike.setdefault(name, []).append(number)
        for name, numbers in sorted(alike.items()):
            in_turn = sorted(numbers, key=lambda n: _turn(table, found[n]))
            yield from _middle(table, name, in_turn) if table in WATCHED else _chosen(table, name, in_turn)


def _middle(table: str, name: str, numbers: list[int]) -> Iterator[Kind]:
    at = len(numbers) // 2
    yield Kind(table, name, numbers[at], numbers[at - 1] if at else None)


def _chosen(table: str, name: str, numbers: list[int]) -> Iterator[Kind]:
    places = {"first": 0, "middle": len(numbers) // 2, "last": len(numbers) - 1}
    if len(numbers) < 3:
        places = {"first": 0, "last": 1} if len(numbers) == 2 else {"only": 0}
    for place, index in places.items():
        following = numbers[index + 1] if index + 1 < len(numbers) else numbers[index - 1] if index else None
        yield Kind(table, " ".join(filter(None, (place, name))), numbers[index], following)


def _turn(table: str, row: Row) -> tuple[int, ...]:
    times = [row[column] for column in TIME.get(table, ()) if row[column] is not None]
    order = ("offset", "first", "n", "poll", "bucket")
    return (min(times, default=0), *(row[name] or 0 for name in order if name in row))


def _name(table: str, row: Row, fates: dict[str, str], values: dict[tuple[str, int, int], str | None],
          roles: dict[tuple[str, int], str]) -> str:  # fmt: skip
    """What the row stands for besides its place in the order."""
    role = roles.get((row.get("probe", ""), row.get("incarnation", 0)))
    process = f"{row['incarnation']}" if row.get("incarnation") else ""
    topic = row.get("topic") or ""
    if table in _NAMES:
        return " ".join(filter(None, (_NAMES[table](row), topic, role if table in _BY_ROLE else "", process)))
    fate = None
    if table in ("sends", "audit"):
        who = ("producer", "producer_incarnation") if table == "audit" else ("probe", "incarnation")
        fate = values.get((row[who[0]], row[who[1]], row["seq"]))
    elif table in ("reads", "outputs", "txn_offsets"):
        fate = fates.get(row["txn"]) if "txn" in row else None
    return " ".join(filter(None, (fate, row.get("isolation") if table != "incarnations" else "", topic, process)))


def _when(row: Row) -> str:
    at = row["at"] if "at" in row else row["invoked"]
    return "before" if at < ns(KILLED) else "during" if at < ns(BACK) else "after"


def _which(row: Row) -> str:
    return "the broker that is killed" if row["asked"] == 1 else "another broker"


def _writer(name: str) -> str:
    return "a probe" if name.rpartition("-")[2].isdigit() else name


_NAMES: dict[str, Callable[[Row], str]] = {
    "polls": lambda row: f"{'full' if row['records'] else 'empty'} {_when(row)}",
    "assignments": lambda row: str(row["kind"]),
    "groups": lambda row: "none" if row["offset"] is None else "found",
    "fetched": lambda row: "none" if row["offset"] is None else "found",
    "transactions": lambda row: str(row["outcome"]),
    "markers": lambda row: str(row["kind"]),
    "offsets": lambda row: f"{'leader' if row['leader'] else 'follower'} {_when(row)}",
    "partitions": lambda row: f"of {'the leader' if row['asked'] == row['leader'] else 'another'} {_when(row)}",
    "brokers": lambda row: f"{'none' if row['error'] else 'answer'} of {_which(row)} {_when(row)}",
    "zookeepers": lambda row: f"{row['mode']} {_when(row)}",
    "topic_settings": lambda row: str(row["name"]),
    "heartbeats": lambda row: _writer(row["writer"]),
    "stream_ends": lambda row: f"{_writer(row['writer'])} {row['table']}",
    "host_clocks": lambda row: "",
    "phases": lambda row: str(row["phase"]),
    "tallies": lambda row: str(row["what"]),
    "ends": lambda row: "",
    "incarnations": lambda row: str(row["kind"]),
    "connections": lambda row: str(row["client"]),
    "health_checks": lambda row: f"broker {row['broker']}",
}
_BY_ROLE = ("ends", "tallies", "connections", "errors")

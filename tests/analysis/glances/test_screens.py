"""What numpy sees at a glance is what a few loops see: no screen overlooks a row that its check would complain of."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from analysis.history import History

from chaosk.analysis.case_loader import read_case
from chaosk.analysis.glances.rows import EventRows
from chaosk.analysis.glances.screens import glanced, turned
from chaosk.analysis.screens import NAMES

SEEDS = range(60)


def troubled(seed: int) -> History:
    """A run of two partitions and two readers in which none to three things went wrong, drawn by the seed."""
    draw = Random(seed)  # noqa: S311 - repeatable, not secret
    history = History()
    history.topic["partitions"] = 2
    history.add("assignments", partition=1, at=-5.9)
    history.worker("watcher", kind="consume", isolation="read_committed", commit="none")
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", isolation=isolation, partition=1, log_start=0, end=-1, complete=True)
    for number in range(40):
        history.flow(number, -5 + number / 2, offset=number // 2, partition=number % 2)
        history.read(number // 2, -4.9 + number / 2, seq=number, partition=number % 2, probe="watcher", group=None)
    for _ in range(draw.randrange(4)):
        draw.choice(TROUBLES)(history, draw)
    return history


def drop(table: str) -> Any:
    """Some record is missing from a table."""

    def dropped(history: History, draw: Random) -> None:
        history.rows[table].remove(draw.choice(history.rows[table]))

    return dropped


def again(table: str, **changes: Any) -> Any:
    """Some row of a table once more, a little different; a delivery comes last."""

    def repeated(history: History, draw: Random) -> None:
        row = dict(draw.choice(history.rows[table]))
        if table == "reads":
            row["n"] = max(each["n"] for each in history.rows["reads"]) + 1
        history.rows[table].append(row | {name: draw.choice(values) for name, values in changes.items()})

    return repeated


def uncertain(history: History, draw: Random) -> None:
    """A send of unknown fate, with or without an offset."""
    row = draw.choice(history.rows["sends"])
    row |= {"outcome": draw.choice(["info", "fail"]), "offset": draw.choice([None, row["offset"]])}


def transaction(history: History, draw: Random) -> None:
    """Three sends in a transaction that ended some way."""
    history.add(
        "transactions", txn="t", initialized=-5.5, begun=0, ending=1, ended=2,
        outcome=draw.choice(["committed", "aborted", "info"]),
    )  # fmt: skip
    for row in draw.sample(history.rows["sends"], min(3, len(history.rows["sends"]))):
        row["txn"] = "t"


def seek(history: History, draw: Random) -> None:
    """The reader seeks somewhere."""
    history.add("seeks", offset=draw.randrange(30), at=draw.uniform(-5, 15), partition=draw.randrange(2))


def strange(history: History, draw: Random) -> None:
    """A record that nobody of this run wrote."""
    history.read(draw.randrange(90), 20.2, producer=None, producer_incarnation=None, seq=None, intact=False)


TROUBLES = (
    drop("sends"), drop("reads"), drop("audit"), uncertain, transaction, seek, strange,
    again("audit", offset=range(60)), again("reads", offset=range(60)), again("reads", partition=[0, 1]),
    again("reads", seq=range(60)),
)  # fmt: skip


def screens(history: History) -> dict[str, bool]:
    """The screens, row by row."""
    reads = [row for row in history.rows["reads"] if row["intact"]]
    audit = history.rows["audit"]
    sends = history.rows["sends"]
    acked = [row | {"producer": row["probe"], "producer_incarnation": row["incarnation"]} for row in sends]
    acked = [row for row in acked if row["outcome"] == "ok" and row["offset"] is not None]
    read, audited = {value(row) for row in reads}, {value(row) for row in audit}
    places, at = defaultdict(set), defaultdict(set)
    seen = [*reads, *audit, *acked]
    for row in seen:
        places[value(row)].add(place(row))
        at[place(row)].add(value(row))
    ended = {row["txn"]: row["outcome"] for row in history.rows["transactions"]}
    written = {value(row) for row in acked if row["txn"] is None or ended[row["txn"]] == "committed"}
    foreign = len(reads) < len(history.rows["reads"])
    by_reader = {probe: [value(row) for row in reads if row["probe"] == probe] for probe in ("reader", "watcher")}
    in_turn = defaultdict(list)
    for row in sorted(history.rows["reads"], key=lambda each: each["n"]):
        in_turn[row["probe"], row["partition"]].append(row["offset"])
    steps = [after - before for offsets in in_turn.values() for before, after in pairwise(offsets)]
    return {
        "missing": bool((written | read) - audited),
        "doubled": any(len(found) > 1 for found in places.values()),
        "crowded": any(len(found) > 1 for found in at.values()),
        "lacking": foreign or bool(audited - set(by_reader["reader"])),
        "repeated": foreign or any(len(set(values)) < len(values) for values in by_reader.values()),
        "turned": any(out_of_order(row, other) for row in seen for other in seen),
        "jumped": any(step > 1 for step in steps),
        "sought": any(beyond(row, history.rows["reads"]) for row in history.rows["seeks"]),
        "backward": any(step < 1 for step in steps),
    }


def beyond(seek: dict[str, Any], reads: list[dict[str, Any]]) -> bool:
    """Whether the first delivery after a seek lies beyond the position that was sought."""
    where = ("probe", "incarnation", "topic", "partition")
    later = [row for row in reads if all(row[name] == seek[name] for name in where) and row["at"] >= seek["at"]]
    first = min(later, key=lambda row: (row["at"], row["n"]), default=seek)
    return bool(first["offset"] > seek["offset"])


def out_of_order(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a record stands at or before one that its process sent earlier to the same partition."""
    same = row["partition"] == other["partition"] and value(row)[:2] == value(other)[:2]
    return bool(same and row["seq"] > other["seq"] and row["offset"] <= other["offset"])


def value(row: dict[str, Any]) -> tuple[Any, ...]:
    """What was written."""
    return row["producer"], row["producer_incarnation"], row["seq"]


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Where it stands."""
    return row["partition"], row["offset"]


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_overlooked(seed: int, tmp_path: Path) -> None:
    """Whatever loops over the rows find, the glance finds."""
    history = troubled(seed)
    rows = EventRows(read_case(history.write(tmp_path / "run")))
    found = glanced(rows)
    assert set(found) == set(NAMES)
    found["turned"] = int(turned(rows))
    overlooked = [name for name, there in screens(history).items() if there and not found[name]]
    assert overlooked == []


def test_a_flawless_run_is_cleared_at_a_glance(tmp_path: Path) -> None:
    """Nothing is found where there is nothing, so Spark need not be asked; nor where a transaction was aborted."""
    history = History(records=50)
    assert not any(glanced(EventRows(read_case(history.write(tmp_path / "run")))).values())
    for seq in (20, 21):
        history.change("sends", {"seq": seq}, txn="t")
        history.drop("reads", offset=seq)
        history.drop("audit", offset=seq)
    history.add("transactions", txn="t", initialized=-5.5, begun=0, ending=1, ended=2, outcome="aborted")
    found = glanced(EventRows(read_case(history.write(tmp_path / "aborted"))))
    assert found["missing"] == found["lacking"] == 0


def test_the_troubles_trouble_every_screen() -> None:
    """Each screen has runs among these in which it finds something, and runs in which it does not."""
    found = [screens(troubled(seed)) for seed in SEEDS]
    for name in (*NAMES, "turned"):
        assert {each[name] for each in found} == {True, False}, name

"""Made-up clusters of three brokers, each of which the watcher asks by itself: what it says, and whether it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.history import History, Row, ns

BROKERS = range(3)
PERIOD = 0.15
View = tuple[int, int]
"""Leader (-1: none) and leader epoch."""


@dataclass(frozen=True, slots=True)
class Led:
    """From ``at`` on records are written under an epoch, by its leader, and acknowledged; until the next one is."""

    at: float
    epoch: int


def watched(
    history: History,
    says: Callable[[int, float], View | None],
    phase: float = 0.0,
    serves: Callable[[int, float], bool] = lambda _broker, _at: True,
) -> History:
    """The history with the watcher's samples replaced: by broker and second what it says, None if it does not answer.

    ``serves``: whether a broker that says it leads answers for offsets; ``phase`` shifts all samples.
    """
    for table in ("partitions", "offsets", "brokers"):
        history.rows[table].clear()
    for number in range(int(28 / PERIOD)):
        at = -6 + number * PERIOD + phase
        for broker in BROKERS:
            said = says(broker, at)
            why = None if said else "no answer"
            history.rows["brokers"].append(
                dict.fromkeys(("controller", "alive"))
                | {"asked": broker, "invoked": ns(at - 0.001), "completed": ns(at), "error": why}
            )
            if said is None:
                continue
            leader, epoch = said
            history.add("partitions", at=at, asked=broker, leader=leader, leader_epoch=epoch, replicas=[0, 1, 2],
                        isr=[0, 1, 2])  # fmt: skip
            leads = leader == broker and serves(broker, at)
            mark = 100 if leads else None
            history.add("offsets", at=at + 0.003, asked=broker, leader=leads, log_start=0, log_end=100,
                        high_watermark=mark, last_stable=mark)  # fmt: skip
    return history


def written(history: History, terms: Sequence[Led], gaps: Sequence[tuple[float, float]] = ()) -> History:
    """The history whose records have the epoch under which they were written; in gaps none was, but at their end."""

    def moved(at: int) -> int:
        ends = [ns(high) + 20_000_000 for low, high in gaps if ns(low) <= at < ns(high)]
        return max([at, *ends])

    epochs: dict[int, int] = {}
    for row in history.rows["sends"]:
        row["completed"] = moved(row["completed"])
        epochs[row["seq"]] = next(term.epoch for term in reversed(terms) if ns(term.at) <= row["completed"])

    def of_record(row: Row) -> Row:
        return row | {"leader_epoch": epochs[row["seq"]]}

    history.each("reads", lambda row: of_record(row) | {"at": moved(row["at"]) + 10_000_000})
    history.each("audit", of_record)
    return history

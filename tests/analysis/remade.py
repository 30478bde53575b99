"""Histories in which the topic is deleted and made again while its clients go on."""

from __future__ import annotations

from analysis.history import History, Row

GONE, MADE, SERVED = 3.0, 5.0, 5.3
"""When the last broker forgot it, when it was asked for again, and when it was there."""
FIRST = 80
"""The seq of the first record of the new topic: what was sent from ``GONE`` on waits for it."""
RECORDS = 250


def remade() -> History:
    """Ten records a second from -5 s to 20 s; the reader reads all, in the new topic from its first record on."""
    history = History()
    history.entry = {"name": "again", "at": "1s", "recreate_topic": {"topic": "orders", "pause": "2s"}}
    history.record["entries"] = [{"entry": "again", "status": "done"}]
    history.rows["faults"].clear()
    history.add(
        "faults", fault="again", step="recreate_topic", targets="", invoked=1, applied=6, took=True, undone=True
    )
    history.add("remakings", topic="orders", gone=GONE, made=MADE)
    for number in range(RECORDS):
        at = -5 + number / 10
        if number < FIRST:
            history.send(number, at)
            history.read(number, at + 0.010)
        else:
            flow_again(history, number, at)
    return history


def flow_again(history: History, number: int, at: float) -> None:
    """A record of the new topic that was sent at ``at``, acknowledged as soon as it could be, read and audited."""
    done = max(at, SERVED) + 0.005
    history.send(number, at, offset=number - FIRST, completed=done)
    history.read(number - FIRST, done + 0.005, seq=number)
    history.audit(number - FIRST, seq=number)


def restarted(history: History, found: int | None, first: int) -> None:
    """The reader ends at 2.5 s with 75 committed; its next process, at 8 s, finds ``found`` and begins at ``first``."""
    history.commit(75, 2.45)
    history.add("assignments", kind="revoke", at=2.5)
    history.rows["reads"] = [row for row in history.rows["reads"] if row["seq"] < 75]
    usual: Row = {"kind": "consume", "group": "readers", "isolation": "read_committed", "commit": "sync"}
    history.worker("reader", 1, started=7.9, **usual)
    history.add("assignments", at=8.0, incarnation=1)
    history.add("fetched", offset=found, invoked=8.01, completed=8.02, incarnation=1)
    for offset in range(first, RECORDS - FIRST):
        at = max(8.1, -5 + (offset + FIRST) / 10 + 0.01) + offset / 1e6
        history.read(offset, at, seq=offset + FIRST, incarnation=1)

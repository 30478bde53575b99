"""Histories in which the producer ``writer`` writes in transactions."""

from __future__ import annotations

from typing import Any

from analysis.history import History


def transactional(records: int = 50, each: int = 10, **settings: Any) -> History:
    """A run in which all went well, ``each`` records in one transaction: ``t-0``, ``t-1``, ..."""
    history = History(records=records, **settings)
    spaced = 25 / records
    history.each("sends", lambda row: row | {"txn": f"t-{row['seq'] // each}", "producer_epoch": 0})
    for number in range(records // each):
        began = -5 + number * each * spaced
        last = began + (each - 1) * spaced + 0.005
        history.add("transactions", txn=f"t-{number}", initialized=-5.9, begun=began, ending=last, ended=last + 0.002,
                    outcome="committed")  # fmt: skip
    history.each("reads", lambda row: row | {"at": row["at"] + round(each * spaced * 1e9)})
    return history


def successor(history: History, seq: int, at: float, offset: int, **values: Any) -> None:
    """A client ``new`` that takes over the ``transactional.id`` half a second before ``at``, and commits one record."""
    history.probes["new"] = {"produce": {"topic": "orders", "rate": "1/s"}}
    history.worker("new", started=at - 0.5, kind="produce", acks=-1, idempotent=True, max_in_flight=5)
    history.record["probes"].append({"probe": "new", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    history.send(seq, at, probe="new", offset=offset, txn="n-0", producer_epoch=0, **values)
    history.add("transactions", probe="new", txn="n-0", initialized=at - 0.5, begun=at - 0.1, ending=at + 0.1,
                ended=at + 0.2, outcome="committed")  # fmt: skip
    history.read(offset, at + 0.3, producer="new", seq=seq)
    history.audit(offset, producer="new", seq=seq)


def piped(records: int = 50, each: int = 10) -> History:
    """A run in which ``pipe`` (group ``pipes``) wrote one record for each to ``invoices``, in ``p-0``, ``p-1`` ..."""
    history = History(records=records)
    history.others["invoices"] = {"partitions": 1, "replication_factor": 3}
    history.probes["pipe"] = {"transform": {"topic": "orders", "to": "invoices", "group": "pipes"}}
    history.worker("pipe", kind="transform", group="pipes", isolation="read_committed", commit="none",
                   acks=-1, idempotent=True, max_in_flight=5)  # fmt: skip
    history.record["probes"].append({"probe": "pipe", "incarnation": 0, "ended_by": "stop", "exit_status": 0})
    who = {"probe": "pipe", "group": "pipes"}
    history.add("assignments", at=-5.9, **who)
    history.add("fetched", offset=None, invoked=-5.85, completed=-5.8, **who)
    history.add("groups", group="pipes", offset=records)
    for isolation in ("read_uncommitted", "read_committed"):
        history.add("audit_ranges", topic="invoices", isolation=isolation, log_start=0, end=-1, complete=True)
    history.add("polls", probe="pipe", poll=0, invoked=-5, completed=21)
    for number in range(records):
        once(history, number, -5 + 25 * number / records + 0.1, f"p-{number // each}")
    for number in range(records // each):
        began = -5 + 25 * number * each / records
        history.add("transactions", probe="pipe", txn=f"p-{number}", transactional_id="pipe", initialized=-5.9,
                    begun=began, ending=began + 25 * each / records, ended=began + 25 * each / records + 0.01,
                    outcome="committed")  # fmt: skip
    return history


def once(history: History, number: int, at: float, txn: str, seq: int | None = None, *, visible: bool = True) -> None:
    """The pipe reads the record at offset ``number`` and writes its output ``seq``, at the offset of that number."""
    output = number if seq is None else seq
    history.read(number, at, probe="pipe", group="pipes", txn=txn, poll=output)
    history.add("outputs", probe="pipe", incarnation=0, seq=output, topic="orders", partition=0, offset=number, at=at)
    history.send(output, at + 0.01, probe="pipe", topic="invoices", txn=txn, producer_epoch=0)
    history.audit(output, producer="pipe", topic="invoices", seq=output)
    if not visible:
        history.drop("audit", producer="pipe", seq=output, isolation="read_committed")

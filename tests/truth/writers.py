"""Producers in the model: processes with settings, sends with outcomes, transactions with ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from analysis.history import ns
from truth.logs import Fate, Log, Value
from truth.story import INTO, Story

FIRST, LAST = -4.9, 19.5
"""When the first record is due, and the last."""
SETTINGS = ((-1, True, 5), (-1, True, 5), (-1, False, 5), (-1, False, 1), (1, False, 5), (1, False, 1), (0, False, 5))
"""acks, enable.idempotence, max.in.flight."""


@dataclass(slots=True)
class Send:
    """One record on its way."""

    value: Value
    log: Log
    due: float
    arrives: float
    fate: str
    """What becomes of it: ok, unheard (written, but the producer timed out), gone (timed out), refused."""
    txn: str | None = None
    unwritten: bool = False
    """Whether the process was killed before it wrote the outcome down."""


@dataclass(slots=True)
class Transaction:
    """A transaction and how it ends."""

    name: str
    process: tuple[str, int]
    begun: float
    initialized: float
    epoch: int = 0
    """How many clients of the process had the ``transactional.id`` before."""
    sends: list[Send] = field(default_factory=list)
    committed: bool = True
    told: str = "committed"
    """The outcome its producer was told; empty if it was killed before."""

    @property
    def ending(self) -> float:
        """When its end was asked for."""
        return max(send.arrives for send in self.sends) + 0.01


def produce(story: Story, draw: Random) -> None:
    """Let one to three producers write until the settling's end; fills the logs and the producers' tables."""
    sends: list[Send] = []
    transactions: list[Transaction] = []
    for number in range(draw.choice([1, 2, 2, 3])):
        began, stops = FIRST, sorted(draw.uniform(0, 15) for _ in range(draw.choice([0, 0, 1, 2])))
        for incarnation, stop in enumerate([*stops, LAST]):
            if stop - began > 0.5:
                process = (f"writer{number}", incarnation)
                acks, idempotent, in_flight = draw.choice(SETTINGS)
                killed = stop != LAST and draw.random() < 0.5
                story.add(
                    "incarnations", probe=process[0], incarnation=incarnation, kind="produce", started=ns(began - 0.05),
                    pid=1, client="2.16.1", acks=acks, idempotent=idempotent, max_in_flight=in_flight,
                )  # fmt: skip
                mine = _due(story, draw, process, (began, stop), acks)
                if idempotent and draw.random() < 0.5:
                    transactions.extend(_grouped(draw, process, mine, began))
                _cut(story, draw, mine, process, stop if killed else None)
                sends.extend(mine)
                began = max((send.arrives + 0.02 for send in mine if send.txn), default=began)
            began = max(began, stop) + 0.4
    _forget(draw, transactions)
    _append(story, sends, transactions)
    _write(story, sends, transactions)


def _due(story: Story, draw: Random, process: tuple[str, int], life: tuple[float, float], acks: int) -> list[Send]:
    """The sends of one process."""
    found: list[Send] = []
    at, pace = life[0], draw.uniform(0.2, 0.6)
    # Nobody knows where a record without an acknowledgement was, once it was deleted.
    logs = [log for log in story.logs.values() if log.topic != INTO and (acks != 0 or log.topic != "trimmed")]
    while at < life[1]:
        log = draw.choice(logs)
        fate = draw.choices(["ok", "unheard", "gone", "refused"], [40, 1, 1, 1])[0]
        found.append(Send((*process, len(found)), log, at, log.reached(at), fate))
        at += draw.uniform(0, 2 * pace)
    return found


def _grouped(draw: Random, process: tuple[str, int], sends: list[Send], began: float) -> list[Transaction]:
    """The sends in transactions of a few records each, with ends of all kinds."""
    found: list[Transaction] = []
    at = epoch = 0
    initialized = began - 0.01
    while at < len(sends):
        size = draw.randint(1, 5)
        name = f"{process[0]}/{process[1]}/{len(found)}"
        if found and not found[-1].committed and draw.random() < 0.3:  # a new client, as one that has become unusable
            epoch, initialized = epoch + 1, sends[at].due - 0.002
        one = Transaction(name, process, sends[at].due - 0.001, initialized, epoch, sends[at : at + size])
        one.told = draw.choices(["committed", "aborted", "info"], [8, 3, 1])[0]
        one.committed = one.told == "committed" or (one.told == "info" and draw.random() < 0.5)
        if one.committed and any(send.fate != "ok" for send in one.sends):  # then a producer cannot commit
            one.told, one.committed = "aborted", False
        for send in one.sends:
            send.txn = name
        found.append(one)
        at += size
        for later in sends[at:]:  # one at a time: the next begins when this one has ended
            later.due = max(later.due, one.ending + 0.012)
            later.arrives = later.log.reached(later.due)
    return found


def _cut(story: Story, draw: Random, sends: list[Send], process: tuple[str, int], killed: float | None) -> None:
    """What a killed process did last is not written down; any other leaves an end marker."""
    if killed is None:
        story.add("ends", probe=process[0], incarnation=process[1], at=ns(21), scheduled=len(sends), rows=len(sends))
        return
    first = len(sends) - draw.choice([0, 0, 1, 2, 3])
    txns = {send.txn for send in sends[first:]}
    for number, send in enumerate(sends):
        send.unwritten = number >= first or (send.txn is not None and send.txn in txns)


def _forget(draw: Random, transactions: list[Transaction]) -> None:
    """Of a transaction that its process did not write down: it was committed, or whoever comes after it aborts it."""
    for one in transactions:
        if any(send.unwritten for send in one.sends):
            one.told, one.committed = "", one.committed and draw.random() < 0.5


def _append(story: Story, sends: list[Send], transactions: list[Transaction]) -> None:
    """Fill the logs in order of time: records, and the control records that end transactions."""
    inside = {send.txn: one for one in transactions for send in one.sends}
    arrivals: list[tuple[float, Log, Value | None, str | None]] = [
        (send.arrives, send.log, send.value, send.txn) for send in sends if send.fate in {"ok", "unheard"}
    ]
    for one in inside.values():
        story.fates[one.name] = Fate(one.committed, one.ending + 0.003)
        logs = {send.log.place: send.log for send in one.sends if send.fate in {"ok", "unheard"}}
        arrivals.extend((one.ending + 0.003, log, None, one.name) for log in logs.values())
    for at, log, value, txn in sorted(arrivals, key=lambda each: each[0]):
        log.append(at, value, txn)


def _write(story: Story, sends: list[Send], transactions: list[Transaction]) -> None:
    """The rows of ``sends`` and ``transactions``."""
    offsets = {entry.value: entry.offset for log in story.logs.values() for entry in log.entries if entry.value}
    acks = {(row["probe"], row["incarnation"]): row["acks"] for row in story.rows["incarnations"]}
    epochs = {one.name: one.epoch for one in transactions}
    for send in (send for send in sends if not send.unwritten):
        probe, incarnation, seq = send.value
        outcome = {"ok": "ok", "refused": "fail"}.get(send.fate, "info")
        known = outcome == "ok" and acks[probe, incarnation] != 0
        inside = epochs.get(send.txn or "")
        story.add(
            "sends", probe=probe, incarnation=incarnation, seq=seq, topic=send.log.topic, partition=send.log.partition,
            scheduled=ns(send.due), invoked=ns(send.due), completed=ns(send.arrives + 0.004), outcome=outcome,
            offset=offsets[send.value] if known else None, txn=send.txn, producer_epoch=inside,
            error=None if outcome == "ok" else "_MSG_TIMED_OUT" if outcome == "info" else "_QUEUE_FULL",
        )  # fmt: skip
    for one in (one for one in transactions if one.told):
        story.add(
            "transactions", probe=one.process[0], incarnation=one.process[1], txn=one.name,
            producer_epoch=one.epoch, transactional_id=one.process[0], initialized=ns(one.initialized),
            begun=ns(one.begun), ending=ns(one.ending), ended=ns(one.ending + 0.005), outcome=one.told,
        )  # fmt: skip

"""Applications in the model that read, write and commit in transactions, and are killed in the middle of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from analysis.history import Row, ns
from truth.logs import Entry, Fate, Log, Place, Value, shown
from truth.story import INTO, Story, named

DRAINED = 20.1
"""From when on everything that is left is read at once, and nothing fails any more."""
ENDED = 20.6
Arrival = tuple[float, Log, Value | None, str | None]


@dataclass(slots=True)
class Life:
    """One process of it."""

    incarnation: int
    began: float
    position: dict[Place, int]
    seq: int = 0
    polls: int = 0
    deliveries: int = 0
    transactions: int = 0


@dataclass(slots=True)
class Work:
    """One transaction: what was read in it, and what was written for that."""

    name: str
    begun: float
    begins: dict[Place, int] = field(default_factory=dict)
    reached: dict[Place, int] = field(default_factory=dict)
    outputs: list[tuple[Value, Log, float, float]] = field(default_factory=list)
    """Value, log, when it was due, and when it arrives."""

    @property
    def ending(self) -> float:
        """When its end is asked for."""
        return max(arrives for *_, arrives in self.outputs) + 0.01


class Pipe:
    """A member of a group with partitions of its own, which its next process takes over."""

    def __init__(self, story: Story, draw: Random, probe: str, group: str, inputs: list[Log], into: list[Log]) -> None:
        """``inputs`` are its partitions; for each record in them it writes one to any of ``into``."""
        self.story, self.draw, self.probe, self.group, self.into = story, draw, probe, group, into
        self.shown: dict[Place, list[tuple[float, Entry]]] = {
            log.place: shown(log, story.fates, "read_committed") for log in inputs
        }
        self.logs = {log.place: log for log in inputs}
        self.committed: dict[Place, int] = {}
        self.arrivals: list[Arrival] = []
        self.open: Work | None = None
        """What a killed process has left open, to be aborted by the next one."""

    def run(self) -> list[Arrival]:
        """All of its processes, one after the other; what they write, and the control records."""
        stops = sorted(self.draw.uniform(-3, 16) for _ in range(self.draw.choice([0, 1, 1, 2])))
        at = -5.6
        for incarnation, stop in enumerate([*stops, ENDED]):
            if stop < at + 0.5:
                continue
            life = self._start(incarnation, at)
            killed = stop != ENDED and self.draw.random() < 0.7
            at = self._work(life, at + 0.4, stop, killed=killed)
            if not killed:
                for place in self.logs:
                    self._assigned(life, place, "revoke", at)
                self.story.add(
                    "ends", probe=self.probe, incarnation=incarnation, at=ns(at), scheduled=0, rows=life.deliveries
                )
            at += 0.5
        for place in self.logs:
            self.story.add("groups", group=self.group, **named(place), offset=self.committed.get(place))
        return self.arrivals

    # --- a process ------------------------------------------------------------------------------------------------

    def _start(self, incarnation: int, at: float) -> Life:
        """It takes its partitions over, and its ``transactional.id``: what was open is aborted."""
        self.story.add(
            "incarnations", probe=self.probe, incarnation=incarnation, kind="transform", group=self.group,
            started=ns(at - 0.05), pid=1, client="2.16.1", isolation="read_committed", commit="none", acks=-1,
            idempotent=True, max_in_flight=5,
        )  # fmt: skip
        if self.open is not None:
            self._decide(self.open, at + 0.04, committed=False)
            self.open = None
        life = Life(incarnation, at, {place: self.committed.get(place, 0) for place in self.logs})
        for place in self.logs:
            self._assigned(life, place, "assign", at + 0.1)
            self.story.add(
                "fetched", **self._who(life), group=self.group, **named(place), offset=self.committed.get(place),
                invoked=ns(at + 0.11), completed=ns(at + 0.12),
            )  # fmt: skip
        return life

    def _work(self, life: Life, at: float, stop: float, *, killed: bool) -> float:
        """Transactions until it stops or is killed; when that was."""
        while at < stop:
            work = Work(f"{self.probe}/{life.incarnation}/{life.transactions}", at - 0.001)
            before = {name: len(self.story.rows[name]) for name in ("reads", "outputs", "polls")}
            for _ in range(self.draw.randint(1, 2)):
                self._poll(life, work, at)
                at += 0.06
            if not work.outputs:
                at += self.draw.uniform(0.1, 0.7)
                continue
            life.transactions += 1
            ending = work.ending
            if killed and ending >= stop:
                self._die(work, before)
                return ending
            self._end(life, work)
            at = max(at, ending + 0.02) + self.draw.uniform(0, 0.5)
        return at

    def _poll(self, life: Life, work: Work, at: float) -> None:
        """One poll: an output for each record of it."""
        taken, most = 0, 10_000 if at > DRAINED else self.draw.randint(1, 9)
        for place in self.draw.sample(sorted(self.logs), len(self.logs)):
            for since, entry in self.shown[place]:
                if entry.offset >= life.position[place] and since <= at and taken < most:
                    self._take(life, work, self.logs[place], entry, at + 0.05 + taken / 1e9)
                    taken += 1
        self.story.add(
            "polls", **self._who(life), poll=life.polls, invoked=ns(at), completed=ns(at + 0.05), records=taken
        )
        life.polls += 1

    def _take(self, life: Life, work: Work, log: Log, entry: Entry, at: float) -> None:
        probe, incarnation, seq = entry.value or ("", 0, 0)
        self.story.add(
            "reads", **self._who(life), group=self.group, assignment=0, poll=life.polls, n=life.deliveries,
            **named(log.place), offset=entry.offset, producer=probe, producer_incarnation=incarnation, seq=seq,
            intact=True, leader_epoch=log.epoch(entry.at), at=ns(at), txn=work.name,
        )  # fmt: skip
        self.story.add("outputs", **self._who(life), seq=life.seq, **named(log.place), offset=entry.offset, at=ns(at))
        out, due = self.draw.choice(self.into), at + 0.001 + len(work.outputs) / 1e5
        work.outputs.append(((self.probe, life.incarnation, life.seq), out, due, out.reached(due)))
        work.begins.setdefault(log.place, entry.offset)
        work.reached[log.place] = life.position[log.place] = entry.offset + 1
        life.seq += 1
        life.deliveries += 1

    # --- ends of transactions -------------------------------------------------------------------------------------

    def _die(self, work: Work, before: dict[str, int]) -> None:
        """It is killed: before it asked to commit, with nothing of that written, or when it had asked."""
        asked = self.draw.random() < 0.6
        if not asked:
            for name, count in before.items():
                del self.story.rows[name][count:]
        if asked and self.draw.random() < 0.5:
            self._decide(work, work.ending + 0.003, committed=True)
        else:
            self.open = work

    def _end(self, life: Life, work: Work) -> None:
        ending = work.ending
        told = "committed" if ending > DRAINED else self.draw.choices(["committed", "aborted", "info"], [8, 3, 1])[0]
        committed = told == "committed" or (told == "info" and self.draw.random() < 0.5)
        unheard = told == "aborted" and self.draw.random() < 0.3
        for number, (value, log, due, arrives) in enumerate(work.outputs):
            known = not unheard or number < len(work.outputs) - 1
            self.story.add(
                "sends", **self._who(life), seq=value[2], topic=INTO, partition=log.partition if known else None,
                scheduled=ns(due), invoked=ns(due), completed=ns(arrives + 0.004), outcome="ok" if known else "info",
                txn=work.name, producer_epoch=0, error=None if known else "_PURGE_INFLIGHT",
            )  # fmt: skip
        self.story.add(
            "transactions", **self._who(life), txn=work.name, transactional_id=self.probe, producer_epoch=0,
            initialized=ns(life.began + 0.04), begun=ns(work.begun), ending=ns(ending), ended=ns(ending + 0.005),
            outcome=told,
        )  # fmt: skip
        for place, offset in work.reached.items() if told != "aborted" else ():
            self.story.add(
                "txn_offsets", **self._who(life), txn=work.name, group=self.group, **named(place), offset=offset,
                at=ns(ending - 0.001),
            )  # fmt: skip
        self._decide(work, ending + 0.003, committed=committed)
        for place, begin in work.begins.items() if told != "committed" else ():
            life.position[place] = work.reached[place] if committed else begin
            self.story.add(
                "seeks", **self._who(life), **named(place), offset=life.position[place], at=ns(ending + 0.006),
                kind="seek",
            )  # fmt: skip

    def _decide(self, work: Work, at: float, *, committed: bool) -> None:
        """How it ended in truth."""
        self.story.fates[work.name] = Fate(committed, at)
        self.arrivals.extend((arrives, log, value, work.name) for value, log, _, arrives in work.outputs)
        logs = {log.place: log for _, log, _, _ in work.outputs}
        self.arrivals.extend((at, log, None, work.name) for log in logs.values())
        if committed:
            self.committed |= work.reached

    def _who(self, life: Life) -> Row:
        return {"probe": self.probe, "incarnation": life.incarnation}

    def _assigned(self, life: Life, place: Place, kind: str, at: float) -> None:
        self.story.add(
            "assignments", **self._who(life), group=self.group, at=ns(at), kind=kind, **named(place), assignment=0,
            rebalance=0 if kind == "assign" else 1,
        )  # fmt: skip


def transform(story: Story, draw: Random) -> None:
    """Let one or two groups of one or two members each make outputs of what the producers wrote."""
    into = [log for log in story.logs.values() if log.topic == INTO]
    inputs = [log for log in story.logs.values() if log.topic != INTO]
    arrivals: list[Arrival] = []
    for number in range(draw.choice([1, 1, 2]) if into else 0):
        members = draw.choice([1, 2])
        for member in range(members):
            probe, group = f"pipe{number}-{member}", f"pipes{number}"
            arrivals += Pipe(story, draw, probe, group, inputs[member::members], into).run()
    for at, log, value, txn in sorted(arrivals, key=lambda each: each[0]):
        log.append(at, value, txn)
    offsets = {entry.value: entry.offset for log in into for entry in log.entries if entry.value}
    for row in _written(story):
        row["offset"] = offsets[row["probe"], row["incarnation"], row["seq"]]


def _written(story: Story) -> Iterator[Row]:
    return (row for row in story.rows["sends"] if row["topic"] == INTO and row["outcome"] == "ok")

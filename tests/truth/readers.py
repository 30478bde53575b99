"""Consumers in the model: groups whose members come, go and are killed, and readers without a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from analysis.history import Row, ns
from truth.logs import Entry, Log, Place, shown
from truth.story import END, LEVELS, Story, named

MODES = ("sync", "sync", "async", "auto", "none")
DRAINED = END + 0.9
"""By when everything is read."""
Process = tuple[str, int]


@dataclass(slots=True)
class Member:
    """One process of a consumer, and where it is in each of its partitions."""

    process: Process
    place: dict[Place, int] = field(default_factory=dict)
    """By partition that it has, the next offset to read."""
    polled: dict[Place, int] = field(default_factory=dict)
    """The positions before the last poll: what automatic commits commit."""
    committed: dict[Place, int] = field(default_factory=dict)
    assignments: dict[Place, int] = field(default_factory=dict)
    rebalances: int = 0
    polls: int = 0
    deliveries: int = 0
    killed: float | None = None
    last_call: float = -9.0
    """When it last committed or was given a partition."""


class Crowd:
    """The members of one group, or one reader without a group."""

    def __init__(self, story: Story, draw: Random, name: str | None, probes: tuple[str, ...]) -> None:
        """Members that read all partitions of some topics."""
        self.story, self.draw, self.name, self.probes = story, draw, name, probes
        topics = {log.topic for log in story.logs.values()}
        chosen = topics if name is None else {t for t in sorted(topics) if draw.random() < 0.85} or {"orders"}
        self.logs: dict[Place, Log] = {place: log for place, log in story.logs.items() if log.topic in chosen}
        self.isolation = draw.choice(LEVELS)
        self.mode = "none" if name is None else draw.choice(MODES)
        self.cooperative = draw.random() < 0.5
        self.shown: dict[Place, list[tuple[float, Entry]]] = {
            place: shown(log, story.fates, self.isolation) for place, log in self.logs.items()
        }
        self.committed: dict[Place, int] = {}
        self.owners: dict[Place, Member] = {}
        self.seeks = draw.random() < 0.1

    def read(self) -> None:
        """From the beginning to the end: assignments, polls, commits, changes of the membership."""
        began = -5.9 if self.draw.random() < 0.8 else self.draw.uniform(-3, 6)
        alive = [self._member(probe, 0, began) for probe in self.probes[: self.draw.randint(1, len(self.probes))]]
        self._give(alive, began)
        now = began + 0.5
        for change in self._changes(began):
            self._poll(alive, now, change)
            alive = self._change(alive, change)
            now = change + 0.6
        self._poll(alive, now, 20)
        self._poll(alive, END + 0.1, DRAINED, all_of_it=True)
        for member in alive:
            self._take(member, set(member.place), DRAINED + 0.05)
            self._end(member, END + 1)
        for place in self.logs if self.name is not None else ():
            self.story.add("groups", group=self.name, **named(place), offset=self.committed.get(place))

    # --- membership ------------------------------------------------------------------------------------------------

    def _changes(self, began: float) -> list[float]:
        times = [] if self.name is None else sorted(self.draw.uniform(began + 2, 18.5) for _ in range(3))
        count = self.draw.randint(0, 3)
        return [at for number, at in enumerate(times[:count]) if number == 0 or at - times[number - 1] > 1.5]

    def _member(self, probe: str, incarnation: int, at: float) -> Member:
        self.story.add(
            "incarnations", probe=probe, incarnation=incarnation, kind="consume", group=self.name,
            started=ns(at - 0.05), pid=1, client="2.16.1", isolation=self.isolation,
            commit="automatic" if self.mode == "auto" else self.mode,
        )  # fmt: skip
        return Member((probe, incarnation))

    def _change(self, alive: list[Member], at: float) -> list[Member]:
        """One member is killed and replaced, ends, comes back or comes new; or nothing changes but the partitions."""
        kind = self.draw.choice(["kill", "kill", "stop", "join", "shuffle"])
        left = list(alive)
        if kind in {"kill", "stop"}:
            gone = left.pop(self.draw.randrange(len(left)))
            if kind == "stop":
                self._take(gone, set(gone.place), at)
                self._end(gone, at)
            else:
                self._kill(gone, at)
            if not left or self.draw.random() < 0.5:
                left.append(self._member(gone.process[0], gone.process[1] + 1, at + 0.1))
        elif kind == "join":
            used = {member.process[0] for member in alive}
            if fresh := [p for p in self.probes if p not in used and not self.story.all("incarnations", probe=p)]:
                left.append(self._member(fresh[0], 0, at + 0.1))
        self._give(left, at)
        return left

    def _give(self, alive: list[Member], at: float) -> None:
        """Spread the partitions over the members: eagerly all anew, or cooperatively only those that move."""
        target: dict[Place, Member] = {}
        for number, place in enumerate(self.draw.sample(sorted(self.logs), len(self.logs))):
            old = self.owners.get(place)
            stays = self.cooperative and old in alive and self.draw.random() < 0.7
            target[place] = old if stays and old is not None else alive[number % len(alive)]
        for member in alive:
            moving = {place for place in member.place if not self.cooperative or target[place] is not member}
            self._take(member, moving, at)
        for member in alive:
            self._hand(member, [place for place in target if target[place] is member], at + 0.2)
        self.owners = target

    def _hand(self, member: Member, places: list[Place], at: float) -> None:
        for place in places:
            if place not in member.place:
                member.assignments[place] = member.assignments.get(place, -1) + 1
                self._assigned(member, place, "assign", at)
                found = self.committed.get(place)
                if self.name is not None:
                    self.story.add(
                        "fetched", **_who(member), group=self.name, **named(place), offset=found,
                        invoked=ns(at + 0.01), completed=ns(at + 0.02),
                    )  # fmt: skip
                member.place[place] = member.polled[place] = member.committed[place] = found or 0
        member.rebalances += 1
        member.last_call = at

    def _take(self, member: Member, places: set[Place], at: float) -> None:
        """Take partitions from a member that is well: it commits what it has first."""
        self._commit(member, at - 0.02, sorted(places), sure=True)
        for place in sorted(places):
            self._assigned(member, place, "revoke", at)
            del member.place[place]
        member.rebalances += bool(places)

    def _assigned(self, member: Member, place: Place, kind: str, at: float) -> None:
        self.story.add(
            "assignments", **_who(member), group=self.name, at=ns(at), kind=kind, **named(place),
            assignment=member.assignments[place], rebalance=member.rebalances,
        )  # fmt: skip

    def _kill(self, member: Member, at: float) -> None:
        """The member is gone; what it was given last, and has not tried to commit, may not be written down."""
        cut = self.draw.choice([0.0, at - self.draw.uniform(0, 0.6)])
        since = ns(max(cut, member.last_call)) if cut else ns(99)
        self.story.drop("reads", lambda row: _is(row, member) and row["at"] > since)
        self.story.drop("polls", lambda row: _is(row, member) and row["completed"] > since)
        member.place.clear()

    def _end(self, member: Member, at: float) -> None:
        probe, incarnation = member.process
        self.story.add("ends", probe=probe, incarnation=incarnation, at=ns(at), scheduled=0, rows=member.deliveries)

    # --- reading ---------------------------------------------------------------------------------------------------

    def _poll(self, alive: list[Member], since: float, until: float, *, all_of_it: bool = False) -> None:
        for member in alive:
            at = since + self.draw.uniform(0, 0.3)
            while at < until - 0.1:
                self._seek(member, at)
                self._deliver(member, at, 5 if not all_of_it else 10_000)
                if self.draw.random() < 0.5:
                    self._commit(member, at + 0.06, sorted(member.place))
                at += self.draw.uniform(0.3, 1.2)
            if all_of_it:
                self._deliver(member, until - 0.1, 10_000)

    def _deliver(self, member: Member, at: float, most: int) -> None:
        """One poll: what is there by now, partition by partition."""
        taken = 0
        member.polled = dict(member.place)
        for place in self.draw.sample(sorted(member.place), len(member.place)):
            log = self.logs[place]
            for since, entry in self.shown[place]:
                if entry.offset >= member.place[place] and since <= at and taken < most and entry.value:
                    probe, incarnation, seq = entry.value
                    self.story.add(
                        "reads", **_who(member), group=self.name, assignment=member.assignments[place],
                        poll=member.polls, n=member.deliveries, **named(place), offset=entry.offset, producer=probe,
                        producer_incarnation=incarnation, seq=seq, intact=True, leader_epoch=log.epoch(entry.at),
                        at=ns(at + 0.05) + taken,
                    )  # fmt: skip
                    member.place[place] = entry.offset + 1
                    member.deliveries += 1
                    taken += 1
        self.story.add(
            "polls", **_who(member), poll=member.polls, invoked=ns(at), completed=ns(at + 0.05), records=taken
        )
        member.polls += 1

    def _commit(self, member: Member, at: float, places: list[Place], *, sure: bool = False) -> None:
        """Commit positions that moved; now and then the answer is an error, or none, and it may have worked anyhow."""
        if self.mode == "none":
            return
        positions = member.polled if self.mode == "auto" and not sure else member.place
        for place in places:
            offset = positions.get(place, 0)
            if offset == member.committed[place] and not self.draw.random() < 0.1:
                continue
            outcome = "ok" if sure else self.draw.choices(["ok", "fail", "info"], [12, 1, 1])[0]
            self.story.add(
                "commits", **_who(member), group=self.name, assignment=member.assignments[place],
                generation=None, **named(place), offset=offset, invoked=ns(at), completed=ns(at + 0.002),
                outcome=outcome, error=None if outcome == "ok" else "_TIMED_OUT", kind=self.mode,
            )  # fmt: skip
            if outcome == "ok" or (outcome == "info" and self.draw.random() < 0.5):
                self.committed[place] = member.committed[place] = offset
            member.last_call = at

    def _seek(self, member: Member, at: float) -> None:
        """Now and then a consumer of the kind that seeks goes back."""
        if self.seeks and member.place and self.draw.random() < 0.1:
            place = self.draw.choice(sorted(member.place))
            member.place[place] = max(0, member.place[place] - self.draw.randint(1, 4))
            self.story.add(
                "seeks", **_who(member), **named(place), offset=member.place[place], at=ns(at - 0.01), kind="seek"
            )


def _who(member: Member) -> Row:
    return {"probe": member.process[0], "incarnation": member.process[1]}


def _is(row: Row, member: Member) -> bool:
    return (row["probe"], row["incarnation"]) == member.process


def consume(story: Story, draw: Random) -> None:
    """Let up to three groups and up to two readers without a group read the whole run."""
    for group in range(draw.randint(0, 3)):
        Crowd(story, draw, f"group{group}", tuple(f"group{group}-{member}" for member in range(3))).read()
    for reader in range(draw.randint(0 if story.rows["groups"] else 1, 2)):
        Crowd(story, draw, None, (f"reader{reader}",)).read()

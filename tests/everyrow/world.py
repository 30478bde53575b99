"""A world in which all goes well: tens of records, a killed leader, and every table that such a run leaves.

It is made of what happened: a record is sent, a transaction ends, a reader is given partitions. The rows of all tables
follow from that, those of the watcher, of the audit and of the brokers' own files too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from analysis.history import VALUE, History, Row, ns

Place = tuple[str, int]
LEVELS = ("read_uncommitted", "read_committed")
KILLED, ELECTED, BACK, WHOLE = 1.1, 1.4, 6.0, 7.0
"""When broker 1, the leader, is gone; another leads; it is there again; its replicas are in sync again."""
SETTINGS: Row = {
    "cleanup.policy": "delete", "retention.ms": 604_800_000, "retention.bytes": -1, "segment.bytes": 1_073_741_824,
    "segment.ms": 604_800_000, "min.insync.replicas": 2, "unclean.leader.election.enable": "false",
}  # fmt: skip
"""Settings of topics as brokers have them."""
ENDED = 21.0
"""When the probes are told to end."""
POLLED = 0.5
"""Seconds from one poll to the next."""


@dataclass(frozen=True)
class Entry:
    """What stands at an offset: a record, or the marker of a transaction."""

    offset: int
    at: float
    value: tuple[str, int, int] | None
    txn: str | None
    committed: bool = True


@dataclass(frozen=True)
class Member:
    """A process that reads, from when until when."""

    probe: str = "reader"
    incarnation: int = 0
    group: str | None = "readers"
    commit: str = "sync"
    began: float = -5.9
    ended: float = ENDED
    leaves: bool = True
    """Whether it leaves its group when it ends."""

    @property
    def who(self) -> Row:
        """Probe and incarnation as columns."""
        return {"probe": self.probe, "incarnation": self.incarnation}

    @property
    def reader(self) -> str:
        """Who reads: the group, or the probe where there is none."""
        return self.group or self.probe


@dataclass
class Log:
    """A partition's log, and when each transaction was decided."""

    entries: list[Entry] = field(default_factory=list)
    decided: dict[str, tuple[float, bool]] = field(default_factory=dict)

    def shown(self, isolation: str) -> Iterator[tuple[float, Entry]]:
        """Records that a reader of that level gets, in order, and since when."""
        careful, since = isolation == "read_committed", -1e9
        for entry in self.entries:
            decided, committed = self.decided.get(entry.txn or "", (entry.at, True))
            since = max(since, (decided if careful else entry.at) + 0.002)
            if entry.value is not None and (committed or not careful):
                yield since, entry

    def end(self, at: float) -> int:
        """The log's end at a moment."""
        return sum(entry.at <= at for entry in self.entries)

    def last_stable(self, at: float) -> int:
        """The last stable offset then."""
        known = [entry for entry in self.entries if entry.at <= at]
        waiting = (e.offset for e in known if e.value and e.txn and self.decided[e.txn][0] > at)
        return next(waiting, len(known))


def leader(at: float) -> tuple[int, int]:
    """The leader and its epoch at a moment; -1 for none."""
    return (1, 3) if at < KILLED else (-1, 3) if at < ELECTED else (2, 4)


def in_sync(at: float) -> list[int]:
    """The replicas in sync at a moment."""
    return [0, 2] if KILLED <= at < WHOLE else [0, 1, 2]


def named(place: Place) -> Row:
    """Topic and partition as columns."""
    return {"topic": place[0], "partition": place[1]}


def value_of(entry: Entry) -> Row:
    """Which record it is, as columns."""
    return dict(zip(VALUE, entry.value or (), strict=True))


class World(History):
    """One run, told by what happened."""

    def __init__(self, topics: dict[str, int], probes: dict[str, Row]) -> None:
        """``topics`` by name how many partitions they have; ``probes`` as a scenario has them."""
        super().__init__()
        self.partitions = topics
        self.config: dict[str, Row] = {name: {"min.insync.replicas": 2} for name in topics}
        self.probes = probes
        around = ("phases", "faults", "clocks")
        self.rows = {name: rows if name in around else [] for name, rows in self.rows.items()}
        self.record["probes"] = []
        self.logs = {(name, number): Log() for name, count in topics.items() for number in range(count)}
        self.seqs: dict[tuple[str, int], int] = {}
        self.committed: dict[tuple[str, Place], int] = {}

    # --- who is there ---------------------------------------------------------------------------------------------

    def process(
        self, probe: str, incarnation: int = 0, *, started: float = -5.95, stopped: float | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        """A process of a probe: to the end, or until an entry of the timeline ended it."""
        by = "stop" if stopped is None else "step"
        self.worker(probe, incarnation, started=started, **settings)
        self.rows["ends"][-1]["at"] = ns(ENDED if stopped is None else stopped)
        self.record["probes"].append(
            {"probe": probe, "incarnation": incarnation, "ended_by": by, "exit_status": 0}
        )  # fmt: skip
        role = "data" if settings["kind"] != "consume" else "group_coordinator"
        if settings["kind"] in ("produce", "consume", "transform"):
            self.add(
                "connections", probe=probe, incarnation=incarnation, client=_client(settings["kind"]), role=role,
                at=started + 0.01, since=started, seen=started + 0.25, address="198.18.0.12:9092",
            )  # fmt: skip
        if settings["kind"] != "call" and started < KILLED and stopped is None:
            self.add(
                "errors", probe=probe, incarnation=incarnation, at=KILLED + 0.01, error="_TRANSPORT",
                message="198.18.0.12:9092: disconnected", fatal=False,
            )  # fmt: skip

    def producer(self, probe: str = "writer") -> None:
        """A producer of the usual settings."""
        self.process(probe, kind="produce", acks=-1, idempotent=True, max_in_flight=5)

    # --- what is written ------------------------------------------------------------------------------------------

    def append(self, place: Place, at: float, probe: str = "writer", txn: str | None = None) -> int:
        """A record that is sent at ``at``, in the log 2 ms later and acknowledged after 5 ms; its offset."""
        log = self.logs[place]
        seq = self.seqs.setdefault((probe, 0), 0)
        self.seqs[probe, 0] = seq + 1
        offset = len(log.entries)
        log.entries.append(Entry(offset, at + 0.002, (probe, 0, seq), txn))
        inside = {"txn": txn, "producer_epoch": None if txn is None else 0}
        self.send(seq, at, probe=probe, **named(place), offset=offset, **inside)
        return offset

    def transaction(
        self, txn: str, records: list[tuple[Place, float]], probe: str = "writer", *, committed: bool = True
    ) -> float:
        """A transaction with these records; when it had ended."""
        for place, at in records:
            self.append(place, at, probe, txn)
        return self.decide(txn, records[0][1] - 0.001, records[-1][1] + 0.01, probe, committed=committed)

    def decide(self, txn: str, begun: float, ending: float, probe: str, *, committed: bool) -> float:
        """The end of a transaction: its row, and a marker in each log that it wrote to; when it had ended."""
        self.add(
            "transactions", probe=probe, txn=txn, transactional_id=probe, initialized=-5.9, begun=begun, ending=ending,
            ended=ending + 0.005, outcome="committed" if committed else "aborted",
        )  # fmt: skip
        for log in self.logs.values():
            if any(entry.txn == txn for entry in log.entries):
                log.decided[txn] = ending + 0.003, committed
                log.entries.append(Entry(len(log.entries), ending + 0.003, None, txn, committed))
        return ending + 0.005

    # --- what is read ---------------------------------------------------------------------------------------------

    def read_by(self, member: Member, places: list[Place]) -> None:
        """A member is given partitions and reads them until it ends; with a group it commits after each poll."""
        self.given(member, places)
        position = {place: self.committed.get((member.reader, place), 0) for place in places}
        tick, poll, n = member.began + 0.2, 0, 0
        while tick < member.ended - 0.05:
            taken: list[tuple[Place, Entry]] = []
            for place in places:
                for since, entry in self.logs[place].shown("read_committed"):
                    if since <= tick and entry.offset >= position[place]:
                        taken.append((place, entry))
                        position[place] = entry.offset + 1
            for place, entry in taken:
                self.deliver(member, place, entry, poll=poll, n=n, at=tick + 0.01 + n / 1e6)
                n += 1
            done = tick + (0.02 if taken else 0.3)
            self.add("polls", **member.who, poll=poll, invoked=tick, completed=done, records=len(taken))
            for place in sorted({place for place, _ in taken} if member.group else ()):
                self.commit(
                    position[place],
                    tick + 0.05,
                    **member.who,
                    **named(place),
                    group=member.group,
                    kind=member.commit,
                    generation=1,
                )
                self.committed[member.reader, place] = position[place]
            tick, poll = tick + POLLED, poll + 1
        if member.leaves and member.group:
            self.taken(member, places)

    def given(self, member: Member, places: list[Place]) -> None:
        """A member is given partitions, and asks where to begin."""
        who, group, at = member.who, member.group, member.began
        for place in places:
            self.add("assignments", **who, **named(place), group=group, at=at)
            if group:
                found = self.committed.get((group, place))
                asked = {"invoked": at + 0.01, "completed": at + 0.02}
                self.add("fetched", **who, **named(place), group=group, offset=found, **asked)
        if group:
            stages = {"began": at - 0.04, "coordinator": at - 0.02, "assigned": at, "fetched": at + 0.02}
            self.add("joins", **who, group=group, rebalance=0, partitions=len(places), **stages, first=at + 1.5)
            for number in range(4):
                self.add("generations", **who, group=group, at=at + 0.1 + 3 * number, generation=1)

    def taken(self, member: Member, places: list[Place]) -> None:
        """A member leaves: its partitions are taken from it."""
        for place in places:
            self.add(
                "assignments",
                **member.who,
                **named(place),
                group=member.group,
                kind="revoke",
                at=member.ended - 0.01,
                rebalance=1,
            )

    def deliver(self, member: Member, place: Place, entry: Entry, **values: Any) -> None:
        """One record is given to a reader."""
        self.add(
            "reads",
            **member.who,
            **named(place),
            **value_of(entry),
            group=member.group,
            offset=entry.offset,
            leader_epoch=leader(entry.at)[1],
            **values,
        )

    # --- the end --------------------------------------------------------------------------------------------------

    def finished(self) -> World:
        """What the watcher, the audit and the brokers' own files say of all that."""
        for place, log in self.logs.items():
            self._watched(place, log)
            self._audited(place, log)
            self._dumped(place, log)
        self._cluster()
        pipes = {row["probe"] for row in self.rows["incarnations"] if row["kind"] == "transform"}
        for end in (row for row in self.rows["ends"] if row["probe"] not in pipes):
            due = (row for table in ("sends", "health_checks", "calls") for row in self.rows[table])
            end["scheduled"] = sum(all(row[name] == end[name] for name in ("probe", "incarnation")) for row in due)
        for group in sorted({row["group"] for row in self.rows["incarnations"] if row["group"]}):
            for place in sorted(self.logs):
                self.add("groups", group=group, **named(place), offset=self.committed.get((group, place)))
        for host in ("node1", "node2", "node3"):
            for at in (-6, 21):
                self.rows["host_clocks"].append({"host": host, "at": ns(at), "offset": 1_000, "error": 200_000})
        self._settings()
        self._beats()
        return self

    def _settings(self) -> None:
        """What brokers report of the topics: asked before the run, and nothing changed since."""
        for topic, config in self.config.items():
            for name, value in (SETTINGS | config).items():
                self.add("topic_settings", at=-5.9, topic=topic, name=name, value=str(value))

    def _beats(self) -> None:
        """The hearts of all processes."""
        lives = {
            f"{row['probe']}-{row['incarnation']}": (row["started"], end["at"])
            for row, end in zip(self.rows["incarnations"], self.rows["ends"], strict=True)
        }
        for writer, (began, ended) in (lives | {"watcher": (ns(-6), ns(22))}).items():
            for at in range(began, ended, ns(0.5) - ns(0)):
                self.rows["heartbeats"].append({"writer": writer, "at": at, "late": 0})

    def _watched(self, place: Place, log: Log) -> None:
        for second in range(-6, 23):
            at = second + 0.05
            first, epoch = leader(at)
            alive = [n for n in (0, 1, 2) if n != 1 or not KILLED <= at < BACK]
            for asked in alive:
                self.add(
                    "partitions", at=at, asked=asked, **named(place), leader=first, leader_epoch=epoch,
                    replicas=[1, 2, 0], isr=in_sync(at),
                )  # fmt: skip
            for asked in alive if first >= 0 else ():
                leads, end = asked == first, log.end(at)
                self.add(
                    "offsets", at=at + 0.01, asked=asked, **named(place), leader=leads, log_start=0, log_end=end,
                    high_watermark=end if leads else None, last_stable=log.last_stable(at) if leads else None,
                )  # fmt: skip

    def _audited(self, place: Place, log: Log) -> None:
        for isolation in LEVELS:
            self.add(
                "audit_ranges", isolation=isolation, **named(place), log_start=0, end=len(log.entries), complete=True
            )  # fmt: skip
            for _, entry in log.shown(isolation):
                told = {**named(place), **value_of(entry), "offset": entry.offset}
                self.add("audit", isolation=isolation, **told, leader_epoch=leader(entry.at)[1])

    def _dumped(self, place: Place, log: Log) -> None:
        if not log.decided:
            return
        markers = {entry.txn or "": entry for entry in log.entries if entry.value is None}
        ids = sorted({value[0] for each in self.logs.values() for e in each.entries if (value := e.value) and e.txn})
        owners = {entry.txn or "": ids.index(entry.value[0]) for entry in log.entries if entry.txn and entry.value}
        for txn, entries in groupby(log.entries, key=lambda entry: entry.txn if entry.value else None):
            if txn is not None:
                offsets = [entry.offset for entry in entries]
                self.add(
                    "stretches", **named(place), first=offsets[0], last=offsets[-1], producer_id=owners[txn],
                    producer_epoch=0, marker=markers[txn].offset,
                )  # fmt: skip
        for txn, entry in markers.items():
            self.add(
                "markers", **named(place), offset=entry.offset, producer_id=owners[txn], producer_epoch=0,
                kind="commit" if entry.committed else "abort",
            )  # fmt: skip
        self.add("dumps", **named(place), broker=2, log_start=0, end=len(log.entries), complete=True)
        self.add("copies", **named(place), first=0, last=len(log.entries) - 1, same=True)

    def _cluster(self) -> None:
        for second in range(-6, 23):
            at = second + 0.02
            there = [n for n in (0, 1, 2) if n != 1 or not KILLED <= at < BACK]
            for asked in (0, 1, 2):
                mine: Row = {"asked": asked, "invoked": ns(at), "completed": ns(at + 0.01)}
                known: Row = {"controller": 0, "alive": there, "error": None}
                gone: Row = {"controller": None, "alive": None, "error": "refused"}
                self.rows["brokers"].append(mine | (known if asked in there else gone))
            for node in (1, 2, 3):
                mode = "leader" if node == 2 else "follower"
                self.rows["zookeepers"].append({"node": node, "at": ns(at), "mode": mode, "error": None})

    def plan(self) -> Row:
        """The document of ``plan.json``."""
        document = super().plan()
        document["scenario"]["topics"] = {
            name: {"partitions": count, "replication_factor": 3, "config": self.config[name]}
            for name, count in self.partitions.items()
        }
        return document


def _client(kind: object) -> str:
    return "consumer" if kind == "consume" else "producer"

"""Histories: small made-up runs, row by row, written as the run directories that the analysis judges.

A history starts out as a run in which all went well: a producer ``writer`` and a consumer ``reader`` (group
``readers``) on the topic ``orders``, one fault ``kill``, everything read and audited. A test then changes the few rows
its rule is about. Times are seconds from the begin of the timeline.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from analysis.tallying import tallies

from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.paths import RunDir

Row = dict[str, Any]
ORIGIN = 1_000_000_000_000
"""Monotonic nanoseconds at the begin of the timeline."""
WALL = 1_800_000_000_000_000_000
"""Wall clock at that moment."""
PHASES = (
    ("warm_up", -6, -5), ("baseline", -5, 0), ("timeline", 0, 10), ("settle", 10, 20), ("drain", 20, 21),
    ("audit", 21, 22),
)  # fmt: skip
VALUE = ("producer", "producer_incarnation", "seq")
SENDER = ("probe", "incarnation", "seq")


def ns(seconds: float) -> int:
    """Monotonic nanoseconds of a moment."""
    return ORIGIN + round(seconds * 1e9)


class History:
    """The rows of one run, to be changed and then written."""

    def __init__(self, *, records: int = 0, acks: int = -1, idempotent: bool = True, in_flight: int = 5) -> None:
        """A run in which ``records`` records, evenly from the baseline's begin to the settling's end, all went well."""
        self.rows: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
        self.topic: Row = {"partitions": 1, "replication_factor": 3, "config": {"min.insync.replicas": 2}}
        self.others: dict[str, Row] = {}
        """Topics besides ``orders``, by name."""
        self.probes: Row = {
            "writer": {"produce": {"topic": "orders", "rate": "100/s"}},
            "reader": {"consume": {"topic": "orders", "group": "readers"}},
        }
        self.beside: list[Row] = []
        """Further entries of the timeline."""
        self.entry: Row | None = {
            "name": "kill",
            "at": "1s",
            "kill_broker": {"target": "leader(orders, 0)"},
            "for": "4s",
        }
        self.expect: Row = {}
        self.record: Row = {
            "run_id": "r1", "began": ns(0), "wall": WALL, "ended": ns(22), "healed": True,
            "entries": [{"entry": "kill", "status": "done"}],
            "probes": [
                {"probe": name, "incarnation": 0, "ended_by": "stop", "exit_status": 0} for name in ("reader", "writer")
            ],
        }  # fmt: skip
        self.counts_itself = True
        """Whether every process that ended cleanly leaves a tally of its rows as they are when the run is written."""
        self._surroundings()
        self.worker("writer", kind="produce", acks=acks, idempotent=idempotent, max_in_flight=in_flight)
        self.worker("reader", kind="consume", group="readers", isolation="read_committed", commit="sync")
        self.add("assignments", at=-5.9)
        self.add("fetched", offset=None, invoked=-5.85, completed=-5.8)
        for number in range(records):
            self.flow(number, -5 + 25 * number / records)
        self.polls()

    # --- rows -----------------------------------------------------------------------------------------------------

    def add(self, table: str, **values: Any) -> Row:
        """Add a row; what is not given has its usual value, times are seconds."""
        row: Row = dict.fromkeys(SCHEMAS[table].names) | self._usual(table) | values
        times = TIMES.get(table, ())
        for column in times:
            if row[column] is not None:
                row[column] = ns(row[column])
        self.rows[table].append(row)
        return row

    def send(self, seq: int, at: float, **values: Any) -> Row:
        """A send that was due at ``at`` and acknowledged 5 ms later at the offset ``seq``, unless told otherwise."""
        usual = {"scheduled": at, "invoked": at, "completed": at + 0.005, "offset": seq}
        return self.add("sends", **(usual | {"seq": seq} | values))

    def read(self, offset: int, at: float, **values: Any) -> Row:
        """A delivery at ``at`` of the record with ``seq`` = ``offset``, unless told otherwise."""
        n = sum(
            row["probe"] == values.get("probe", "reader") and row["incarnation"] == values.get("incarnation", 0)
            for row in self.rows["reads"]
        )
        return self.add("reads", **({"offset": offset, "seq": offset, "at": at, "n": n, "poll": n} | values))

    def audit(self, offset: int, **values: Any) -> None:
        """A record that the tail audit found, at both isolation levels."""
        for isolation in ("read_uncommitted", "read_committed"):
            self.add("audit", **({"offset": offset, "seq": offset, "isolation": isolation} | values))

    def flow(self, number: int, at: float, offset: int | None = None, **values: Any) -> None:
        """A record that was sent, acknowledged, delivered 10 ms after it was due, and audited."""
        place = number if offset is None else offset
        self.send(number, at, offset=place, **values)
        self.read(place, at + 0.010, seq=number, **{k: v for k, v in values.items() if k == "partition"})
        self.audit(place, seq=number, **{k: v for k, v in values.items() if k == "partition"})

    def commit(self, offset: int, at: float, **values: Any) -> Row:
        """A commit of ``offset`` that was acknowledged 2 ms after it was asked for."""
        return self.add("commits", **({"offset": offset, "invoked": at, "completed": at + 0.002} | values))

    def worker(
        self, probe: str, incarnation: int = 0, started: float = -5.95, *, ends: bool = True, **values: Any
    ) -> None:
        """A process of a probe; its end marker counts its rows when the run is written."""
        self.add("incarnations", probe=probe, incarnation=incarnation, started=started, **values)
        if ends:
            self.add("ends", probe=probe, incarnation=incarnation, at=21, scheduled=0, rows=-1)

    def polls(self) -> None:
        """An empty poll of the reader every half second, so that it is seen to have been there."""
        for number in range(50):
            self.add("polls", poll=100_000 + number, invoked=-5 + number / 2, completed=-4.9 + number / 2)

    def drop(self, table: str, **wanted: Any) -> list[Row]:
        """Remove the rows with these values, and return them; there must be some."""
        gone = [row for row in self.rows[table] if all(row[name] == value for name, value in wanted.items())]
        assert gone, (table, wanted)
        self.rows[table] = [row for row in self.rows[table] if row not in gone]
        return gone

    def change(self, table: str, wanted: Row, **values: Any) -> None:
        """Change the rows with the values ``wanted``; times are nanoseconds here. There must be some."""
        for row in self.drop(table, **wanted):
            self.rows[table].append(row | values)

    def each(self, table: str, change: Callable[[Row], Row]) -> None:
        """Change every row of a table."""
        self.rows[table] = [change(row) for row in self.rows[table]]

    # --- what is around -------------------------------------------------------------------------------------------

    def _surroundings(self) -> None:
        for phase, began, ended in PHASES:
            self.add("phases", phase=phase, began=began, ended=ended)
        for second in range(-6, 23):
            self.rows["clocks"].append({"monotonic": ns(second), "wall": WALL + second * 1_000_000_000})
        self.add(
            "faults", fault="kill", step="kill_broker", targets="broker 1 on node1", invoked=1, applied=1.1,
            heal_invoked=5.1, healed=6, took=True, undone=True,
        )  # fmt: skip
        for isolation in ("read_uncommitted", "read_committed"):
            self.add("audit_ranges", isolation=isolation, log_start=0, end=-1, complete=True)
        for tenth in range(-60, 220, 2):
            self.sample(tenth / 10)

    def sample(self, at: float, leader: int = 1, epoch: int = 3, isr: tuple[int, ...] = (0, 1, 2)) -> None:
        """What the watcher saw at one moment: a leader that answers as one, and the replicas in sync."""
        self.add("partitions", at=at, asked=0, leader=leader, leader_epoch=epoch, replicas=[0, 1, 2], isr=list(isr))
        if leader >= 0:
            self.add("offsets", at=at, asked=leader, leader=True, log_start=0)

    def elect(self, at: float) -> None:
        """The watcher saw another leader from ``at`` on, in the next epoch: broker 2, that was in sync."""
        self.each("partitions", lambda row: row | ({"leader": 2, "leader_epoch": 4} if row["at"] >= ns(at) else {}))
        self.each("offsets", lambda row: row | ({"asked": 2} if row["at"] >= ns(at) else {}))

    def elect_uncleanly(self, at: float, *, allowed: bool = True) -> None:
        """The watcher saw an unclean election: broker 1 alone in sync from 3 s before, none at ``at``, then broker 2.

        ``allowed``: whether the topic allows it.
        """
        if allowed:
            self.topic["config"]["unclean.leader.election.enable"] = True
        rows, self.rows["partitions"] = self.rows["partitions"], []
        for row in rows:
            if row["at"] < ns(at):
                self.rows["partitions"].append(row | ({"isr": [1]} if row["at"] >= ns(at - 3) else {}))
            elif row["at"] >= ns(at + 1):
                self.rows["partitions"].append(row | {"leader": 2, "leader_epoch": 5, "isr": [2]})
        self.add("partitions", at=at, asked=0, leader=-1, leader_epoch=4, replicas=[0, 1, 2], isr=[1])
        self.each("offsets", lambda row: row | ({"asked": 2} if row["at"] >= ns(at) else {}))

    def _usual(self, table: str) -> Row:
        place: Row = {"topic": "orders", "partition": 0}
        value: Row = {"producer": "writer", "producer_incarnation": 0, "intact": True}
        reader: Row = {"probe": "reader", "incarnation": 0, "group": "readers"}
        return {
            "sends": {"probe": "writer", "incarnation": 0, **place, "outcome": "ok"},
            "reads": {**reader, "assignment": 0, **place, **value},
            "polls": {"probe": "reader", "incarnation": 0, "records": 0},
            "seeks": {"probe": "reader", "incarnation": 0, **place, "kind": "seek"},
            "assignments": {**reader, "kind": "assign", **place, "assignment": 0, "rebalance": 0},
            "failures": {**reader, **place, **value, "attempt": 1, "handling": "swallow"},
            "health_checks": {"probe": "health", "incarnation": 0, "broker": 1, "outcome": "ok"},
            "calls": {"probe": "caller", "incarnation": 0, "operation": "metadata", "outcome": "ok"},
            "connections": {
                "probe": "writer",
                "incarnation": 0,
                "client": "producer",
                "role": "data",
                "broker": 1,
                "address": "node1:9092",
                "event": "opened",
                "count": 1,
                "idle": False,
            },
            "commits": {**reader, "assignment": 0, **place, "outcome": "ok", "kind": "sync"},
            "fetched": {**reader, **place},
            "transactions": {"probe": "writer", "incarnation": 0, "transactional_id": "t", "producer_epoch": 0},
            "partitions": place,
            "offsets": place,
            "topic_settings": {"topic": "orders"},
            "audit": {**place, **value},
            "audit_ranges": place,
            "markers": place,
            "stretches": place,
            "dumps": place,
            "copies": place,
            "groups": {"group": "readers", **place},
            "incarnations": {"pid": 1, "client": "2.16.1"},
        }.get(table, {})

    # --- writing --------------------------------------------------------------------------------------------------

    def write(self, root: Path) -> RunDir:
        """Write the run directory at ``root``: plan.json, run.json and every event table."""
        rundir = RunDir(root)
        for folder in (rundir.events, rundir.evidence, rundir.live, rundir.cluster, rundir.undo):
            folder.mkdir(parents=True, exist_ok=True)
        rundir.plan.write_text(json.dumps(self.plan(), indent=2), encoding="utf-8")
        rundir.run.write_text(json.dumps(self.record, indent=2), encoding="utf-8")
        for name, schema in SCHEMAS.items():
            table = pa.Table.from_pylist(list(self._finished(name)), schema=schema)
            pq.write_table(table, rundir.events / f"{name}.parquet", compression="zstd")
        return rundir

    def plan(self) -> Row:
        """The document of ``plan.json``."""
        scenario = {
            "name": "A made-up run", "hypothesis": "Nothing acknowledged is lost.", "covers": ["C2"],
            "topics": {"orders": self.topic, **self.others}, "probes": self.probes, "baseline": "5s",
            "timeline": [*([] if self.entry is None else [self.entry]), *self.beside],
            "settle": "10s", "expect": self.expect,
        }  # fmt: skip
        inventory = {
            "name": "made-up", "hosts": {f"node{n + 1}": {"address": f"198.18.0.{11 + n}"} for n in range(3)},
            "brokers": {
                n: {
                    "host": f"node{n + 1}", "service": {"systemd": "kafka.service"},
                    "listeners": {"CLIENT": {"address": f"198.18.0.{11 + n}", "port": 9092}},
                }
                for n in range(3)
            },
        }  # fmt: skip
        return {"version": 1, "run_id": "r1", "seed": 1, "scenario": scenario, "inventory": inventory, "versions": {}}

    def _finished(self, name: str) -> Iterator[Row]:
        if name == "tallies" and self.counts_itself:
            counting = {
                row["probe"] for row in self.rows["incarnations"] if row["kind"] not in ("health_check", "call")
            }
            ended = [(row["probe"], row["incarnation"]) for row in self.rows["ends"] if row["probe"] in counting]
            yield from tallies(self.rows, ended, ns(21))
        due = {tuple(row[key] for key in SENDER): row["scheduled"] for row in self.rows["sends"]}
        for row in self.rows[name]:
            if name == "reads" and row["intact"] and row["scheduled"] is None:
                yield row | {"scheduled": due.get(tuple(row[key] for key in VALUE))}
            elif name == "ends" and row["rows"] < 0:
                yield row | {"rows": self._written(row["probe"], row["incarnation"])}
            elif name == "audit_ranges" and row["end"] < 0:
                place = (row["topic"], row["partition"])
                offsets = [r["offset"] for r in self.rows["audit"] if (r["topic"], r["partition"]) == place]
                yield row | {"end": max(offsets, default=-1) + 1}
            else:
                yield row

    def _written(self, probe: str, incarnation: int) -> int:
        rows = (*self.rows["sends"], *self.rows["reads"], *self.rows["health_checks"], *self.rows["calls"])
        return sum(row["probe"] == probe and row["incarnation"] == incarnation for row in rows)


TIMES = {
    "sends": ("scheduled", "invoked", "completed"), "reads": ("at",), "polls": ("invoked", "completed"),
    "seeks": ("at",), "assignments": ("at",), "commits": ("invoked", "completed"),
    "fetched": ("invoked", "completed"), "transactions": ("initialized", "begun", "ending", "ended"),
    "partitions": ("at",), "offsets": ("at",), "topic_settings": ("at",), "outputs": ("at",), "txn_offsets": ("at",),
    "faults": ("invoked", "applied", "heal_invoked", "healed"),
    "incarnations": ("started",), "failures": ("at",), "ends": ("at",), "phases": ("began", "ended"), "errors": ("at",),
    "host_clocks": ("at",), "generations": ("at",), "joins": ("began", "coordinator", "assigned", "fetched", "first"),
    "health_checks": ("due", "began", "connected", "answered", "closed"), "connections": ("at", "since", "seen"),
    "calls": ("began", "completed"), "remakings": ("gone", "made"),
}  # fmt: skip
"""By table the columns that are moments."""


def small_run(root: Path) -> RunDir:
    """A complete small run directory in which all went well, but for a stall of 2.5 s after the kill."""
    history = History(records=250)
    history.each("sends", _stalled)
    history.each("reads", _stalled)
    return history.write(root)


def _stalled(row: Row) -> Row:
    """A row of ``sends`` or ``reads`` whose outcome came only when new leaders were there."""
    column = "completed" if "completed" in row else "at"
    stalled = ns(1.1) <= row[column] < ns(3.6)
    return row | {column: ns(3.6) + (row[column] - ns(1.1)) // 1_000} if stalled else row

"""Many stories in one run directory: one pass of Spark judges a hundred of them as quickly as one.

Story ``i`` has its own block of partitions of each topic and of incarnations of each probe, and no row of it touches
another's. What they share is what a run has once: its phases, its clocks, its faults and the topics' settings. The
evidence is taken apart again by those blocks.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from analysis.history import WALL, History, Row, ns
from truth.generate import MOST
from truth.story import END, INTO, LEVELS, RUN_ENDED, TOPICS, Story
from truth.told import Rows

from chaosk.rundir import RunDir

PROCESSES = 32
"""Incarnations that a probe has in one story."""
TIMEOUT = 2_000
"""Milliseconds that a transaction may take."""
SHARED = ("phases", "clocks", "faults")
"""Tables that a run has once."""
_TRANSACTIONS = ("txn", "transactional_id", "owner")
_PARTITIONS = ("partition", "other_partition")
_INCARNATIONS = ("incarnation", "producer_incarnation", "other_incarnation")


class Run(History):
    """A run of many stories."""

    def __init__(self, stories: Sequence[Story]) -> None:
        """The stories side by side, in the phases and around the fault of every made-up run."""
        super().__init__()
        self.stories = stories
        self.rows = {name: rows if name in SHARED else [] for name, rows in self.rows.items()}
        self._quiet_for_long()
        for number, story in enumerate(stories):
            for name, rows in story.rows.items():
                self.rows[name].extend(_named(_moved(row, number), number) for row in rows)
        self._without_outputs()
        self.add("host_clocks", host="node1", at=0, offset=0, error=1_000_000)
        self.record["probes"] = []
        self.probes = {row["probe"]: _probe(row) for row in self.rows["incarnations"]}

    def _quiet_for_long(self) -> None:
        """After the settling nothing is sent until the end: time to be stuck in."""
        more = RUN_ENDED - ns(20)
        for row in self.rows["phases"]:
            row |= {name: row[name] + more for name in ("began", "ended") if row[name] >= ns(20)}
        self.rows["clocks"] += [
            {"monotonic": ns(second), "wall": WALL + second * 1_000_000_000} for second in range(23, END + 3)
        ]
        self.record["ended"] = ns(END + 2)

    def _without_outputs(self) -> None:
        """What is outside of all stories was audited, too: the outputs' topic is whole if it is in each of them."""
        known = {row["partition"] for row in self.rows["audit_ranges"] if row["topic"] == INTO}
        for partition in {*range(MOST * len(self.stories))} - known if known else ():
            for isolation in LEVELS:
                self.add(
                    "audit_ranges", isolation=isolation, topic=INTO, partition=partition, log_start=0, end=0,
                    complete=True,
                )  # fmt: skip

    def plan(self) -> Row:
        """The document of ``plan.json``."""
        document = super().plan()
        partitions = MOST * len(self.stories)
        document["scenario"]["topics"] = {
            topic: {"partitions": partitions, "replication_factor": 3, "config": config}
            for topic, config in TOPICS.items()
        }
        return document


def together(stories: Sequence[Story], root: Path) -> RunDir:
    """Write stories side by side as one run directory."""
    return Run(stories).write(root)


def evidence(rundir: RunDir, count: int, checks: Collection[str]) -> list[Rows]:
    """By story the evidence of each check, in the story's own numbers."""
    found: list[Rows] = [{check: [] for check in checks} for _ in range(count)]
    for check in checks:
        path = rundir.evidence / f"{check}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            row: Row = json.loads(line)
            process: int = row["incarnation"] if "incarnation" in row else row.get("producer_incarnation", 0)
            number = row["partition"] // MOST if row.get("partition") is not None else process // PROCESSES
            found[number][check].append(_named(_moved(row, -number), None))
    return found


def _moved(row: Row, number: int) -> Row:
    """The row so many blocks on."""
    moved = dict(row)
    for names, block in ((_PARTITIONS, MOST), (_INCARNATIONS, PROCESSES)):
        for name in names:
            if row.get(name) is not None:
                moved[name] = row[name] + block * number
    return moved


def _named(row: Row, number: int | None) -> Row:
    """The row with the transactions of story ``number``, or (None) with their own names again."""
    for name in _TRANSACTIONS:
        if row.get(name) is not None:
            row[name] = row[name].rpartition("@")[0] if number is None else f"{row[name]}@{number}"
    return row


def _probe(row: Row) -> Row:
    if row["kind"] == "produce":
        settings = {"transaction.timeout.ms": TIMEOUT}
        return {"produce": {"topic": "orders", "rate": "5/s", "transaction": {"records": 3}, "config": settings}}
    if row["kind"] == "transform":
        settings = {"transaction.timeout.ms": TIMEOUT}
        return {"transform": {"topic": "orders", "to": INTO, "group": row["group"], "producer_config": settings}}
    return {"consume": {"topic": "orders", **({"group": row["group"]} if row["group"] else {})}}

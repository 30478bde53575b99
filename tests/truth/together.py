"""Many stories in one run directory: one pass of Spark judges a hundred of them as quickly as one.

Story ``i`` has its own block of partitions of each topic and of incarnations of each probe, and no row of it touches
another's. What they share is what a run has once: its phases, its clocks, its faults and the topics' settings. The
evidence is taken apart again by those blocks.

Two stories can share a block of partitions, as two lives of the topics: after the first all topics are deleted and made
again, and the second is played in those.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from pathlib import Path

from analysis.history import TIMES, WALL, History, Row, ns
from truth.generate import MOST
from truth.story import END, INTO, LEVELS, TOPICS, Story
from truth.told import Rows

from chaosk.rundir.paths import RunDir

PROCESSES = 32
"""Incarnations that a probe has in one story."""
TIMEOUT = 2_000
"""Milliseconds that a transaction may take."""
SHARED = ("phases", "clocks", "faults")
"""Tables that a run has once."""
TRIMMED = "trimmed"
KEPT = {"cleanup.policy": "delete", "retention.ms": -1, "retention.bytes": -1}
"""What brokers report of topics, where nothing else is said."""
AT_ONCE = {"retention.ms": 0}
"""The same of the topic from which records are deleted by right, whatever their age."""
UNREAD = "unread"
"""What readers are planned to read: nothing that is there, as readers of one name read other topics in each story. So
they are owed what they were given any of."""
IN_THE_END = frozenset({"audit", "audit_ranges", "markers", "stretches", "dumps", "copies", "groups"})
"""Tables of what the brokers are asked for in the end: of a deleted topic they tell nothing."""
LATER = 70
"""Seconds from the begin of one life to that of the next."""
GONE, MADE = END + 2.5, END + 3.0
"""When the last broker had forgotten the topics, and when they were asked for again: then nobody is at work."""
FORMER = 1_000
"""What is added to the partitions of a deleted topic here; no partition has such a number."""
DELETED = " (deleted)"
_TRANSACTIONS = ("txn", "transactional_id", "owner")
_PARTITIONS = ("partition", "other_partition")
_INCARNATIONS = ("incarnation", "producer_incarnation", "other_incarnation")


class Run(History):
    """A run of many stories."""

    def __init__(self, stories: Sequence[Story], lives: int = 1) -> None:
        """The stories side by side, in the phases and around the fault of every made-up run; so many in each block."""
        super().__init__()
        self.blocks = len(stories) // lives
        self.rows = {name: rows if name in SHARED else [] for name, rows in self.rows.items()}
        self._quiet_for_long(END + LATER * (lives - 1))
        for number, story in enumerate(stories):
            for name, rows in lived(story, number % lives, lives).items():
                self.rows[name].extend(_named(_moved(row, number // lives, number), number) for row in rows)
        for life, topic in product(range(lives - 1), TOPICS):
            self.add("remakings", topic=topic, gone=GONE + LATER * life, made=MADE + LATER * life)
        self._without_outputs()
        self._counted_rows()
        for topic, config in TOPICS.items():
            for name, value in {**KEPT, **config, **(AT_ONCE if topic == TRIMMED else {})}.items():
                self.add("topic_settings", at=-6, topic=topic, name=name, value=str(value))
        self.add("host_clocks", host="node1", at=0, offset=0, error=1_000_000)
        self.record["probes"] = list(_killed(self.rows))
        self.probes = {row["probe"]: _probe(row) for row in self.rows["incarnations"]}

    def _quiet_for_long(self, end: int) -> None:
        """After the settling nothing is sent until the end: time to be stuck in."""
        more = ns(end) - ns(20)
        for row in self.rows["phases"]:
            row |= {name: row[name] + more for name in ("began", "ended") if row[name] >= ns(20)}
        self.rows["clocks"] += [
            {"monotonic": ns(second), "wall": WALL + second * 1_000_000_000} for second in range(23, end + 3)
        ]
        self.record["ended"] = ns(end + 2)

    def _counted_rows(self) -> None:
        """End markers count the rows that are there: what havoc took away nobody ever wrote."""
        told = ("sends", "reads", "health_checks", "calls")
        written = Counter((row["probe"], row["incarnation"]) for name in told for row in self.rows[name])
        for row in self.rows["ends"]:
            row["rows"] = written[row["probe"], row["incarnation"]]

    def _without_outputs(self) -> None:
        """What is outside of all stories was audited, too: the outputs' topic is whole if it is in each of them."""
        known = {row["partition"] for row in self.rows["audit_ranges"] if row["topic"] == INTO}
        for partition in {*range(MOST * self.blocks)} - known if known else ():
            for isolation in LEVELS:
                self.add(
                    "audit_ranges", isolation=isolation, topic=INTO, partition=partition, log_start=0, end=0,
                    complete=True,
                )  # fmt: skip

    def plan(self) -> Row:
        """The document of ``plan.json``."""
        document = super().plan()
        partitions = MOST * self.blocks
        document["scenario"]["topics"] = {
            topic: {"partitions": partitions, "replication_factor": 3, "config": config}
            for topic, config in TOPICS.items()
        }
        return document


def together(stories: Sequence[Story], root: Path, lives: int = 1) -> RunDir:
    """Write stories side by side as one run directory, so many in each block, one after the other."""
    return Run(stories, lives).write(root)


def lived(story: Story, life: int, lives: int) -> dict[str, list[Row]]:
    """The rows of a story as they are in that life of its topics."""
    later = ns(LATER * life) - ns(0)
    return {
        name: [
            row | {column: row[column] + later for column in TIMES.get(name, ()) if row[column] is not None}
            for row in rows
        ]
        for name, rows in story.rows.items()
        if life == lives - 1 or name not in IN_THE_END
    }


def both(first: Story, second: Story) -> Story:
    """All that is true of two lives, as one story: the first has partitions, and the second processes, of its own."""
    story = Story(first.seed, known=False, cut=first.cut | second.cut, plants=[*first.plants, *second.plants])
    for life, each in enumerate((first, second)):
        former = FORMER * (1 - life)
        story.logs |= {(topic, partition + former): log for (topic, partition), log in each.logs.items()}
        for name, rows in lived(each, life, 2).items():
            for row in rows:
                mine = _moved(row, 0, life)
                story.rows[name].append(_named(_former(mine, former), life) if life else _former(mine, former))
    return story


def evidence(rundir: RunDir, blocks: int, checks: Collection[str], lives: int = 1) -> list[Rows]:
    """By block the evidence of each check, in the story's own numbers; of two lives in those of ``both``."""
    found: list[Rows] = [{check: [] for check in checks} for _ in range(blocks)]
    for check in checks:
        path = rundir.evidence / f"{check}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            row: Row = json.loads(line)
            process: int = row["incarnation"] if "incarnation" in row else row.get("producer_incarnation", 0)
            block = row["partition"] // MOST if row.get("partition") is not None else process // PROCESSES // lives
            found[block][check].append(_own(_moved(row, -block, -lives * block), lives))
    return found


def _own(row: Row, lives: int) -> Row:
    """The row with its transactions' own names, but for the life that they are of, and former partitions apart."""
    for name in _TRANSACTIONS:
        if row.get(name) is not None:
            own, _, number = row[name].rpartition("@")
            row[name] = f"{own}@{life}" if (life := int(number) % lives) else own
    for topic, partition in (("topic", "partition"), ("other_topic", "other_partition")):
        if str(row.get(topic)).endswith(DELETED):
            row |= {topic: row[topic].removesuffix(DELETED), partition: row[partition] + FORMER}
    return row


def _moved(row: Row, places: int, processes: int) -> Row:
    """The row so many blocks of partitions and of processes on."""
    moved = dict(row)
    for names, block, number in ((_PARTITIONS, MOST, places), (_INCARNATIONS, PROCESSES, processes)):
        for name in names:
            if row.get(name) is not None:
                moved[name] = row[name] + block * number
    return moved


def _former(row: Row, more: int) -> Row:
    """The row with such numbers of partitions."""
    return row | {name: row[name] + more for name in _PARTITIONS if row.get(name) is not None}


def _named(row: Row, number: int) -> Row:
    """The row with the transactions of story ``number``."""
    return row | {name: f"{row[name]}@{number}" for name in _TRANSACTIONS if row.get(name) is not None}


def _killed(rows: dict[str, list[Row]]) -> Iterator[Row]:
    """Ends of the processes that have no end marker: in every story those were killed by a step."""
    ended = {(row["probe"], row["incarnation"]) for row in rows["ends"]}
    for row in rows["incarnations"]:
        process = {"probe": row["probe"], "incarnation": row["incarnation"]}
        if tuple(process.values()) not in ended:
            yield {**process, "ended_by": "step", "exit_status": -9}


def _probe(row: Row) -> Row:
    if row["kind"] == "produce":
        settings = {"transaction.timeout.ms": TIMEOUT}
        return {"produce": {"topic": "orders", "rate": "5/s", "transaction": {"records": 3}, "config": settings}}
    if row["kind"] == "transform":
        settings = {"transaction.timeout.ms": TIMEOUT}
        return {"transform": {"topic": UNREAD, "to": INTO, "group": row["group"], "producer_config": settings}}
    return {"consume": {"topic": UNREAD, **({"group": row["group"]} if row["group"] else {})}}

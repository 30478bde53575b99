"""Real replicas compared by their own files: equal ones, one that fell behind, and hosts that cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from chaosk.run.audit.missing import MissingOffsets
from chaosk.run.replica_logs.replicas import compare
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]

TOOL = "/opt/kafka/bin/kafka-dump-log.sh"


def told(cluster: Any, folder: str, *stretches: MissingOffsets, inventory: Inventory | None = None) -> tuple[str, ...]:
    """Compare the replicas of some stretches."""
    return compare(cluster.brokers, cluster.hosts, inventory or cluster.inventory, stretches, LiveLog(Path(folder)))


def rows(folder: str) -> list[tuple[Any, ...]]:
    """First, last, same, held and why of what was written down."""
    table = read_live(Path(folder) / "copies.arrows").table.to_pylist()
    return [(row["first"], row["last"], row["same"], row["held"], row["why"]) for row in table]


def write(cluster: Any, partition: int, batches: int, acks: str = "all") -> None:
    """Send batches of two records, one after the other."""
    writer = Producer({
        "bootstrap.servers": cluster.inventory.bootstrap_servers(), "acks": acks, "linger.ms": 50, "log_level": 0,
    })  # fmt: skip
    for _ in range(batches):
        for text in (b"one", b"two"):
            writer.produce("orders", text, partition=partition)
        assert writer.flush(30) == 0


def test_replicas_that_have_the_same_agree(cluster: Any, folder: Callable[[str], str]) -> None:
    """All three hosts are asked, of two partitions, over several segments and beyond the end."""
    cluster.prepare(orders=Topic(partitions=2, config={"segment.bytes": 1_000}))
    write(cluster, 0, 20)
    write(cluster, 1, 3)
    cluster.wait("isr_full(orders)")
    assert told(cluster, folder("same"), MissingOffsets("orders", 0, 13, 60), MissingOffsets("orders", 1, 0, 4)) == ()
    assert rows(folder("same")) == [(13, 60, True, None, None), (0, 4, True, None, None)]


def test_a_replica_that_fell_behind_differs(cluster: Any, folder: Callable[[str], str]) -> None:
    """A dead broker's files are read all the same: it has nothing where the others have what came since."""
    cluster.prepare(orders=Topic(partitions=1, config={"min.insync.replicas": 1}))
    write(cluster, 0, 2)
    cluster.wait("isr_full(orders)")
    (state,) = cluster.brokers.partitions("orders")
    dead = next(broker for broker in state.replicas if broker != state.leader)
    with cluster.killed(dead):
        write(cluster, 0, 1, acks="1")
        (line,) = told(cluster, folder("behind"), MissingOffsets("orders", 0, 2, 5))
    assert line.startswith("orders-0, 4 to 5: the replicas differ: broker ")
    assert f"broker {dead}: nothing" in line
    (agreed, apart) = rows(folder("behind"))
    assert agreed == (2, 3, True, None, None)
    assert apart[:3] == (4, 5, False)
    assert sorted(f"broker {n}" for n in state.replicas) == sorted(part[:8] for part in apart[3].split("; "))
    assert told(cluster, folder("caught up"), MissingOffsets("orders", 0, 2, 5)) == ()


def test_a_host_that_cannot_tell_leaves_it_open(cluster: Any, folder: Callable[[str], str]) -> None:
    """Without the tool on one host, or its data directories in the inventory, nobody knows; the reason is told."""
    cluster.prepare(orders=Topic(partitions=1))
    write(cluster, 0, 1)
    host = cluster.inventory.brokers[1].host
    cluster.run(host, "mv", TOOL, f"{TOOL}.away")
    try:
        (line,) = told(cluster, folder("tool"), MissingOffsets("orders", 0, 0, 1))
    finally:
        cluster.run(host, "mv", f"{TOOL}.away", TOOL)
    assert f"orders-0: broker 1: {host}: the tool did not get to its end: there is no {TOOL}" in line
    ((_, _, same, held, why),) = rows(folder("tool"))
    assert (same, held) == (None, None)
    assert why in line
    broker = cluster.inventory.brokers[2].model_copy(update={"data": ()})
    without = cluster.inventory.model_copy(update={"brokers": {**cluster.inventory.brokers, 2: broker}})
    (line,) = told(cluster, folder("data"), MissingOffsets("orders", 0, 0, 1), inventory=without)
    assert "broker 2: write its log.dirs to `data` in the inventory" in line
    (line,) = told(cluster, folder("gone"), MissingOffsets("nowhere", 0, 0, 1))
    assert line == "nowhere-0: it has no replica"

"""Transactions fetched from real brokers: all of them, and what is missing where a host, a tool or a leader is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from chaosk.run.replica_logs.transaction_markers import fetch
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]

TOOL = "/opt/kafka/bin/kafka-dump-log.sh"


def rows(folder: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table that fetching wrote."""
    return list(read_live(Path(folder) / f"{table}.arrows").table.to_pylist())


def fetched(cluster: Any, folder: str, inventory: Inventory | None = None) -> tuple[str, ...]:
    """Fetch `orders` of three partitions."""
    return fetch(cluster.brokers, cluster.hosts, inventory or cluster.inventory, {"orders": 3}, LiveLog(Path(folder)))


def transactions(cluster: Any, name: str, *ends: str) -> Producer:
    """A client that has ended so many transactions, of one record a partition, each by commit or abort.

    The markers of them are written when it is there.
    """
    writer = Producer({
        "bootstrap.servers": cluster.inventory.bootstrap_servers(), "transactional.id": name, "log_level": 0,
    })  # fmt: skip
    writer.init_transactions(30)
    for end in ends:
        writer.begin_transaction()
        for partition in range(3):
            writer.produce("orders", b"x", partition=partition)
        writer.flush(10)
        (writer.commit_transaction if end == "commit" else writer.abort_transaction)(30)
    cluster.decided("orders")
    return writer


def test_every_transaction_has_its_marker_in_every_partition(cluster: Any, folder: Callable[[str], str]) -> None:
    """Committed and aborted ones of two clients of one id, the second of which fences what the first left open."""
    cluster.prepare(orders=Topic(partitions=3))
    old = transactions(cluster, "one", "commit", "abort", "commit")
    old.begin_transaction()
    old.produce("orders", b"open", partition=1)
    old.flush(10)
    transactions(cluster, "one", "commit")
    assert fetched(cluster, folder("hosts")) == ()
    kinds = {0: ["commit", "abort", "commit", "commit"], 1: ["commit", "abort", "commit", "abort", "commit"]}
    found = rows(folder("hosts"), "markers")
    for partition, wanted in {**kinds, 2: kinds[0]}.items():
        mine = sorted((one for one in found if one["partition"] == partition), key=lambda one: one["offset"])
        assert [one["kind"] for one in mine] == wanted
        assert [one["offset"] for one in mine] == [1 + 2 * number for number in range(len(wanted))]
        assert len({one["producer_id"] for one in mine}) == 1
        assert [one["producer_epoch"] for one in mine] == sorted(one["producer_epoch"] for one in mine)
    stretches = [
        (one["partition"], one["first"], one["last"], one["marker"]) for one in rows(folder("hosts"), "stretches")
    ]
    assert sorted(stretches) == [(n, 2 * m, 2 * m, 2 * m + 1) for n in range(3) for m in range(4 + (n == 1))]
    for one in rows(folder("hosts"), "dumps"):
        assert (one["complete"], one["why"], one["log_start"]) == (True, None, 0)
        assert one["end"] == (10 if one["partition"] == 1 else 8)


def test_what_is_open_has_no_marker(cluster: Any, folder: Callable[[str], str]) -> None:
    """A transaction under way is there, and nothing has ended it; records outside of transactions are not told."""
    cluster.prepare(orders=Topic(partitions=3))
    plain = Producer({"bootstrap.servers": cluster.inventory.bootstrap_servers(), "log_level": 0})
    plain.produce("orders", b"x", partition=0)
    assert plain.flush(10) == 0
    writer = transactions(cluster, "open")
    writer.begin_transaction()
    writer.produce("orders", b"x", partition=0)
    writer.flush(10)
    assert fetched(cluster, folder("hosts")) == ()
    (stretch,) = rows(folder("hosts"), "stretches")
    assert (stretch["partition"], stretch["first"], stretch["last"], stretch["marker"]) == (0, 1, 1, None)
    assert not (Path(folder("hosts")) / "markers.arrows").exists()
    writer.abort_transaction(30)


def test_a_partition_that_cannot_be_read_is_told(cluster: Any, folder: Callable[[str], str]) -> None:
    """A host without the tool, a broker without data directories, a topic that is gone: told, and the rest is there."""
    cluster.prepare(orders=Topic(partitions=3))
    transactions(cluster, "some", "commit")
    leader = {one.partition: one.leader for one in cluster.brokers.partitions("orders")}
    host = cluster.inventory.brokers[leader[0]].host
    broker = cluster.inventory.brokers[leader[1]].model_copy(update={"data": ()})
    without = cluster.inventory.model_copy(update={"brokers": {**cluster.inventory.brokers, leader[1]: broker}})
    cluster.run(host, "mv", TOOL, f"{TOOL}.away")
    try:
        lines = sorted(fetched(cluster, folder("hosts"), without))
    finally:
        cluster.run(host, "mv", f"{TOOL}.away", TOOL)
    assert len(lines) == 2
    assert f"orders-0: {host}: the tool did not get to its end: there is no {TOOL}" in lines[0]
    assert "write its log.dirs to `data` in the inventory" in lines[1]
    told = {one["partition"]: one for one in rows(folder("hosts"), "dumps")}
    assert [told[number]["complete"] for number in range(3)] == [False, False, True]
    assert told[0]["why"] in lines[0]
    assert [one["partition"] for one in rows(folder("hosts"), "markers")] == [2]
    gone = fetch(cluster.brokers, cluster.hosts, cluster.inventory, {"nowhere": 1}, LiveLog(Path(folder("other"))))
    assert gone == ("nowhere-0: topic nowhere: the cluster has no such topic",)
    assert [one["broker"] for one in rows(folder("other"), "dumps")] == [-1]

"""Transactions under real faults: what they say of themselves is what a careful reader finds."""

from __future__ import annotations

import time
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from chaosk.probes.produce import Produce
from chaosk.rundir.events.payload import decode

from .conftest import RUN, Cluster, until

pytestmark = [pytest.mark.lab, pytest.mark.long]


def produce(topic: str, name: str, **transaction: Any) -> Produce:
    """500 records a second, 100 in each transaction."""
    wanted = {"records": 100, "id": name, **transaction}
    return Produce.model_validate({"topic": topic, "rate": "500/s", "transaction": wanted})


def committed(cluster: Cluster, topic: str) -> set[tuple[str, int, int]]:
    """Every record (producer, incarnation, seq) that a reader at read_committed is given."""
    client = Consumer({
        "bootstrap.servers": cluster.inventory.bootstrap_servers(), "group.id": "careful", "enable.auto.commit": False,
        "isolation.level": "read_committed", "enable.partition.eof": True, "auto.offset.reset": "earliest",
    })  # fmt: skip
    left = {partition: TopicPartition(topic, partition, 0) for partition in cluster.leaders(topic)}
    client.assign(list(left.values()))
    found = set()
    while left:
        message = client.poll(30)
        assert message is not None
        if message.error() is not None:
            left.pop(int(message.partition() or 0), None)
            continue
        payload = decode(message.value(), RUN)
        assert payload is not None
        found.add((payload.producer, payload.incarnation, payload.seq))
    client.close()
    return found


def true_to_the_log(cluster: Cluster, topic: str, *processes: tuple[str, int]) -> None:
    """Committed transactions are there as a whole, aborted ones not at all, and undecided ones one or the other."""
    there = committed(cluster, topic)
    for name, incarnation in processes:
        outcomes = {row["txn"]: row["outcome"] for row in cluster.rows("transactions", name, incarnation)}
        seqs: dict[str, set[int]] = {}
        for row in cluster.rows("sends", name, incarnation):
            if row["outcome"] == "ok":
                seqs.setdefault(row["txn"], set()).add(row["seq"])
        for txn, sent in seqs.items():
            found = {seq for seq in sent if (name, incarnation, seq) in there}
            if outcomes.get(txn) == "committed":
                assert found == sent, txn
            elif outcomes.get(txn) == "aborted":
                assert found == set(), txn
            else:
                assert found in (set(), sent), txn


def coordinator(cluster: Cluster, name: str) -> int:
    """The broker that coordinates a ``transactional.id``: the leader of its partition of the transaction log."""
    number = 0
    for letter in name:
        number = (31 * number + ord(letter)) & 0xFFFFFFFF
    leaders = cluster.leaders("__transaction_state")
    return leaders[(number & 0x7FFFFFFF) % len(leaders)]


@pytest.mark.parametrize("whose", ["coordinator", "leader"])
def test_a_broker_is_killed_while_transactions_run(cluster: Cluster, whose: str) -> None:
    """SIGKILL of the coordinator or of a leader: transactions go on after it, and none of them lies."""
    topic, name = cluster.topic(), f"killed-{time.time_ns()}"
    writer = cluster.start(produce(topic, name, abort_every=4), "writer")
    until(writer, lambda state: state.ok > 1000)
    killed = coordinator(cluster, name) if whose == "coordinator" else cluster.leaders(topic)[0]
    cluster.signal(killed, "KILL")
    time.sleep(10)
    cluster.revive(killed)
    before = writer.state().ok
    until(writer, lambda state: state.ok > before + 1000)
    assert writer.stop(60) == 0
    rows = cluster.rows("sends", "writer")
    started = cluster.rows("incarnations", "writer")[0]["started"]
    assert sorted(row["seq"] for row in rows) == list(range(len(rows)))
    assert all(row["scheduled"] == started + row["seq"] * 2_000_000 for row in rows)
    outcomes = [row["outcome"] for row in cluster.rows("transactions", "writer")]
    assert outcomes.count("committed") > 10
    assert "aborted" in outcomes
    true_to_the_log(cluster, topic, ("writer", 0))


def test_of_two_clients_with_one_id_the_older_one_is_fenced(cluster: Cluster) -> None:
    """The zombie gets nothing into the log after its successor began, says that it was fenced, and ends in time."""
    topic, name = cluster.topic(), f"zombie-{time.time_ns()}"
    old = cluster.start(produce(topic, name), "old")
    until(old, lambda state: state.ok > 500)
    new = cluster.start(produce(topic, name), "new")
    until(new, lambda state: state.ok > 500)
    until(old, lambda state: state.last_error == "_FENCED")
    last = old.state().scheduled
    time.sleep(1)
    assert old.state().scheduled == last, "a fenced client sends no more"
    began = time.monotonic()
    assert old.stop(30) == 0
    assert time.monotonic() - began < 15
    assert new.stop(30) == 0
    taken = cluster.rows("transactions", "new")[0]["initialized"]
    late = [row for row in cluster.rows("sends", "old") if row["invoked"] > taken and row["outcome"] == "ok"]
    assert late == []
    assert [row["error"] for row in cluster.rows("errors", "old") if row["fatal"]][-1] == "_FENCED"
    assert cluster.rows("transactions", "old")[-1]["outcome"] in {"aborted", "info"}
    assert {row["outcome"] for row in cluster.rows("transactions", "new")} == {"committed"}
    true_to_the_log(cluster, topic, ("old", 0), ("new", 0))


def test_a_killed_process_leaves_its_transaction_to_the_next_one(cluster: Cluster) -> None:
    """SIGKILL of the probe: the next incarnation fences what was open, and readers get on at once."""
    topic, name = cluster.topic(), f"again-{time.time_ns()}"
    first = cluster.start(produce(topic, name, records=1000), "writer")
    until(first, lambda state: state.ok > 1500)
    first.kill()
    second = cluster.start(produce(topic, name, records=100), "writer", 1)
    until(second, lambda state: state.ok > 500)
    assert second.stop(30) == 0
    true_to_the_log(cluster, topic, ("writer", 0), ("writer", 1))


def test_a_cluster_that_is_gone_ends_in_time(cluster: Cluster) -> None:
    """With every broker frozen a clean end is bounded, and the transaction that was ending is undecided."""
    topic = cluster.topic()
    writer = cluster.start(produce(topic, f"gone-{time.time_ns()}", records=5000), "writer")
    until(writer, lambda state: state.ok > 500)
    with cluster.frozen():
        time.sleep(2)
        began = time.monotonic()
        assert writer.stop(40) == 0
        assert time.monotonic() - began < 25
    rows = cluster.rows("sends", "writer")
    assert sorted(row["seq"] for row in rows) == list(range(len(rows)))
    (end,) = cluster.rows("ends", "writer")
    assert end["rows"] == end["scheduled"] == len(rows)
    (transaction,) = cluster.rows("transactions", "writer")
    assert transaction["outcome"] == "aborted", "nobody had asked to commit it"

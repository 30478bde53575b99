"""The tail audit on a real cluster: complete where it can be, and it says so where it cannot."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.committed_offsets import CommittedOffset, commit
from chaosk.core.errors import ClusterError
from chaosk.run.audit.ranges import ranges
from chaosk.run.audit.reader import AuditReader
from chaosk.run.audit.spec import AuditSpec
from chaosk.run.audit.tail_audit import audit
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Decoder, Encoder
from chaosk.spec.scenario import Topic

pytestmark = [pytest.mark.lab, pytest.mark.long]

SHAPE = Topic(partitions=3, config={"min.insync.replicas": 2})
RUN = "run-1"


def rows(folder: str, table: str) -> list[dict[str, Any]]:
    """The events of a table."""
    found = read_live(Path(folder) / f"{table}.arrows")
    assert found.closed
    assert found.torn is None
    return list(found.table.to_pylist())


def producer(cluster: Any, **settings: Any) -> Producer:
    """A producer of the cluster."""
    options = {key.replace("_", "."): value for key, value in settings.items()}
    return Producer({"bootstrap.servers": cluster.inventory.bootstrap_servers(), "log_level": 0, **options})


def spec(cluster: Any, folder: str, **more: Any) -> AuditSpec:
    """An audit of `orders`."""
    return AuditSpec(inventory=cluster.inventory, run_id=RUN, topics=("orders",), folder=folder, **more)


def test_reads_all_there_is(cluster: Any, folder: Callable[[str], str]) -> None:
    """Every record is there once at each level, with what its payload says; records that are not ours are told."""
    cluster.prepare(orders=SHAPE)
    writer, encoder = producer(cluster), Encoder(RUN, "writer", 2)
    for number in range(300):
        writer.produce("orders", encoder.encode(number, 0), partition=number % 3)
    writer.produce("orders", b"not ours", partition=0)
    writer.produce("orders", Encoder("run-0", "writer", 0).encode(1, 0), partition=1)
    writer.produce("orders", None, key=b"tombstone", partition=2)
    assert writer.flush(10) == 0
    commit(cluster.brokers, "readers", [CommittedOffset("orders", 1, 42, "")])
    result = audit(spec(cluster, folder("audit"), groups=("readers", "nobody")))
    assert (result.records, result.complete, result.incomplete) == (606, True, ())
    found = rows(folder("audit"), "audit")
    for isolation in ("read_uncommitted", "read_committed"):
        mine = [one for one in found if one["isolation"] == isolation]
        intact = {(one["seq"], one["partition"], one["offset"]) for one in mine if one["intact"]}
        assert intact == {(number, number % 3, number // 3) for number in range(300)}
        assert {(one["producer"], one["producer_incarnation"]) for one in mine if one["intact"]} == {("writer", 2)}
        foreign = [(one["partition"], one["offset"], one["producer"], one["seq"]) for one in mine if not one["intact"]]
        assert sorted(foreign) == [(0, 100, None, None), (1, 100, None, None), (2, 100, None, None)]
        assert {one["leader_epoch"] for one in mine} == {0}
    ranges = rows(folder("audit"), "audit_ranges")
    assert {(one["log_start"], one["end"], one["complete"], one["why"]) for one in ranges} == {(0, 101, True, None)}
    assert len(ranges) == 6
    groups = {(one["group"], one["partition"]): one["offset"] for one in rows(folder("audit"), "groups")}
    assert groups == {("readers", n): 42 if n == 1 else None for n in range(3)} | {
        ("nobody", n): None for n in range(3)
    }


def test_ends_beyond_markers_and_aborted_records(cluster: Any, folder: Callable[[str], str]) -> None:
    """A log that ends in aborted transactions is read to its end at both levels, though nothing of it is delivered."""
    cluster.prepare(orders=Topic(partitions=1))
    writer, encoder = producer(cluster, transactional_id="t"), Encoder(RUN, "writer", 0)
    writer.init_transactions(20)
    for number, keep in enumerate((True, False, False)):
        writer.begin_transaction()
        for place in range(10):
            writer.produce("orders", encoder.encode(10 * number + place, 0))
        writer.flush(10)
        (writer.commit_transaction if keep else writer.abort_transaction)(20)
    cluster.decided("orders")
    result = audit(spec(cluster, folder("audit")))
    assert (result.records, result.complete) == (40, True)
    ends = {one["isolation"]: (one["end"], one["complete"]) for one in rows(folder("audit"), "audit_ranges")}
    assert ends == {"read_uncommitted": (33, True), "read_committed": (33, True)}


def test_an_open_transaction_ends_read_committed(cluster: Any, folder: Callable[[str], str]) -> None:
    """Where a transaction is undecided, read_committed ends at the last stable offset and read_uncommitted beyond."""
    cluster.prepare(orders=Topic(partitions=1))
    writer = producer(cluster, transactional_id="open")
    writer.init_transactions(20)
    writer.begin_transaction()
    writer.produce("orders", b"x")
    writer.flush(10)
    result = audit(spec(cluster, folder("audit")))
    ends = {one["isolation"]: one["end"] for one in rows(folder("audit"), "audit_ranges")}
    assert ends == {"read_uncommitted": 1, "read_committed": 0}
    assert (result.records, result.complete) == (1, True)
    writer.abort_transaction(20)


def test_begins_where_the_log_begins(cluster: Any, folder: Callable[[str], str]) -> None:
    """Records that retention took are not missed: the range says from where it was read."""
    cluster.prepare(orders=Topic(partitions=1))
    writer = producer(cluster)
    for _ in range(20):
        writer.produce("orders", b"x")
    writer.flush(10)
    wanted = '{"partitions": [{"topic": "orders", "partition": 0, "offset": 5}]}'
    cluster.run("node1", "sh", "-c", 'printf %s "$1" >/root/records.json', "sh", wanted)
    tool = ("/opt/kafka/bin/kafka-delete-records.sh", "--bootstrap-server", "198.18.0.11:9092")
    cluster.run("node1", *tool, "--offset-json-file", "/root/records.json")
    result = audit(spec(cluster, folder("audit")))
    assert {(one["log_start"], one["end"]) for one in rows(folder("audit"), "audit_ranges")} == {(5, 20)}
    assert (result.records, result.complete) == (30, True)


def test_a_partition_without_leader_is_incomplete(cluster: Any, folder: Callable[[str], str]) -> None:
    """What nobody can read is told by name, and the rest is read all the same."""
    cluster.prepare(orders=Topic(partitions=3, replication_factor=1))
    writer = producer(cluster)
    for number in range(30):
        writer.produce("orders", b"x", partition=number % 3)
    writer.flush(10)
    with cluster.killed(1):
        time.sleep(12)  # the cluster has noticed
        result = audit(spec(cluster, folder("audit"), patience=15.0))
    assert not result.complete
    assert [line.partition(" at ")[0] for line in result.incomplete] == ["orders-1", "orders-1"]
    assert result.records == 40
    told = {one["partition"]: (one["complete"], one["why"]) for one in rows(folder("audit"), "audit_ranges")}
    assert told[0] == told[2] == (True, None)
    assert told[1][0] is False
    assert told[1][1]


def test_what_is_not_read_in_time_is_incomplete(cluster: Any, folder: Callable[[str], str]) -> None:
    """A leader that freezes between being asked and being read leaves its partition incomplete, in bounded time."""
    cluster.prepare(orders=SHAPE)
    writer = producer(cluster)
    for number in range(300):
        writer.produce("orders", b"x", partition=number % 3)
    assert writer.flush(30) == 0
    todo = ranges(cluster.brokers, ("orders",))
    frozen = next(one.leader for one in cluster.brokers.partitions("orders") if one.partition == 1)
    settings = client_settings(cluster.inventory)
    with LiveLog(Path(folder("audit"))) as log, cluster.frozen(frozen):
        began = time.monotonic()
        incomplete = AuditReader(settings, "read_uncommitted", Decoder(RUN), log).read(todo, 3.0)
        assert time.monotonic() - began < 15
    assert incomplete == ("orders-1 at read_uncommitted: not read to offset 100 in time",)


def test_many_records(cluster: Any, folder: Callable[[str], str]) -> None:
    """A hundred thousand of them, both levels, each once."""
    cluster.prepare(orders=SHAPE)
    writer, encoder = producer(cluster, linger_ms=20), Encoder(RUN, "writer", 0, 100)
    for number in range(100_000):
        writer.produce("orders", encoder.encode(number, 0), partition=number % 3)
        writer.poll(0)
    writer.flush(30)
    result = audit(spec(cluster, folder("audit")))
    assert (result.records, result.complete) == (200_000, True)


def test_a_topic_that_is_not_there(cluster: Any, tmp_path: Path) -> None:
    """It is one clear error."""
    with pytest.raises(ClusterError, match="topic never-made: the cluster has no such topic"):
        audit(spec(cluster, str(tmp_path / "second")).model_copy(update={"topics": ("never-made",)}))

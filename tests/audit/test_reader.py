"""One reader against librdkafka's mock cluster: rows, proof of the end, and gaps that are told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from fake_servers import mock_cluster, unused_port

from chaosk.run.audit.ranges import AuditRange
from chaosk.run.audit.reader import AuditReader
from chaosk.rundir.events.live import LiveLog, read_live
from chaosk.rundir.events.payload import Decoder, Encoder

RUN = "run-1"


@pytest.fixture
def cluster() -> Iterator[tuple[Producer, str]]:
    """A mock cluster: a producer, and where it is."""
    with mock_cluster(1) as (producer, places):
        yield producer, f"127.0.0.1:{places[1].port}"


def read(
    where: str, folder: Path, *todo: AuditRange, within: float = 10.0
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """What a reader says is incomplete, and the rows that it wrote."""
    with LiveLog(folder / "audit") as log:
        reader = AuditReader({"bootstrap.servers": where}, "read_uncommitted", Decoder(RUN), log)
        incomplete = reader.read(todo, within)
    return incomplete, rows(folder, "audit")


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    """The events of a table; none where it was not written."""
    file = folder / "audit" / f"{table}.arrows"
    return list(read_live(file).table.to_pylist()) if file.exists() else []


def test_reads_what_payloads_say(cluster: tuple[Producer, str], tmp_path: Path) -> None:
    """Ours are named by producer, incarnation and number; others are told to be not intact."""
    producer, where = cluster
    producer.produce("orders", Encoder(RUN, "writer", 3).encode(7, 0), partition=0)
    producer.produce("orders", b"somebody else's", partition=0)
    producer.flush(5)
    incomplete, found = read(where, tmp_path, AuditRange("orders", 0, 0, 2, 2))
    assert incomplete == ()
    columns = ("offset", "producer", "producer_incarnation", "seq", "intact")
    assert [tuple(one[name] for name in columns) for one in found] == [
        (0, "writer", 3, 7, True),
        (1, None, None, None, False),
    ]
    (told,) = rows(tmp_path, "audit_ranges")
    assert (told["isolation"], told["end"], told["complete"], told["why"]) == ("read_uncommitted", 2, True, None)


def test_an_empty_range_needs_no_client(tmp_path: Path) -> None:
    """A partition without records is complete at once, whoever answers."""
    incomplete, found = read(f"127.0.0.1:{unused_port()}", tmp_path, AuditRange("orders", 0, 5, 5, 5))
    assert (incomplete, found) == ((), [])


def test_an_end_that_is_not_reached_is_told(cluster: tuple[Producer, str], tmp_path: Path) -> None:
    """A log that ends before the end that its leader told has lost records meanwhile: never complete."""
    producer, where = cluster
    producer.produce("orders", b"x", partition=0)
    producer.flush(5)
    incomplete, found = read(where, tmp_path, AuditRange("orders", 0, 0, 5, 5), within=1.5)
    assert incomplete == ("orders-0 at read_uncommitted: not read to offset 5 in time",)
    assert len(found) == 1


def test_a_log_that_takes_long_is_read_to_its_end(cluster: tuple[Producer, str], tmp_path: Path) -> None:
    """However long it is: time is up only when nothing came for so long."""
    producer, where = cluster
    producer.produce("orders", b"x", partition=0)
    producer.flush(5)

    def later() -> None:
        for _ in range(8):
            time.sleep(0.4)
            producer.produce("orders", b"x", partition=0)
            producer.flush(5)

    slow = threading.Thread(target=later)
    slow.start()
    incomplete, found = read(where, tmp_path, AuditRange("orders", 0, 0, 9, 9), within=2.0)
    slow.join()
    assert incomplete == ()
    assert len(found) == 9


def test_a_start_that_is_gone_is_told(cluster: tuple[Producer, str], tmp_path: Path) -> None:
    """An offset that is not in the log is an error of that partition, not a jump to another one."""
    producer, where = cluster
    producer.produce("orders", b"x", partition=0)
    producer.flush(5)
    incomplete, found = read(where, tmp_path, AuditRange("orders", 0, 50, 60, 60), within=5.0)
    assert len(incomplete) == 1
    assert "not read to offset 60 in time (" in incomplete[0]
    assert found == []


def test_a_range_that_was_doubtful_before_stays_so(cluster: tuple[Producer, str], tmp_path: Path) -> None:
    """Reading what there is does not make up for what nobody could tell."""
    producer, where = cluster
    producer.produce("orders", b"x", partition=0)
    producer.flush(5)
    incomplete, found = read(where, tmp_path, AuditRange("orders", 0, 0, 1, 1, "the high watermark is behind"))
    assert incomplete == ("orders-0 at read_uncommitted: the high watermark is behind",)
    assert len(found) == 1
    assert [one["complete"] for one in rows(tmp_path, "audit_ranges")] == [False]


def test_nobody_there(tmp_path: Path) -> None:
    """A cluster that is gone costs the time that was given, and its reason is told."""
    incomplete, _ = read(f"127.0.0.1:{unused_port()}", tmp_path, AuditRange("orders", 0, 0, 1, 1), within=1.0)
    assert len(incomplete) == 1
    assert "not read to offset 1 in time (" in incomplete[0]

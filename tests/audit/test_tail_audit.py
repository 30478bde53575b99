"""The whole audit against librdkafka's mock cluster, and its process with bad input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from fake_live import inventory
from fake_servers import mock_cluster, unused_port

from chaosk.core.errors import ClusterError, EventLogError
from chaosk.run.audit import tail_audit
from chaosk.run.audit.spec import AuditSpec
from chaosk.run.audit.tail_audit import audit
from chaosk.rundir.events.live import read_live
from chaosk.rundir.events.payload import Encoder
from chaosk.spec.inventory import Inventory, Listener


def at(port: int) -> Inventory:
    """An inventory of one broker that answers there."""
    place = inventory(1, 0)
    listeners = {"CLIENT": Listener(address="127.0.0.1", port=port)}
    return place.model_copy(update={"brokers": {1: place.brokers[0].model_copy(update={"listeners": listeners})}})


@pytest.fixture
def cluster() -> Iterator[tuple[Producer, Inventory]]:
    """A mock cluster with thirty records on `orders`, and its inventory."""
    with mock_cluster(1) as (producer, places):
        encoder = Encoder("run-1", "writer", 0)
        for number in range(30):
            producer.produce("orders", encoder.encode(number, 0), partition=number % 3)
        producer.flush(5)
        yield producer, at(places[1].port)


def spec(place: Inventory, folder: Path, groups: tuple[str, ...] = ()) -> AuditSpec:
    """An audit of `orders`."""
    return AuditSpec(
        inventory=place, run_id="run-1", topics=("orders",), groups=groups, folder=str(folder / "audit"), patience=10.0
    )


def test_reads_at_both_levels(cluster: tuple[Producer, Inventory], tmp_path: Path) -> None:
    """Both readers read everything, each under its own name, and every partition has a range at each level."""
    result = audit(spec(cluster[1], tmp_path))
    assert (result.records, result.complete, result.incomplete) == (60, True, ())
    rows = read_live(tmp_path / "audit" / "audit.arrows").table.to_pylist()
    for isolation in ("read_uncommitted", "read_committed"):
        assert sorted(one["seq"] for one in rows if one["isolation"] == isolation) == list(range(30))
    ranges = read_live(tmp_path / "audit" / "audit_ranges.arrows").table.to_pylist()
    assert len(ranges) == 8, "four partitions, two levels"


def test_a_group_that_cannot_be_asked_is_incomplete(
    cluster: tuple[Producer, Inventory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Committed offsets that nobody tells are missing evidence, and said to be."""

    def gone(*_: object) -> None:
        raise ClusterError("no coordinator of readers answers within 15 s")

    monkeypatch.setattr(tail_audit, "committed", gone)
    result = audit(spec(cluster[1], tmp_path, groups=("readers",)))
    assert not result.complete
    assert result.incomplete == ("no coordinator of readers answers within 15 s",)
    assert result.records == 60


def test_a_cluster_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """Nothing was audited: that is no result at all."""
    with pytest.raises(ClusterError, match="no broker answers"):
        audit(spec(at(unused_port()), tmp_path))


def test_never_writes_over_events(cluster: tuple[Producer, Inventory], tmp_path: Path) -> None:
    """A second audit into the same folder is refused; the first one's events stay."""
    audit(spec(cluster[1], tmp_path))
    before = (tmp_path / "audit" / "audit.arrows").read_bytes()
    with pytest.raises(EventLogError, match="contains events already"):
        audit(spec(cluster[1], tmp_path))
    assert (tmp_path / "audit" / "audit.arrows").read_bytes() == before

"""Dead letters under real faults: what failed is committed past only when its letter is there."""

from __future__ import annotations

import time

import pytest

from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce

from .conftest import Cluster, until
from .test_transaction import committed

pytestmark = [pytest.mark.lab, pytest.mark.long]


def test_their_leader_and_their_writer_are_killed(cluster: Cluster) -> None:
    """SIGKILL of the leader of the letters, then of the probe: whatever is committed past has a letter in the log."""
    orders, dead = cluster.topic(partitions=1), cluster.topic(partitions=1)
    group = f"lettered-{time.time_ns()}"
    failing = {"every": 50, "handling": "dead_letter", "topic": dead}
    config = {"session.timeout.ms": 6000}
    fields = {"topic": orders, "group": group, "commit": "sync", "failing": failing, "config": config}
    reader = Consume.model_validate(fields)
    plain = {"topic": orders, "rate": "300/s", "config": {"enable.idempotence": True}}
    writer = cluster.start(Produce.model_validate(plain), "writer")
    first = cluster.start(reader, "reader")
    until(first, lambda state: state.ok > 500)
    killed = cluster.leaders(dead)[0]
    cluster.signal(killed, "KILL")
    time.sleep(3)
    cluster.revive(killed)
    before = first.state().ok
    until(first, lambda state: state.ok > before + 500)
    first.kill()
    second = cluster.start(reader, "reader", 1)
    until(second, lambda state: state.ok > 500)
    assert writer.stop(30) == 0
    cluster.until_read(("reader", 0), ("reader", 1))
    assert second.stop(30) == 0
    about = {
        (incarnation, row["seq"]): row["offset"]
        for incarnation in (0, 1)
        for row in cluster.rows("outputs", "reader", incarnation)
    }
    lettered = {about[incarnation, seq] for _, incarnation, seq in committed(cluster, dead)}
    failed = {
        row["offset"] for n in (0, 1) for row in cluster.rows("failures", "reader", n) if row["handling"] != "seek_back"
    }
    assert lettered >= failed
    written = cluster.written(orders)
    wrong = {offset for seq, places in written.items() if seq % 50 == 49 for _, offset in places}
    assert failed == wrong, "it had caught up, so all of them were tried"

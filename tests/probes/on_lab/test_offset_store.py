"""An application's own offsets while the broker that keeps them is frozen: waited for, or taken for nothing stored."""

from __future__ import annotations

import time

import pytest

from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce

from .conftest import Cluster, until

pytestmark = [pytest.mark.lab, pytest.mark.long]


@pytest.mark.parametrize("restore", ["complete", "one_poll"])
def test_a_process_that_starts_while_the_store_is_frozen(cluster: Cluster, restore: str) -> None:
    """SIGKILL, the store's broker frozen, a new process: it waits and goes on exactly, or begins all over again."""
    broker = next(iter(cluster.inventory.brokers))
    orders, store = cluster.topic(partitions=2, without=broker), cluster.topic(partitions=1, only=broker)
    plain = {"topic": orders, "rate": "300/s", "config": {"enable.idempotence": True}}
    writer = cluster.start(Produce.model_validate(plain), "writer")
    offsets = {"topic": store, "restore": restore}
    app = Consume.model_validate({"topic": orders, "group": f"{orders}-app", "assign": "all", "offsets": offsets})
    first = cluster.start(app, "app")
    until(first, lambda state: state.ok > 600)
    first.kill()
    cluster.signal(broker, "STOP")
    try:
        second = cluster.start(app, "app", 1)
        if restore == "one_poll":
            end = time.monotonic() + 60
            while not cluster.rows("reads", "app", 1):  # it tells no more of itself: it waits for its first commit
                assert time.monotonic() < end
                time.sleep(0.1)
        else:
            until(second, lambda state: state.running)
            time.sleep(4)
            assert second.state().ok == 0, "an empty poll is no answer"
    finally:
        cluster.signal(broker, "CONT")
    until(second, lambda state: state.ok > 300)
    assert writer.stop(30) == 0
    cluster.until_read(("app", 0), ("app", 1))
    assert second.stop(30) == 0
    stored = {row["partition"]: row["offset"] for row in cluster.rows("commits", "app") if row["outcome"] == "ok"}
    found = {row["partition"]: row["offset"] for row in cluster.rows("fetched", "app", 1)}
    begun = {row["partition"]: row["offset"] for row in reversed(cluster.rows("reads", "app", 1))}
    if restore == "one_poll":
        assert found == {0: None, 1: None}
        assert begun == {0: 0, 1: 0}
        return
    assert all(found[place] >= stored[place] > 0 for place in (0, 1)), "the killed one may not have heard of its last"
    assert begun == found
    both = cluster.rows("reads", "app") + cluster.rows("reads", "app", 1)
    assert {row["seq"] for row in both} == {row["seq"] for row in cluster.rows("sends", "writer")}

"""The producer under real faults: no slot is missed, no outcome is wrong."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from chaosk.probes.produce import Produce
from chaosk.probes.worker.process import ProbeProcess

from .conftest import Cluster, until

pytestmark = [pytest.mark.lab, pytest.mark.long]


def produce(topic: str, **config: Any) -> Produce:
    """500 records a second."""
    return Produce.model_validate({"topic": topic, "rate": "500/s", "config": config})


def every_slot_once(rows: list[dict[str, Any]], started: int) -> None:
    """Each record that was due has exactly one row, with the deadline that follows from the rate."""
    assert sorted(row["seq"] for row in rows) == list(range(len(rows)))
    assert all(row["scheduled"] == started + row["seq"] * 2_000_000 for row in rows)


def test_a_frozen_broker_moves_no_deadline(cluster: Cluster) -> None:
    """SIGSTOP of a leader for five seconds: sends stay on time, latency shows the pause, nothing is lost or twice."""
    topic = cluster.topic()
    writer = cluster.start(produce(topic, acks="all", **{"enable.idempotence": True}), "writer")
    until(writer, lambda state: state.ok > 1000)
    frozen = cluster.leaders(topic)[0]
    cluster.signal(frozen, "STOP")
    time.sleep(5)
    cluster.signal(frozen, "CONT")
    before = writer.state().scheduled
    until(writer, lambda state: state.ok > before + 1000)
    assert writer.stop(60) == 0
    rows = cluster.rows("sends", "writer")
    every_slot_once(rows, cluster.rows("incarnations", "writer")[0]["started"])
    assert {row["outcome"] for row in rows} == {"ok"}
    late = sorted((row["invoked"] - row["scheduled"]) / 1e6 for row in rows)
    assert late[len(late) * 9 // 10] < 20, "milliseconds; one stall of a busy machine is no matter"
    slowest = max((row["completed"] - row["scheduled"]) / 1e9 for row in rows if row["partition"] == 0)
    assert 4.5 < slowest < 15, "a record that was due when the pause began waited for all of it"
    assert {seq: places for seq, places in cluster.written(topic).items() if len(places) > 1} == {}
    assert set(cluster.written(topic)) == {row["seq"] for row in rows}


OUTCOMES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "idempotent": ({"acks": "all", "enable.idempotence": True}, {"ok"}),
    "leader-alone": ({"acks": 1, "retries": 0, "message.timeout.ms": 3000}, {"ok", "fail", "info"}),
    "once": ({"acks": "all", "retries": 0, "message.timeout.ms": 3000}, {"ok", "info"}),
}
"""Writers by name: their settings, and the outcomes that their records may have."""


def test_outcomes_are_true_when_a_leader_is_killed(cluster: Cluster) -> None:
    """SIGKILL of a leader: what is ``ok`` with acks=all is in the log, what is ``fail`` is not, whatever happens."""
    topics = {name: cluster.topic(min_insync_replicas="1") for name in OUTCOMES}
    writers = {name: cluster.start(produce(topics[name], **config), name) for name, (config, _) in OUTCOMES.items()}
    for writer in writers.values():
        until(writer, lambda state: state.ok > 1000)
    (killed,) = {cluster.leaders(topic)[0] for topic in topics.values()}
    cluster.signal(killed, "KILL")
    time.sleep(14)
    cluster.revive(killed)
    for writer in writers.values():
        a_thousand_more(writer)
    assert [writer.stop(60) for writer in writers.values()] == [0, 0, 0]
    for name, topic in topics.items():
        outcomes_are_true(cluster, name, topic)


def a_thousand_more(writer: ProbeProcess) -> None:
    """Wait until so many more records are acknowledged."""
    before = writer.state().ok
    until(writer, lambda state: state.ok > before + 1000)


def outcomes_are_true(cluster: Cluster, name: str, topic: str) -> None:
    """What a writer has written down of its records agrees with the log."""
    config, outcomes = OUTCOMES[name]
    rows = cluster.rows("sends", name)
    every_slot_once(rows, cluster.rows("incarnations", name)[0]["started"])
    found = Counter((row["outcome"], row["error"]) for row in rows)
    assert {outcome for outcome, _ in found} <= outcomes, (name, found)
    written = cluster.written(topic)
    failed = {row["seq"] for row in rows if row["outcome"] == "fail"}
    assert failed & set(written) == set(), (name, found)
    if config["acks"] == "all":
        for row in rows:
            if row["outcome"] == "ok" and row["offset"] is not None:
                assert (row["partition"], row["offset"]) in written[row["seq"]], name
    assert set(written) <= {row["seq"] for row in rows}, f"{name}: every record in the log was due"


def test_a_cluster_that_is_gone_ends_in_time(cluster: Cluster) -> None:
    """With every broker frozen a clean end is bounded, and every record that was due has its row and its doubt."""
    topic = cluster.topic()
    writer = cluster.start(produce(topic, acks="all"), "writer")
    until(writer, lambda state: state.ok > 500)
    with cluster.frozen():
        time.sleep(2)
        began = time.monotonic()
        assert writer.stop(40) == 0
        assert time.monotonic() - began < 20
    rows = cluster.rows("sends", "writer")
    every_slot_once(rows, cluster.rows("incarnations", "writer")[0]["started"])
    (end,) = cluster.rows("ends", "writer")
    assert end["rows"] == end["scheduled"] == len(rows)
    assert {row["error"] for row in rows if row["outcome"] == "info"} <= {"_PURGE_INFLIGHT", "_PURGE_QUEUE"}
    assert any(row["outcome"] == "info" for row in rows)

"""Samplers: what they write of brokers that answer, hang or are gone, and that they keep to their schedule."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from fake_servers import Behaviour, answering, closing, mock_cluster, server, silent, unused_port

from chaosk.cluster.wire import Endpoint
from chaosk.run.watcher import sampling
from chaosk.run.watcher.sampling import About, BrokerSampler, Sampler, SettingsSampler, ZooKeeperSampler
from chaosk.rundir.events import TABLES


class Rows:
    """An event log in memory."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, dict[str, Any]]] = []

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Keep it, by column."""
        self.rows.append((table, dict(zip((one.name for one in TABLES[table].columns), row, strict=True))))

    def of(self, table: str) -> list[dict[str, Any]]:
        """The rows of one table."""
        return [row for name, row in self.rows if name == table]


def sampled(place: Endpoint, *topics: str, broker: int = 1) -> tuple[Rows, BrokerSampler]:
    """One sample of a broker."""
    log = Rows()
    sampler = BrokerSampler(broker, place, About(topics), log, threading.Event())
    sampler.sample()
    sampler._link.close()
    return log, sampler


def test_writes_what_a_broker_says() -> None:
    """One row of its membership, one for each partition, one for each replica that it has."""
    with mock_cluster(2) as (producer, places):
        producer.produce("orders", b"x", partition=0)
        producer.flush(5)
        logs = {broker: sampled(place, "orders", broker=broker) for broker, place in places.items()}
    for broker, (log, sampler) in logs.items():
        (membership,) = log.of("brokers")
        assert (membership["asked"], membership["alive"], membership["error"]) == (broker, [1, 2], None)
        assert membership["invoked"] <= membership["completed"]
        assert [one["partition"] for one in log.of("partitions")] == [0, 1, 2, 3]
        assert {one["at"] for one in log.of("partitions")} == {membership["completed"]}
        assert sampler.latest is not None
    leaders = {one["partition"]: one["leader"] for one in logs[1][0].of("partitions")}
    told = {(one["partition"], one["asked"]) for log, _ in logs.values() for one in log.of("offsets") if one["leader"]}
    assert told == set(leaders.items()), "offsets of a leader come from the leader alone"


def test_settings_are_written_down_when_they_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each setting of a topic once, and again when its value has changed."""
    said = iter(
        [
            {("orders", "retention.ms"): "1000", ("orders", "cleanup.policy"): "delete"},
            {("orders", "retention.ms"): "1000", ("orders", "cleanup.policy"): "delete"},
            {("orders", "retention.ms"): "5", ("orders", "cleanup.policy"): "delete"},
        ]
    )
    monkeypatch.setattr(sampling, "topic_settings", lambda answer: next(said))
    monkeypatch.setattr("chaosk.cluster.wire.BrokerConnection.ask", lambda self, *requests: requests)
    log = Rows()
    sampler = SettingsSampler([Endpoint("broker 1", "127.0.0.1", 1)], ["orders"], log, threading.Event())
    for _ in range(3):
        sampler.sample()
    told = [(row["topic"], row["name"], row["value"]) for row in log.of("topic_settings")]
    assert told == [
        ("orders", "cleanup.policy", "delete"), ("orders", "retention.ms", "1000"), ("orders", "retention.ms", "5"),
    ]  # fmt: skip


def test_settings_that_nobody_tells_are_not_written() -> None:
    """A broker that closes the connection: no row, and the next look asks again."""
    log = Rows()
    with server(closing) as place:
        SettingsSampler([place], ["orders"], log, threading.Event()).sample()
    assert log.rows == []


def test_a_topic_that_is_gone_leaves_no_rows() -> None:
    """Without a topic there are no partitions to tell of; the broker answered all the same."""
    with mock_cluster(1) as (_, places):
        log, _ = sampled(places[1])
    assert [table for table, _ in log.rows] == ["brokers"]


@pytest.mark.parametrize(("behaviour", "words"), [(silent, "no answer within 1 s"), (closing, "closed")])
def test_writes_why_there_is_no_answer(behaviour: Behaviour, words: str) -> None:
    """Silence is an event with its time and reason; it is not the absence of one."""
    with server(behaviour) as place:
        log, sampler = sampled(place, "orders")
    (row,) = log.of("brokers")
    assert words in row["error"]
    assert (row["controller"], row["alive"]) == (None, None)
    assert sampler.latest is None
    assert len(log.rows) == 1


def test_zookeepers_are_sampled_by_role() -> None:
    """A node's mode, or why it does not serve."""
    log = Rows()
    with server(answering(b"Zookeeper version: 3.8.4\nMode: leader\n")) as place:
        leading = ZooKeeperSampler(2, place, log, threading.Event())
        leading.sample()
    dead = ZooKeeperSampler(3, Endpoint("ZooKeeper 3", "127.0.0.1", unused_port()), log, threading.Event())
    dead.sample()
    assert (leading.latest, dead.latest) == ("leader", None)
    first, second = log.of("zookeepers")
    assert (first["node"], first["mode"], first["error"]) == (2, "leader", None)
    assert (second["node"], second["mode"]) == (3, None)
    assert "refused" in second["error"]


class Clock(threading.Event):
    """A clock that only a wait or a sample moves, and the event that ends the sampler at its time."""

    def __init__(self, end: float) -> None:
        super().__init__()
        self.now, self._end = 0.0, end

    def monotonic(self) -> float:
        """Seconds."""
        return self.now

    def is_set(self) -> bool:
        """Whether the end is reached."""
        return self.now >= self._end

    def wait(self, timeout: float | None = None) -> bool:
        """The time passes at once."""
        assert timeout is not None
        self.now += timeout
        return self.is_set()


class Counting(Sampler):
    """Takes its time for the third sample."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("counting", 0.25, Rows(), clock)
        self.clock, self.times = clock, list[float]()

    def sample(self) -> None:
        """Note the time."""
        self.times.append(self.clock.now)
        self.clock.now += 1.125 if len(self.times) == 3 else 0.125


def test_keeps_to_its_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples come at their rate, whatever each takes; one that takes too long is not made up for in a burst."""
    clock = Clock(end=2.5)
    monkeypatch.setattr("chaosk.run.watcher.sampling.time", clock)
    sampler = Counting(clock)
    sampler.run()
    assert sampler.times == [0, 0.25, 0.5, 1.625, 1.875, 2.125, 2.375]


def test_topics_of_others_are_seen_and_not_written_down() -> None:
    """Asked for all of them, the sampler's view has them; its rows are those of the topics that are watched."""
    with mock_cluster(1) as (producer, places):
        for topic in ("orders", "payments"):
            producer.produce(topic, b"x", partition=0)
        producer.flush(5)
        log = Rows()
        sampler = BrokerSampler(1, places[1], About(("orders",), others=True), log, threading.Event())
        sampler.sample()
        sampler._link.close()
        alone, unasked = sampled(places[1], "orders")
    assert sampler.latest is not None
    assert {one.topic for one in sampler.latest.partitions} == {"orders", "payments"}
    assert {one["topic"] for table in ("partitions", "offsets") for one in log.of(table)} == {"orders"}
    assert log.of("offsets"), "it asked for the offsets of its own replicas all the same"
    assert unasked.latest is not None
    assert {one.topic for one in unasked.latest.partitions} == {"orders"}
    assert len(alone.rows) == len(log.rows)

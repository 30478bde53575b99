"""The cluster at a glance, as the live display shows it."""

from __future__ import annotations

from chaosk.cluster.views import ClusterView, PartitionView
from chaosk.run.watcher.state import TopicState, WatcherState, glance


def part(number: int, leader: int, isr: tuple[int, ...] = (0, 1, 2), topic: str = "orders") -> PartitionView:
    """A partition with three replicas."""
    return PartitionView(topic=topic, partition=number, leader=leader, replicas=(0, 1, 2), isr=isr, leader_epoch=0)


def says(
    asked: int, *parts: PartitionView, controller: int | None = 0, alive: tuple[int, ...] = (0, 1, 2)
) -> ClusterView:
    """What one broker says."""
    return ClusterView(asked, controller, alive, racks=False, partitions=parts, topic_ids={})


def look(*views: ClusterView, zookeepers: dict[int, str | None] | None = None) -> WatcherState:
    """The state from these views of a cluster of three."""
    return glance(1, [0, 1, 2], views, zookeepers or {})


def test_a_whole_cluster() -> None:
    """One line for the cluster, one for each topic, by name."""
    parts = (part(0, 0), part(1, 1), part(0, 2, topic="audit"))
    state = look(says(0, *parts), says(1, *parts), says(2, *parts), zookeepers={2: "leader", 1: "follower"})
    assert state.lines() == (
        "controller 0, brokers 0 1 2, ZooKeeper 1 follower, 2 leader",
        "audit: leaders 2, ISR full",
        "orders: leaders 0 1, ISR full",
    )


def test_a_cluster_in_trouble() -> None:
    """Who is silent, what has no leader, which ISR has shrunk: by partition."""
    parts = (part(0, 0, (0, 2)), part(1, -1, (1,)), part(2, 2))
    state = look(says(0, *parts, alive=(0, 2)), says(2, *parts, alive=(0, 2)), zookeepers={1: None})
    assert state.silent == (1,)
    assert state.lines() == (
        "controller 0, brokers 0 2 (silent: 1), ZooKeeper 1 down",
        "orders: leaders 0 none 2, ISR 2/3 1/3 3/3",
    )


def test_nobody_answers() -> None:
    """A cluster that does not answer is a state, too."""
    state = look()
    assert (state.controller, state.alive, state.silent) == (None, (), (0, 1, 2))
    assert state.lines() == ("controller none, brokers none (silent: 0 1 2)",)


def test_a_cut_off_broker_is_not_shown_as_the_cluster() -> None:
    """What a broker that was cut off still believes is not what people are shown."""
    state = look(says(0, part(0, 0)), says(1, part(0, 0)), says(2, part(0, 2), controller=2))
    assert (state.controller, state.topics[0].leaders) == (0, (0,))


def test_a_wide_topic_stays_one_line() -> None:
    """A hundred partitions are counted, not listed."""
    wide = TopicState(topic="wide", leaders=(0,) * 98 + (-1,) * 2, in_sync=(3,) * 90 + (2,) * 10, replicas=(3,) * 100)
    assert wide.line() == "wide: 100 partitions, 2 without a leader, 10 with a shrunk ISR"


def test_travels_as_json() -> None:
    """The state that the run reads is the one that the watcher wrote."""
    state = look(says(0, part(0, 0)), zookeepers={1: "leader", 2: None})
    assert WatcherState.model_validate_json(state.model_dump_json()) == state


def test_of_other_topics_only_what_is_not_whole() -> None:
    """Those that nobody asked to watch have no line; their partitions in trouble are told one by one."""
    parts = (
        part(0, 0), part(0, 1, topic="fine"), part(0, -1, (1,), topic="payments"), part(1, 2, (1, 2), topic="payments"),
    )  # fmt: skip
    state = glance(1, [0, 1, 2], [says(0, *parts), says(1, *parts)], {}, {"orders"})
    assert [topic.topic for topic in state.topics] == ["orders"]
    told = [(one.topic, one.partition, one.leader, one.in_sync, one.replicas) for one in state.strained]
    assert told == [("payments", 0, -1, 1, 3), ("payments", 1, 2, 2, 3)]
    assert WatcherState.model_validate_json(state.model_dump_json()) == state


def test_without_a_choice_every_topic_is_watched() -> None:
    """Then none is another's."""
    state = look(says(0, part(0, -1), part(0, 0, (0,), topic="payments")))
    assert [topic.topic for topic in state.topics] == ["orders", "payments"]
    assert state.strained == ()

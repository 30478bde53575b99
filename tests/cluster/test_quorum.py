"""The quorum, from its leader's answers."""

from __future__ import annotations

from types import SimpleNamespace as Value

from chaosk.cluster.quorum import Quorum, quorum, quorum_request

NOW = 1_795_419_811_171


def voter(number: int, fetched: int, caught_up: int) -> Value:
    """One voter as the leader describes it, in milliseconds of its clock."""
    return Value(replica_id=number, last_fetch_timestamp=fetched, last_caught_up_timestamp=caught_up)


def answer(*voters: Value, error: int = 0, leader: int = 1, top_error: int = 0) -> Value:
    """An answer as kafka-python reads it."""
    partition = Value(error_code=error, leader_id=leader, leader_epoch=7, current_voters=voters)
    return Value(error_code=top_error, topics=[Value(partitions=[partition])])


def test_who_fetches_follows() -> None:
    """A voter that has not fetched for longer than two seconds of the leader's clock, or never, takes no part."""
    found = quorum(
        answer(voter(2, NOW - 2001, NOW - 2001), voter(3, NOW - 1999, NOW - 1999), voter(1, -1, NOW), voter(4, -1, -1))
    )
    assert found == Quorum(leader=1, epoch=7, roles={1: "leader", 2: None, 3: "follower", 4: None})
    assert list(found.roles) == [1, 2, 3, 4]


def test_only_the_leader_knows() -> None:
    """An error, an empty answer, or one that names no leader says nothing of the quorum."""
    alone = voter(1, NOW, NOW)
    assert quorum(answer(alone)) is not None
    assert quorum(answer(alone, error=6)) is None
    assert quorum(answer(alone, leader=-1)) is None
    assert quorum(answer(alone, top_error=31)) is None
    assert quorum(Value(error_code=0, topics=[])) is None


def test_the_request_asks_for_the_metadata() -> None:
    """The one partition of the one topic there is."""
    (topic,) = quorum_request().topics
    assert (topic.topic_name, [one.partition_index for one in topic.partitions]) == ("__cluster_metadata", [0])

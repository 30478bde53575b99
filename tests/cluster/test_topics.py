"""What becomes of a scenario's topics, decided from what is there: nothing of somebody else's is ever deleted."""

from __future__ import annotations

from typing import Any

import pytest
from fake_kafka import FakeKafka, FakeTopic
from hypothesis import given
from hypothesis import strategies as st

from chaosk.cluster import serving, topic_admin
from chaosk.cluster.owner import claim
from chaosk.cluster.topics import prepare
from chaosk.core.errors import ChaoskError, ClusterError, PreflightError
from chaosk.spec.scenario import Topic

SHAPE = Topic(partitions=3, config={"min.insync.replicas": 2})
RING = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_admin, "_PAUSE", 0.001)
    monkeypatch.setattr(topic_admin, "WITHIN", 0.3)
    monkeypatch.setattr(serving, "WITHIN", 0.3)


def run(kafka: FakeKafka, **topics: Topic) -> tuple[str, ...]:
    """Make topics ready."""
    return prepare(kafka.as_brokers(), topics or {"orders": SHAPE})


def asked(kafka: FakeKafka) -> list[str]:
    """The names of the requests that change something, in order."""
    return [one.name for one in kafka.asked if one.name.startswith(("Create", "Delete", "OffsetCommit"))]


def theirs(*ends: int, **changes: Any) -> FakeKafka:
    """A cluster on which somebody else made `orders` in the shape that is wanted."""
    fields = {"replicas": list(RING), "config": {"min.insync.replicas": "2"}, "ends": list(ends), **changes}
    return FakeKafka({"orders": FakeTopic(**fields)})


def test_a_missing_topic_is_made_and_claimed() -> None:
    """It is placed round robin, carries its configuration as text, and is noted as chaosk's."""
    kafka = FakeKafka()
    assert run(kafka) == ("topic orders: created",)
    assert kafka.topics["orders"].replicas == RING
    assert kafka.topics["orders"].config == {"min.insync.replicas": "2"}
    assert kafka.notes["orders"].endswith(kafka.topics["orders"].identity)


def test_its_own_topic_is_made_anew() -> None:
    """Whatever its shape was and whatever it holds: it is deleted by its id, then made."""
    kafka = FakeKafka()
    run(kafka, orders=Topic(partitions=1))
    before = kafka.topics["orders"].identity
    kafka.topics["orders"].ends = [10]
    kafka.asked.clear()
    assert run(kafka) == ("topic orders: recreated",)
    assert kafka.topics["orders"].identity != before
    assert asked(kafka) == ["DeleteTopicsRequest", "CreateTopicsRequest", "OffsetCommitRequest"]
    (deletion,) = [one for one in kafka.asked if one.name == "DeleteTopicsRequest"]
    assert [(str(one.topic_id), one.name) for one in deletion.topics] == [(before, None)]


def test_somebody_elses_empty_topic_is_used() -> None:
    """It stays the same topic, and is chaosk's from now on."""
    kafka = theirs(0, 0, 0)
    before = kafka.topics["orders"].identity
    assert run(kafka) == ("topic orders: exists and is empty: used as it is",)
    assert kafka.topics["orders"].identity == before
    assert asked(kafka) == ["OffsetCommitRequest"]


@pytest.mark.parametrize(
    ("kafka", "words"),
    [
        (theirs(0, 1, 0), "holds records, and has no mark that chaosk created it"),
        (theirs(leaderless=True), "holds records, and has no mark that chaosk created it"),
        (theirs(replicas=RING[:2]), "other settings: 2 partitions, not 3"),
        (theirs(replicas=[(0,), (1,), (2,)]), "replication factor 1, not 3"),
        (theirs(config={"min.insync.replicas": "1"}), "min.insync.replicas=1, not 2"),
        (
            theirs(config={"min.insync.replicas": "2", "cleanup.policy": "compact"}),
            "cleanup.policy=compact, which the scenario does not set",
        ),
    ],
)
def test_what_is_not_chaosks_is_refused_untouched(kafka: FakeKafka, words: str) -> None:
    """Records, another shape, or nobody who could tell: the run is refused, and not even a new topic was made."""
    before = kafka.topics["orders"].identity
    with pytest.raises(PreflightError, match=words):
        run(kafka, orders=SHAPE, fresh=SHAPE)
    assert kafka.topics["orders"].identity == before
    assert asked(kafka) == []


def test_all_refusals_at_once() -> None:
    """Each topic that cannot be had has its line."""
    kafka = theirs(5, 0, 0)
    with pytest.raises(PreflightError) as caught:
        run(kafka, orders=SHAPE, wide=Topic(replication_factor=4))
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == ["topic wide", "topic orders"]


def test_an_old_note_proves_nothing() -> None:
    """The note names the topic that was: one made anew by somebody else under the name is not chaosk's."""
    kafka = theirs(0, 1, 0)
    claim(kafka.as_brokers(), {"orders": "the id of the topic before"})
    with pytest.raises(PreflightError, match="has no mark that chaosk created it"):
        run(kafka)


def test_racks_are_left_to_kafka() -> None:
    """Where brokers have racks Kafka places replicas, because it knows them."""
    kafka = FakeKafka(racks=True)
    run(kafka)
    (request,) = [one for one in kafka.asked if one.name == "CreateTopicsRequest"]
    assert (request.topics[0].assignments, request.topics[0].num_partitions) == ([], 3)
    assert request.topics[0].replication_factor == 3


def test_a_deletion_that_takes_time_is_waited_for() -> None:
    """ZooKeeper holds on to a deleted topic's name for a while: it is tried again."""
    kafka = FakeKafka(busy=3)
    assert run(kafka) == ("topic orders: created",)
    assert asked(kafka).count("CreateTopicsRequest") == 4


def test_a_name_that_stays_taken_is_an_error() -> None:
    """It is not tried forever."""
    with pytest.raises(PreflightError, match="not made: topic orders: TOPIC_ALREADY_EXISTS, because"):
        run(FakeKafka(busy=10**6))


@pytest.mark.parametrize(
    ("code", "words"),
    [(40, "not made: topic orders: INVALID_CONFIG, because"), (29, "not made: topic orders: TOPIC_AUTHORIZATION")],
)
def test_a_refusal_of_the_controller_is_told(code: int, words: str) -> None:
    """With the controller's own words."""
    with pytest.raises(PreflightError, match=words):
        run(FakeKafka(refuses={"orders": code}))


def test_a_deletion_that_is_refused_is_told() -> None:
    """delete.topic.enable may be off, or the right missing: nothing is made on top."""
    kafka = FakeKafka()
    run(kafka)
    kafka.refuses["orders"] = 73
    with pytest.raises(PreflightError, match="not deleted: topic orders: TOPIC_DELETION_DISABLED"):
        run(kafka)


def test_a_configuration_that_may_not_be_read_is_an_error() -> None:
    """What cannot be compared is not taken for equal."""
    kafka = theirs(0, 0, 0)
    kafka.refuses["config of orders"] = 29
    with pytest.raises(ClusterError, match="topic orders: its configuration cannot be read: TOPIC_AUTHORIZATION"):
        run(kafka)


def test_waits_until_every_replica_is_in_sync() -> None:
    """A run begins when every broker knows every partition with a full ISR, not before."""
    kafka = FakeKafka(slow=20)
    run(kafka)
    assert kafka.slow < 0


def test_a_topic_that_never_gets_ready_is_an_error() -> None:
    """The wait has an end, and says what it waited for."""
    with pytest.raises(ClusterError, match="made, and not every broker knows them with all replicas in sync after"):
        run(FakeKafka(slow=10**9))


def test_a_leader_that_does_not_serve_is_told() -> None:
    """It is said to lead, and knows nothing of it, as after a deletion that it has missed: nothing is tested there."""
    with pytest.raises(PreflightError, match="broker 2 leads its partition 2, and it does not serve it; look at its"):
        run(FakeKafka(unserved=2))


@given(
    own=st.sets(st.sampled_from("abcd")),
    other=st.sets(st.sampled_from("abcd")),
    ends=st.lists(st.integers(0, 1), min_size=3, max_size=3),
)
def test_nothing_of_somebody_elses_is_ever_deleted(own: set[str], other: set[str], ends: list[int]) -> None:
    """Whatever is there, a topic that chaosk did not make keeps its id; what it made is new; or nothing changes."""
    kafka = FakeKafka()
    if own - other:
        run(kafka, **dict.fromkeys(sorted(own - other), SHAPE))
    for name in other:
        kafka.topics[name] = FakeTopic(list(RING), {"min.insync.replicas": "2"}, ends=list(ends))
    before = {name: topic.identity for name, topic in kafka.topics.items()}
    try:
        run(kafka, **dict.fromkeys("abcd", SHAPE))
    except ChaoskError:
        assert any(ends)
        assert {name: topic.identity for name, topic in kafka.topics.items()} == before
    else:
        assert {name for name in before if kafka.topics[name].identity == before[name]} == other
        assert set(kafka.topics) == set("abcd")

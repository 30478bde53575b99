"""The shape of topics: what differs, how values are written, where replicas go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.cluster.configs import Config
from chaosk.cluster.shape import differences, placement
from chaosk.cluster.views import PartitionView
from chaosk.spec.entity import spelled
from chaosk.spec.scenario import Topic

WANTED = Topic(partitions=2, replication_factor=3, config={"min.insync.replicas": 2})
FOUND = [
    PartitionView(topic="orders", partition=n, leader=0, replicas=(0, 1, 2), isr=(0, 1, 2), leader_epoch=0)
    for n in range(2)
]
CONFIG = Config({"min.insync.replicas": "2", "retention.ms": "604800000"}, {"min.insync.replicas": "2"})


def test_the_same_shape_has_no_differences() -> None:
    """A topic that is as wanted is not complained about."""
    assert differences(WANTED, FOUND, CONFIG) == ()


def test_a_default_that_is_as_wanted_is_no_difference() -> None:
    """It matters what is in force, not where it was set."""
    config = Config({"min.insync.replicas": "2"})
    assert differences(WANTED, FOUND, config) == ()


def test_names_everything_that_differs() -> None:
    """All differences at once: count, factor, values, and what was set besides."""
    config = Config({"min.insync.replicas": "1", "cleanup.policy": "compact"}, {"cleanup.policy": "compact"})
    short = [one.model_copy(update={"replicas": (0,)}) for one in FOUND[:1]]
    assert differences(WANTED, short, config) == (
        "1 partitions, not 2",
        "replication factor 1, not 3",
        "min.insync.replicas=1, not 2",
        "cleanup.policy=compact, which the scenario does not set",
    )


def test_a_setting_that_kafka_does_not_have_differs() -> None:
    """A setting that the topic has no value for is a difference, not an error."""
    wanted = WANTED.model_copy(update={"config": {"no.such": 1}})
    assert differences(wanted, FOUND, Config({})) == ("no.such=, not 1",)


@pytest.mark.parametrize(
    ("value", "written"), [(True, "true"), (False, "false"), (2, "2"), (0.5, "0.5"), ("all", "all")]
)
def test_writes_values_as_kafka_does(value: bool | float | str, written: str) -> None:  # noqa: FBT001 - it is the value
    """A YAML value becomes the text that Kafka describes it with."""
    assert spelled(value) == written


@given(partitions=st.integers(1, 60), factor=st.integers(1, 5), brokers=st.integers(5, 9))
def test_placement_is_even_and_repeatable(partitions: int, factor: int, brokers: int) -> None:
    """Replicas lie on different brokers, leaders are spread evenly, and it is the same each time."""
    alive = [10 + n for n in range(brokers)]
    topic = Topic(partitions=partitions, replication_factor=factor)
    placed = placement(topic, alive)
    leaders = [replicas[0] for replicas in placed.values()]
    assert placed == placement(topic, alive)
    assert list(placed) == list(range(partitions))
    assert all(len(set(replicas)) == factor for replicas in placed.values())
    assert max(map(leaders.count, alive)) - min(map(leaders.count, alive)) <= 1

"""A topic that is deleted and made again: what is asked of the cluster, and what a host keeps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import DeleteTopic, Fact, MakeTopic, Pause, Run, Site
from chaosk.spec.inventory import Inventory
from chaosk.spec.topic_shape import TopicShape

from .conftest import site, step

SHAPE = TopicShape(
    topic="orders", identity="an-id", replicas=((1, 2, 0), (2, 0, 1)), config={"retention.ms": "5", "a.b": "x"}
)
STEP = step("recreate_topic: {topic: orders, pause: 5s}")


@pytest.fixture
def here(inventory: Inventory) -> Site:
    """A cluster that was asked how the topic is."""
    return replace(site(inventory), topics={"orders": SHAPE})


def test_it_is_deleted_by_its_id_and_made_as_it_was(here: Site) -> None:
    """The pause lies between the two; nothing of it can be taken back, so nothing lasts."""
    assert list(STEP.inject(here)) == [
        DeleteTopic(topic="orders", identity="an-id"), Pause(seconds=5), MakeTopic(shape=SHAPE),
    ]  # fmt: skip
    assert (STEP.lasting, STEP.remakes(), list(STEP.harm(here))) == (False, ("orders",), [])
    assert [fact.query for fact in STEP.verify(here)] == ["partition_count(orders, 2)", "own_topic(orders)"]


def test_only_a_topic_that_chaosk_made_where_a_host_could_make_it_again(here: Site) -> None:
    """Both are asked before anything is done, and what the host needs before the run, too."""
    own, tool = STEP.before(here)
    assert own.query == "own_topic(orders)"
    assert isinstance(tool.query, Command)
    assert (tool.query.host, tool.query.argv[4:6]) == ("node1", ("fits", "/opt/kafka"))
    assert list(STEP.suits(here)) == [tool]
    assert STEP.configured == {"delete.topic.enable": "true"}


def test_a_host_can_make_it_again(here: Site) -> None:
    """By Kafka's own tool, each replica where it was, with the settings; and it can tell that the topic is there."""
    again, by_tool = STEP.undo(here)
    assert again == MakeTopic(shape=SHAPE, back=True)
    assert isinstance(by_tool, Run)
    assert by_tool.command.host == "node1"
    assert by_tool.command.argv[4:] == (
        "make", "/opt/kafka", "", "198.18.0.11:9092,198.18.0.12:9092,198.18.0.13:9092", "orders", "1:2:0,2:0:1",
        "a.b=x", "retention.ms=5",
    )  # fmt: skip
    whole, there = STEP.healed(here)
    assert whole.query == "partition_count(orders, 2)"
    assert isinstance(there, Fact)
    assert isinstance(there.query, Command)
    assert (there.query.argv[4], *there.query.argv[8:]) == ("there", "orders", "2")


def test_where_the_tool_could_not_log_in_it_is_refused(here: Site) -> None:
    """A topic that nobody could make again is not deleted."""
    closed = here.inventory.model_copy(update={"client": {"security.protocol": "SSL"}})
    with pytest.raises(StepError, match="write `client_config` below `kafka` in the inventory"):
        list(STEP.before(replace(here, inventory=closed)))


def test_two_of_them_at_once_contradict_each_other(here: Site) -> None:
    """As whatever else moves the topic's replicas."""
    assert list(STEP.holds(here)) == list(step("create_partitions: {topic: orders, count: 9}").holds(here))


@pytest.mark.parametrize("pause", ["-1s", "11m", "5"])
def test_a_pause_has_a_unit_and_a_limit(pause: str) -> None:
    """A lease has to outlast it."""
    with pytest.raises(ValidationError):
        step(f"recreate_topic: {{topic: orders, pause: {pause}}}")

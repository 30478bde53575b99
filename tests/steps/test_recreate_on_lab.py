"""A topic deleted and made again on a real cluster, by the run's own engine and by a host alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.cluster.topics import prepare
from chaosk.core.errors import ClusterError, StepError
from chaosk.planning.resolve import aim
from chaosk.spec.contracts.step import Fact
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Entry, Topic

from .conftest import step
from .lab import Ground, ground, standing

pytestmark = [pytest.mark.lab, pytest.mark.long]

LAB = "hagain"
SHAPE = Topic(partitions=2, config={"min.insync.replicas": 2, "retention.ms": 5_000_000})


@pytest.fixture(scope="module")
def lab_inventory() -> Iterator[Inventory]:
    """A lab of three hosts for this module."""
    with standing(LabLayout(name=LAB)) as inventory:
        yield inventory


@pytest.fixture
def lab(lab_inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """The lab's cluster, healed after each test."""
    with ground(lab_inventory, tmp_path) as here:
        yield here


def test_it_is_another_topic_of_the_same_shape(lab: Ground) -> None:
    """Another id, the replicas and settings of before, and chaosk's own: so it can be done once more."""
    prepare(lab.brokers, {"remade": SHAPE})
    seen = [lab.live.topic_shape("remade")]
    for name in ("first", "second"):
        life = lab.inject("recreate_topic: {topic: remade, pause: 0s}", name)
        assert (life.took, life.armed, life.left) == (True, False, None)
        seen.append(lab.live.topic_shape("remade"))
    assert len({one.identity for one in seen}) == 3
    assert len({one.model_copy(update={"identity": ""}).model_dump_json() for one in seen}) == 1
    assert lab.live.own_topic("remade")


def test_a_host_makes_it_again_by_itself(lab: Ground) -> None:
    """The lease's own undo, as it is when chaosk has died once the topic was gone: with all that it had."""
    prepare(lab.brokers, {"orphan": SHAPE})
    before = lab.live.topic_shape("orphan")
    entry = Entry.model_construct(name="half", kind="recreate_topic", step=step("recreate_topic: {topic: orphan}"),
                                  lasts=None, when=None)  # fmt: skip
    whole = aim(entry, lab.inventory, lab.live, 1, "run-1")
    broken = Fact(says="it went on", query="own_topic(orphan)")
    with pytest.raises(StepError, match="it went on"):
        lab.faults.inject(
            whole.model_copy(update={"inject": whole.inject[:1], "verify": (broken,)}), entry, threading.Event()
        )
    with pytest.raises(ClusterError):
        lab.live.partitions("orphan")
    (life,) = lab.faults.lives()
    lab.heal("node1", life)
    after = lab.live.topic_shape("orphan")
    assert after.model_copy(update={"identity": before.identity}) == before
    lab.end(life)
    assert lab.live.topic_shape("orphan").identity == after.identity
    assert prepare(lab.brokers, {"orphan": SHAPE}) == ("topic orphan: exists and is empty: used as it is",)


def test_a_topic_that_somebody_made_again_is_left_alone(lab: Ground) -> None:
    """It has the name, and is not chaosk's."""
    prepare(lab.brokers, {"theirs": Topic(partitions=1)})
    tool = ("/opt/kafka/bin/kafka-topics.sh", "--bootstrap-server", "198.18.0.11:9092", "--topic", "theirs")
    lab.said("node1", *tool, "--delete")
    while not lab.run("node1", *tool, "--create", "--replication-factor", "3").ok:
        pass
    before = lab.live.topic_shape("theirs")
    with pytest.raises(StepError, match="did not take: not seen: theirs is a topic that chaosk made"):
        lab.inject("recreate_topic: {topic: theirs}")
    assert lab.live.topic_shape("theirs") == before

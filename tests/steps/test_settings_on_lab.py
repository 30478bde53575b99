"""Settings of topics and brokers, quotas and partitions on a real cluster, by the run's own engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from on_lab import until

from chaosk.cluster.topics import prepare
from chaosk.core.errors import StepError
from chaosk.hosts.commands import brokertool
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Topic

from .lab import Ground, ground, standing

pytestmark = [pytest.mark.lab, pytest.mark.long]

LAB = "settings"
SECOND = Entity(kind="broker", name="1")
WRITER = Entity(kind="clients", client="writer")


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


def change(lab: Ground, of: Entity, **values: str | None) -> None:
    """As an operator would on the first host, with Kafka's own tool; underscores are dots in names of a broker's.

    The tool ends when ZooKeeper has it, brokers hear of it after that: it is waited for.
    """
    named = {name.replace("_", ".") if of.kind == "broker" else name: value for name, value in values.items()}
    done = lab.ssh.run(brokertool.change(lab.inventory, "node1", Settings(of=of, values=named)))
    assert done.ok, done.stderr
    until(lambda: named.items() <= (dict.fromkeys(named) | lab.live.settings(of)).items(), within=10)


def test_a_topic_gets_its_configuration_back(lab: Ground) -> None:
    """What was set there, and no more; a setting that Kafka does not have is refused by name."""
    topic = Entity(kind="topic", name="settled")
    prepare(lab.brokers, {"settled": Topic(partitions=1, config={"retention.ms": 5_000_000})})
    before = lab.live.settings(topic)
    assert before == {"retention.ms": "5000000"}
    life = lab.inject("set_topic_config: {topic: settled, config: {retention.ms: 1000, segment.bytes: 20000}}")
    assert lab.live.log_start("settled", 0) == 0
    assert lab.live.settings(topic) == {"retention.ms": "1000", "segment.bytes": "20000"}
    lab.end(life)
    assert life.took
    assert lab.live.settings(topic) == before
    with pytest.raises(StepError, match=r"topic settled: its settings were not changed: .*retention\.s"):
        lab.inject("set_topic_config: {topic: settled, config: {retention.s: 1}}", "wrong")


def test_a_topic_that_somebody_made_again_is_left_alone(lab: Ground) -> None:
    """It has the name, and is not chaosk's any more."""
    prepare(lab.brokers, {"theirs": Topic(partitions=1)})
    tool = ("/opt/kafka/bin/kafka-topics.sh", "--bootstrap-server", "198.18.0.11:9092", "--topic", "theirs")
    lab.said("node1", *tool, "--delete")
    for _ in range(50):
        if lab.run("node1", *tool, "--create", "--replication-factor", "3").ok:
            break
        time.sleep(0.2)
    for step in (
        "set_topic_config: {topic: theirs, config: {retention.ms: 1}}",
        "create_partitions: {topic: theirs, count: 2}",
    ):
        with pytest.raises(StepError, match="did not take: not seen: theirs is a topic that chaosk made"):
            lab.inject(step, step.partition(":")[0])
    assert lab.live.settings(Entity(kind="topic", name="theirs")) == {}
    assert len(lab.live.partitions("theirs")) == 1


def test_a_broker_gets_back_what_it_had(lab: Ground) -> None:
    """Where something was set before, that; where nothing was, nothing. Somebody's change meanwhile is noticed."""
    change(lab, SECOND, background_threads="7")
    life = lab.inject("set_broker_config: {target: broker 1, config: {background.threads: 9, num.io.threads: 6}}")
    assert lab.live.settings(SECOND) == {"background.threads": "9", "num.io.threads": "6"}
    assert lab.live.settings(Entity(kind="broker", name="0")) == {}
    lab.end(life)
    assert life.took
    assert lab.live.settings(SECOND) == {"background.threads": "7"}
    again = lab.inject("set_broker_config: {target: broker 1, config: {num.io.threads: 6}}", "again")
    change(lab, SECOND, num_io_threads=None, background_threads=None)
    lab.end(again)
    assert not again.took
    assert "did not last" in again.why[0]
    assert lab.live.settings(SECOND) == {}


def test_a_host_puts_back_a_quota_by_itself(lab: Ground) -> None:
    """The lease's own undo, as it is when chaosk has died: the quota is as before, and no other was touched."""
    other = Entity(kind="clients", client="other")
    change(lab, WRITER, producer_byte_rate="5000")
    change(lab, other, producer_byte_rate="7000")
    life = lab.inject("set_quota: {probe: writer, producer_byte_rate: 1KiB, consumer_byte_rate: 2KiB}")
    assert lab.live.settings(WRITER) == {"producer_byte_rate": "1024", "consumer_byte_rate": "2048"}
    lab.heal("node1", life)
    assert lab.live.settings(WRITER) == {"producer_byte_rate": "5000"}
    lab.end(life)
    assert lab.live.settings(WRITER) == {"producer_byte_rate": "5000"}
    assert lab.live.settings(other) == {"producer_byte_rate": "7000"}
    for one in (WRITER, other):
        change(lab, one, producer_byte_rate=None)


def test_partitions_are_added_round_the_brokers(lab: Ground) -> None:
    """Where chaosk would have put them from the start, whole; fewer than there are is refused by the controller."""
    prepare(lab.brokers, {"grown": Topic(partitions=2, replication_factor=2)})
    life = lab.inject("create_partitions: {topic: grown, count: 4}")
    assert life.took
    assert [one.replicas for one in lab.live.partitions("grown")] == [(0, 1), (1, 2), (2, 0), (0, 1)]
    with pytest.raises(StepError, match="topic grown: no partitions were added: INVALID_PARTITIONS"):
        lab.inject("create_partitions: {topic: grown, count: 3}", "fewer")

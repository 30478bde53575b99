"""A close look at the cluster: what is told, and what nobody tells."""

from __future__ import annotations

from typing import cast

from fake_live import FakeLive, state

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.snapshot import Snapshot
from chaosk.cluster.views import ClusterView, PartitionView
from chaosk.core.errors import ClusterError
from chaosk.run import observation
from chaosk.spec.contracts.live import Live
from chaosk.spec.scenario import Scenario


class Cluster:
    """One partition of `orders`, led by broker 0; its leader tells its offsets, or does not."""

    def views(self, topics: object = ()) -> tuple[ClusterView, ...]:
        """What broker 0 says."""
        return (ClusterView(0, 0, (0, 1, 2), racks=False, partitions=self.partitions("orders"), topic_ids={}),)

    def partitions(self, topic: str) -> tuple[PartitionView, ...]:
        """The one."""
        return (PartitionView(topic=topic, partition=0, leader=0, replicas=(0, 1), isr=(0, 1)),)

    def ask(self, broker: int, request: object, within: float | None = None) -> object:
        """Nothing."""
        raise ClusterError("broker 0: no answer within 1 s")


class Mute(FakeLive):
    """A cluster of which some questions stay open."""

    def coordinator(self, group: str) -> int | None:
        """That of one group nobody tells."""
        if group == "silent":
            raise ClusterError("no broker answers")
        return super().coordinator(group)

    def transaction_coordinator(self, transactional_id: str) -> int | None:
        """Nor that of one ``transactional.id``."""
        if transactional_id == "silent":
            raise ClusterError("no broker answers")
        return super().transaction_coordinator(transactional_id)


SCENARIO = Scenario.model_validate({
    "name": "looked at", "hypothesis": "it changes nothing", "covers": ["C1"], "timeline": [],
    "topics": {"orders": {"partitions": 1, "replication_factor": 2}},
    "probes": {
        "reader": {"consume": {"topic": "orders", "group": "readers"}},
        "other": {"consume": {"topic": "orders", "group": "silent"}},
        "writer": {"produce": {"topic": "orders", "transaction": {}}},
        "mute": {"produce": {"topic": "orders", "transaction": {"id": "silent"}}},
    },
})  # fmt: skip


def look(live: FakeLive, cluster: Cluster) -> Snapshot:
    """At a topic, two groups and two transactional ids."""
    return observation.observe(cast("Brokers", cluster), cast("Live", live), SCENARIO)


def test_what_is_told_is_written_down_and_the_rest_left_out() -> None:
    """A leader that does not answer has no log, a group of which nobody tells no coordinator: neither is a failure."""
    live = Mute(
        states=(state(0, 0, (0, 1)),), coordinators={"readers": 2}, transactions={"chaosk-writer": 1},
        made={"topic orders": {"a": "1"}},
    )  # fmt: skip
    found = look(live, Cluster())
    assert (found.controller, [one.topic for one in found.partitions]) == (0, ["orders"])
    assert found.coordinators == {"readers": 2}
    assert found.transaction_coordinators == {"chaosk-writer": 1}
    assert found.settings == {"orders": {"a": "1"}}
    assert found.logs == ()
    assert Snapshot.model_validate_json(found.model_dump_json()) == found


class Split(Cluster):
    """Broker 0 holds itself to be the leader; brokers 1 and 2 name broker 1, at a newer epoch."""

    def views(self, topics: object = ()) -> tuple[ClusterView, ...]:
        """What each of them says."""
        return tuple(
            ClusterView(broker, 1, (1, 2), racks=False, topic_ids={},
                 partitions=(PartitionView(topic="orders", partition=0, leader=leader, leader_epoch=epoch,
                                           replicas=(0, 1, 2), isr=isr),))
            for broker, leader, epoch, isr in ((0, 0, 3, (0, 1, 2)), (1, 1, 4, (1, 2)), (2, 1, 4, (1, 2)))
        )  # fmt: skip


def test_who_says_otherwise_is_written_down() -> None:
    """Two leaders at once are not merged to one: what is believed, and who says what else."""
    found = look(Mute(states=(state(0, 1, (1, 2)),)), Split())
    assert [(one.leader, one.leader_epoch) for one in found.partitions] == [(1, 4)]
    assert [(one.broker, one.leader, one.leader_epoch, one.isr) for one in found.said] == [(0, 0, 3, (0, 1, 2))]
    assert look(Mute(states=(state(0, 0, (0, 1)),)), Cluster()).said == ()

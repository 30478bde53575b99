"""A consumer group from outside: what its coordinator and the leaders answer, and that nobody joins."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.group_state import look
from chaosk.cluster.views import ClusterView, PartitionView
from chaosk.core.errors import ClusterError


@dataclass
class Cluster:
    """Broker 1 coordinates `billing`, which has committed for two partitions that brokers 0 and 1 lead."""

    ends: dict[int, int] = field(default_factory=lambda: {0: 100, 1: 250})
    error: int = 0
    asked: list[str] = field(default_factory=list)
    silent: bool = False

    def views(self, topics: object = ()) -> tuple[ClusterView, ...]:
        """One broker's view."""
        parts = tuple(
            PartitionView(topic="orders", partition=n, leader=n, replicas=(0, 1), isr=(0, 1)) for n in range(2)
        )
        return (ClusterView(0, 0, (0, 1), racks=False, partitions=parts, topic_ids={}),)

    def ask_all(self, request: Any, brokers: object = None) -> dict[int, Any]:
        """The coordinator."""
        if self.silent:
            raise ClusterError("no broker answers")
        self.asked.append(request().name)
        return {0: SimpleNamespace(error_code=0, node_id=1)}

    def ask(self, broker: int, request: Any, within: float | None = None) -> Any:
        """By the request's name."""
        self.asked.append(request.name)
        return getattr(self, f"_{request.name}")(broker, request)

    def _DescribeGroupsRequest(self, broker: int, request: Any) -> Any:  # noqa: N802 - Kafka's name
        assert (broker, request.groups) == (1, ["billing"])
        members = [
            SimpleNamespace(member_id="m1", member_assignment=b"a"),
            SimpleNamespace(member_id="m2", member_assignment=b""),
        ]
        return SimpleNamespace(groups=[SimpleNamespace(error_code=self.error, group_state="Stable", members=members)])

    def _OffsetFetchRequest(self, broker: int, request: Any) -> Any:  # noqa: N802 - as above
        assert request.topics is None
        parts = [SimpleNamespace(error_code=0, partition_index=n, committed_offset=90 - n) for n in range(2)]
        return SimpleNamespace(error_code=0, topics=[SimpleNamespace(name="orders", partitions=parts)])

    def _ListOffsetsRequest(self, broker: int, request: Any) -> Any:  # noqa: N802 - as above
        (topic,) = request.topics
        parts = [
            SimpleNamespace(error_code=0, partition_index=one.partition_index, offset=self.ends[one.partition_index])
            for one in topic.partitions
            if one.partition_index in self.ends
        ]
        return SimpleNamespace(topics=[SimpleNamespace(name="orders", partitions=parts)])


def test_state_members_and_lag() -> None:
    """Lag is high watermarks minus commits, each end asked of its leader; every request only reads."""
    cluster = Cluster()
    found = look(cast("Brokers", cluster), "billing")
    assert (found.state, found.members, found.partitions, found.committed, found.lag) == ("Stable", 2, 2, 179, 171)
    assert found.problem is None
    assert set(cluster.asked) == {
        "FindCoordinatorRequest", "DescribeGroupsRequest", "OffsetFetchRequest", "ListOffsetsRequest",
    }  # fmt: skip


def test_a_leader_that_does_not_tell_leaves_the_lag_open() -> None:
    """Half a sum would look like a group that catches up."""
    found = look(cast("Brokers", Cluster(ends={0: 100})), "billing")
    assert (found.lag, found.committed) == (None, 179)


def test_a_cluster_that_does_not_answer_is_told() -> None:
    """In words, not by an error that ends the looking."""
    refused = look(cast("Brokers", Cluster(error=30)), "billing")
    assert "cannot be described" in (refused.problem or "")

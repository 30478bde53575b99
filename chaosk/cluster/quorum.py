"""The quorum of controllers that keeps a KRaft cluster's metadata, as its leader describes it (DescribeQuorum).

A broker forwards the request to the leader; a controller answers it only if it is the leader itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin.cluster import DescribeQuorumRequest

STALE = 2.0
"""Seconds without a fetch after which a voter is not following: Kafka's default for starting an election."""

_TOPIC = "__cluster_metadata"
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Quorum:
    """The voting controllers at one moment."""

    leader: int
    """Node id of the leader: the active controller."""
    epoch: int
    """Grows with each leader."""
    roles: dict[int, str | None]
    """``leader``, ``follower``, or None for a node that does not fetch from the leader, by node id."""


def quorum_request() -> DescribeQuorumRequest:
    """Return the request for the quorum's state."""
    partition = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name=_TOPIC, partitions=[partition])
    return DescribeQuorumRequest(topics=[topic])


def quorum(answer: Any) -> Quorum | None:  # noqa: ANN401 - kafka-python's answers are made at run time
    """Parse an answer to :func:`quorum_request`; None if it does not come from the leader."""
    partitions = [one for topic in answer.topics for one in topic.partitions]
    if answer.error_code or not partitions or partitions[0].error_code or partitions[0].leader_id < 0:
        return None
    said = partitions[0]
    now = max(one.last_caught_up_timestamp for one in said.current_voters)  # by the leader's own clock
    roles = {one.replica_id: _role(one, said.leader_id, now) for one in said.current_voters}
    return Quorum(said.leader_id, said.leader_epoch, dict(sorted(roles.items())))


def _role(voter: Any, leader: int, now: int) -> str | None:  # noqa: ANN401 - see quorum()
    if voter.replica_id == leader:
        return "leader"
    fetched = voter.last_fetch_timestamp
    return "follower" if fetched != _UNKNOWN and now - fetched <= STALE * 1000 else None

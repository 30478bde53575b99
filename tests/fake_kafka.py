"""A cluster in memory that answers the requests by which topics are made, deleted and claimed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import ClusterView, PartitionView


@dataclass
class FakeTopic:
    """One topic as the cluster holds it."""

    replicas: list[tuple[int, ...]]
    config: dict[str, str] = field(default_factory=dict)
    identity: str = field(default_factory=lambda: str(uuid4()))
    ends: list[int] = field(default_factory=list)
    """End offset by partition; empty for none written."""
    leaderless: bool = False


@dataclass
class FakeKafka:
    """Brokers 0 to 2, of which 0 is the controller."""

    topics: dict[str, FakeTopic] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    """By topic what chaosk's own group committed with its offset."""
    racks: bool = False
    alive: tuple[int, ...] = (0, 1, 2)
    busy: int = 0
    """How many times making a topic is answered with TOPIC_ALREADY_EXISTS."""
    unserved: int | None = None
    """A partition of each topic that its leader knows nothing of."""
    refuses: dict[str, int] = field(default_factory=dict)
    """By topic the error code that making or deleting it is answered with."""
    slow: int = 0
    """How many looks it takes until the brokers know a topic that was made."""
    asked: list[Any] = field(default_factory=list)

    def as_brokers(self) -> Brokers:
        """Itself."""
        return cast("Brokers", self)

    def controller(self) -> int | None:
        """Broker 0."""
        return 0

    def views(self, topics: Sequence[str] | None = ()) -> tuple[ClusterView, ...]:
        """Every broker says the same."""
        self.slow -= 1
        names = sorted(self.topics if topics is None else set(topics) & set(self.topics))
        parts = tuple(part for name in names for part in self._parts(name))
        ids = {name: self.topics[name].identity for name in names}
        return tuple(ClusterView(n, 0, self.alive, self.racks, parts, ids) for n in self.alive)

    def ask_all(self, request: Callable[[], Any], brokers: object = None) -> dict[int, Any]:
        """Broker 0 coordinates every group."""
        return {n: SimpleNamespace(error_code=codes.NONE, node_id=0) for n in self.alive}

    def ask_settings(self, broker: int, request: Any) -> Any:
        """Answer, as any other question."""
        return self.ask(broker, request)

    def ask(self, broker: int, request: Any, within: float | None = None) -> Any:
        """The answer to a request, by its name."""
        self.asked.append(request)
        return getattr(self, f"_{request.name}")(request)

    def _parts(self, name: str) -> list[PartitionView]:
        topic = self.topics[name]
        known = self.slow < 0
        return [
            PartitionView(
                topic=name,
                partition=number,
                leader=-1 if topic.leaderless else ids[0],
                replicas=ids,
                isr=ids if known else ids[:1],
                leader_epoch=0,
            )
            for number, ids in enumerate(topic.replicas)
        ]

    def _CreateTopicsRequest(self, request: Any) -> Any:  # noqa: N802 - the request's name
        self.busy -= 1
        return SimpleNamespace(topics=[self._create(one) for one in request.topics])

    def _create(self, one: Any) -> Any:
        code = codes.TOPIC_ALREADY_EXISTS if self.busy >= 0 else self.refuses.get(one.name, codes.NONE)
        if code == codes.NONE:
            placed = [tuple(each.broker_ids) for each in one.assignments]
            chosen = placed or [tuple(range(one.replication_factor))] * one.num_partitions
            self.topics[one.name] = FakeTopic(chosen, {each.name: each.value for each in one.configs})
        return SimpleNamespace(name=one.name, error_code=code, error_message="because")

    def _DeleteTopicsRequest(self, request: Any) -> Any:  # noqa: N802 - the request's name
        return SimpleNamespace(responses=[self._delete(one.topic_id) for one in request.topics])

    def _delete(self, identity: UUID) -> Any:
        (name,) = [name for name, topic in self.topics.items() if topic.identity == str(identity)]
        code = self.refuses.get(name, codes.NONE)
        if code == codes.NONE:
            del self.topics[name]
            self.notes.pop(name, None)
        return SimpleNamespace(name=name, error_code=code, error_message="because")

    def _DescribeConfigsRequest(self, request: Any) -> Any:  # noqa: N802 - the request's name
        name = request.resources[0].resource_name
        own = [
            SimpleNamespace(name=key, value=value, synonyms=[SimpleNamespace(name=key, value=value, source=1)])
            for key, value in self.topics[name].config.items()
        ]
        default = SimpleNamespace(name="retention.ms", value="604800000", synonyms=[])
        code = self.refuses.get(f"config of {name}", codes.NONE)
        return SimpleNamespace(results=[SimpleNamespace(error_code=code, configs=[*own, default])])

    def _ListOffsetsRequest(self, request: Any) -> Any:  # noqa: N802 - the request's name
        return SimpleNamespace(
            topics=[
                SimpleNamespace(name=topic.name, partitions=[self._offset(topic.name, one) for one in topic.partitions])
                for topic in request.topics
            ]
        )

    def _offset(self, name: str, one: Any) -> Any:
        ends = self.topics[name].ends or [0] * 100
        offset = ends[one.partition_index] if one.timestamp == -1 else 0
        error = 3 if one.partition_index == self.unserved else 0  # UNKNOWN_TOPIC_OR_PARTITION
        return SimpleNamespace(partition_index=one.partition_index, error_code=error, offset=-1 if error else offset)

    def _OffsetFetchRequest(self, request: Any) -> Any:  # noqa: N802 - the request's name
        topics = [
            SimpleNamespace(
                name=one.name,
                partitions=[
                    SimpleNamespace(
                        partition_index=0, committed_offset=0, metadata=self.notes.get(one.name), error_code=0
                    )
                ],
            )
            for one in request.topics
        ]
        return SimpleNamespace(error_code=0, topics=topics)

    def _OffsetCommitRequest(self, request: Any) -> Any:  # noqa: N802 - the request's name
        for one in request.topics:
            self.notes[one.name] = one.partitions[0].committed_metadata
        done = [SimpleNamespace(partition_index=0, error_code=0)]
        return SimpleNamespace(topics=[SimpleNamespace(name=one.name, partitions=done) for one in request.topics])

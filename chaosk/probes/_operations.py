"""The calls of the probe ``call``: each is one request by librdkafka's admin client, and raises its error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from confluent_kafka import OFFSET_INVALID, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # it is documented there

if TYPE_CHECKING:
    from chaosk.probes.call import Call, Operation

_END = OffsetSpec.latest()  # type: ignore[no-untyped-call] # of a typed library
Ask = Callable[[AdminClient], None]
"""Makes one request; raises KafkaException with the answer's first error, UnansweredError for an incomplete answer."""


class UnansweredError(Exception):
    """An incomplete answer that the client considers good."""


def asking(call: Call, partitions: int) -> Ask:
    """Return the call of a probe; ``partitions``: number of partitions of its topic."""
    return lambda client: _OPERATIONS[call.operation](call, client, partitions)


def _metadata(call: Call, client: AdminClient, _partitions: int) -> None:
    topic = {} if call.topic is None else {"topic": call.topic}
    found = client.list_topics(timeout=call.timeout, **topic)
    for one in found.topics.values():
        if one.error is not None:
            raise KafkaException(one.error)


def _end_offsets(call: Call, client: AdminClient, partitions: int) -> None:
    wanted = dict.fromkeys(_places(call, partitions), _END)
    ends = _all(client.list_offsets(wanted, request_timeout=call.timeout))
    # if one leader of several never answered, librdkafka 2.16 gives its partitions this offset, and no error
    if any(end.offset == OFFSET_INVALID for end in ends):
        raise UnansweredError


def _committed_offsets(call: Call, client: AdminClient, partitions: int) -> None:
    asked = ConsumerGroupTopicPartitions(str(call.group), _places(call, partitions))
    for found in _all(client.list_consumer_group_offsets([asked], request_timeout=call.timeout)):
        for one in found.topic_partitions:
            if one.error is not None:
                raise KafkaException(one.error)


def _describe_group(call: Call, client: AdminClient, _partitions: int) -> None:
    _all(client.describe_consumer_groups([str(call.group)], request_timeout=call.timeout))


def _describe_cluster(call: Call, client: AdminClient, _partitions: int) -> None:
    client.describe_cluster(request_timeout=call.timeout).result()


def _places(call: Call, partitions: int) -> list[TopicPartition]:
    return [TopicPartition(str(call.topic), number) for number in range(partitions)]


def _all(futures: Mapping[Any, Future[Any]]) -> list[Any]:
    """Return every answer; raises the first error."""
    return [future.result() for future in futures.values()]


_OPERATIONS: dict[Operation, Callable[[Call, AdminClient, int], None]] = {
    "metadata": _metadata,
    "end_offsets": _end_offsets,
    "committed_offsets": _committed_offsets,
    "describe_group": _describe_group,
    "describe_cluster": _describe_cluster,
}

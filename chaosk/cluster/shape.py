"""The shape of a topic: partitions, replication factor and configuration, wanted and found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka.protocol.admin import DescribeConfigsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import PartitionView
from chaosk.errors import ClusterError
from chaosk.scenario import Scalar, Topic

TOPIC = 2  # DescribeConfigs: resource type
_DYNAMIC_TOPIC = 1  # DescribeConfigs: a value that was set on the topic itself


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration a topic has."""

    values: Mapping[str, str]
    """Every setting in force."""
    own: frozenset[str]
    """Those that were set on the topic itself."""


def config_of(brokers: Brokers, broker: int, topic: str) -> Config:
    """The configuration of a topic, as one broker describes it; raises ClusterError if it does not."""
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=TOPIC, resource_name=topic, configuration_keys=None
    )
    answer = brokers.ask(broker, DescribeConfigsRequest(resources=[resource], version=4)).results[0]
    if answer.error_code != codes.NONE:
        raise ClusterError(f"topic {topic}: its configuration cannot be read: {codes.error_name(answer.error_code)}")
    return Config(
        values={one.name: one.value or "" for one in answer.configs},
        own=frozenset(one.name for one in answer.configs if one.config_source == _DYNAMIC_TOPIC),
    )


def differences(wanted: Topic, found: Sequence[PartitionView], config: Config) -> tuple[str, ...]:
    """How a topic that is there differs from the one a scenario wants, one phrase each; empty if it does not."""
    factors = sorted({len(one.replicas) for one in found})
    told: list[str] = []
    if len(found) != wanted.partitions:
        told.append(f"{len(found)} partitions, not {wanted.partitions}")
    if factors != [wanted.replication_factor]:
        told.append(f"replication factor {', '.join(map(str, factors))}, not {wanted.replication_factor}")
    for name, value in sorted(wanted.config.items()):
        if config.values.get(name) != text(value):
            told.append(f"{name}={config.values.get(name, '')}, not {text(value)}")
    added = (f"{name}={config.values[name]}, which the scenario does not set" for name in config.own)
    return (*told, *sorted(one for one in added if one.partition("=")[0] not in wanted.config))


def text(value: Scalar) -> str:
    """A configuration value as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def placement(topic: Topic, alive: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """By partition its replicas, round robin over the brokers: the same in every run.

    Kafka itself begins at a random broker, so that the leader of partition 0 would be another one each time.
    """
    count = len(alive)
    return {
        number: tuple(alive[(number + replica) % count] for replica in range(topic.replication_factor))
        for number in range(topic.partitions)
    }

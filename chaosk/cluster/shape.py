"""The shape of a topic: partitions, replication factor and configuration, desired and actual."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chaosk.cluster.configs import Config
from chaosk.cluster.views import PartitionView
from chaosk.spec.entity import spelled
from chaosk.spec.scenario import Topic


def differences(wanted: Topic, found: Sequence[PartitionView], config: Config) -> tuple[str, ...]:
    """Return the differences between an existing topic and the desired one, one phrase each."""
    factors = sorted({len(one.replicas) for one in found})
    told: list[str] = []
    if len(found) != wanted.partitions:
        told.append(f"{len(found)} partitions, not {wanted.partitions}")
    if factors != [wanted.replication_factor]:
        told.append(f"replication factor {', '.join(map(str, factors))}, not {wanted.replication_factor}")
    for name, value in sorted(wanted.config.items()):
        if config.values.get(name) != spelled(value):
            told.append(f"{name}={config.values.get(name, '')}, not {spelled(value)}")
    added = (f"{name}={value}, which the scenario does not set" for name, value in config.own.items())
    return (*told, *sorted(one for one in added if one.partition("=")[0] not in wanted.config))


def placement(topic: Topic, alive: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Place replicas round robin over the brokers, by partition: the same in every run.

    Kafka itself starts at a random broker, so that the leader of partition 0 would differ between runs.
    """
    return spread(range(topic.partitions), topic.replication_factor, alive)


def spread(numbers: Iterable[int], replication_factor: int, alive: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Place replicas of the given partition numbers round robin over the brokers."""
    count = len(alive)
    return {
        number: tuple(alive[(number + replica) % count] for replica in range(replication_factor)) for number in numbers
    }

"""Configuration of topics, as brokers describe it, and of each broker, as it describes itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.core.errors import ClusterError

TOPIC = 2  # DescribeConfigs: resource type
BROKER = 4
_OWN = {TOPIC: 1, BROKER: 2}  # DescribeConfigs: the source of a value that was set on the resource itself


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a resource."""

    values: Mapping[str, str]
    """Every setting in force."""
    own: Mapping[str, str] = field(default_factory=dict)
    """The settings on the topic itself, or the dynamic ones on the broker itself."""


def topic_config(brokers: Brokers, broker: int, topic: str) -> Config:
    """Return the configuration of a topic, as one broker describes it; raises ClusterError on failure."""
    return configuration(f"topic {topic}", brokers.ask_settings(broker, _request(TOPIC, topic, None)), TOPIC)


def broker_config(brokers: Brokers, broker: int, names: Iterable[str] | None = None) -> Config:
    """Return all or some settings of a broker, described by itself; raises ClusterError on failure."""
    return configuration(f"broker {broker}", brokers.ask_settings(broker, broker_request(broker, names)))


def topics_request(topics: Iterable[str], names: Iterable[str]) -> DescribeConfigsRequest:
    """Return the request for some settings of some topics."""
    keys = sorted(names)
    resources = [
        DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=TOPIC, resource_name=topic, configuration_keys=keys
        )
        for topic in topics
    ]
    return DescribeConfigsRequest(resources=resources, include_synonyms=False, version=4)


def topic_settings(answer: Any) -> dict[tuple[str, str], str]:  # noqa: ANN401 - kafka-python
    """Return the values in force by topic and setting, without topics that the broker does not describe."""
    return {
        (result.resource_name, one.name): one.value or ""
        for result in answer.results
        if result.error_code == codes.NONE
        for one in result.configs
    }


def broker_request(broker: int, names: Iterable[str] | None = None) -> DescribeConfigsRequest:
    """Return the request for all or some settings of a broker, which only that broker answers."""
    return _request(BROKER, str(broker), None if names is None else sorted(names))


def configuration(what: str, answer: Any, kind: int = BROKER) -> Config:  # noqa: ANN401 - kafka-python
    """Parse the answer about one resource, ``what`` in messages; raises ClusterError if it is refused."""
    result = answer.results[0]
    if result.error_code != codes.NONE:
        raise ClusterError(f"{what}: its configuration cannot be read: {codes.error_name(result.error_code)}")
    return Config(
        values={one.name: one.value or "" for one in result.configs},
        # While a broker takes over a setting, it reports the source of the new value with the old value in force
        # (3.9.2: 115 of 19,371 answers while one was changed 20 times a second); the synonyms have the right one.
        own={
            one.name: each.value or ""
            for one in result.configs
            for each in one.synonyms
            if (each.name, each.source) == (one.name, _OWN[kind])
        },
    )


def _request(kind: int, name: str, keys: list[str] | None) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    return DescribeConfigsRequest(resources=[resource], include_synonyms=True, version=4)

"""Configuration as brokers describe it: of topics, and of each broker by itself."""

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
    """The configuration that something has."""

    values: Mapping[str, str]
    """Every setting in force."""
    own: Mapping[str, str] = field(default_factory=dict)
    """What was set on the topic itself, or on the broker itself while it ran."""


def topic_config(brokers: Brokers, broker: int, topic: str) -> Config:
    """The configuration of a topic, as one broker describes it; raises ClusterError if it does not."""
    return _described(brokers, broker, TOPIC, topic, None)


def broker_config(brokers: Brokers, broker: int, names: Iterable[str] | None = None) -> Config:
    """Settings of a broker, all or some, which it describes itself; raises ClusterError if it does not."""
    return _described(brokers, broker, BROKER, str(broker), None if names is None else sorted(names))


def topics_request(topics: Iterable[str], names: Iterable[str]) -> DescribeConfigsRequest:
    """The question for some settings of some topics."""
    keys = sorted(names)
    resources = [
        DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=TOPIC, resource_name=topic, configuration_keys=keys
        )
        for topic in topics
    ]
    return DescribeConfigsRequest(resources=resources, include_synonyms=False, version=4)


def topic_settings(answer: Any) -> dict[tuple[str, str], str]:  # noqa: ANN401 - kafka-python
    """By topic and setting the value in force; nothing of topics that the broker does not describe."""
    return {
        (result.resource_name, one.name): one.value or ""
        for result in answer.results
        if result.error_code == codes.NONE
        for one in result.configs
    }


def _described(brokers: Brokers, broker: int, kind: int, name: str, keys: list[str] | None) -> Config:
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True, version=4)
    answer = brokers.ask(broker, request).results[0]
    if answer.error_code != codes.NONE:
        what = f"topic {name}" if kind == TOPIC else f"broker {name}"
        raise ClusterError(f"{what}: its configuration cannot be read: {codes.error_name(answer.error_code)}")
    return Config(
        values={one.name: one.value or "" for one in answer.configs},
        # While a broker takes a setting over it tells the source of the new value with the old value in force
        # (3.9.2: 115 of 19,371 answers while one was changed 20 times a second); among the synonyms it has its own.
        own={
            one.name: each.value or ""
            for one in answer.configs
            for each in one.synonyms
            if (each.name, each.source) == (one.name, _OWN[kind])
        },
    )

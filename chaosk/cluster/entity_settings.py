"""Own settings of topics, brokers, clients and rights, read and changed through the cluster."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin import DescribeClientQuotasRequest, IncrementalAlterConfigsRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.configs import TOPIC, Config, broker_config, topic_config
from chaosk.cluster.rights import acls_of
from chaosk.cluster.routed_requests import ask_controller
from chaosk.core.errors import ClusterError, StepError
from chaosk.spec.entity import Entity, Settings, number

_SET, _DELETE = 0, 1  # IncrementalAlterConfigs: operations
_EXACTLY = 0  # DescribeClientQuotas: the entity of this name


def settings_of(brokers: Brokers, entity: Entity) -> dict[str, str]:
    """Return the settings on a topic, a broker or clients by name, without defaults and without those of files.

    A topic is described by the controller (in KRaft by a broker that reaches it), a broker by itself. Raises
    ClusterError without an answer.
    """
    if entity.kind == "clients":
        return _quotas(brokers, entity)
    if entity.kind == "acls":
        return acls_of(brokers, entity)
    found = broker_config(brokers, int(entity.name)) if entity.kind == "broker" else _topic(brokers, entity.name)
    return dict(sorted(found.own.items()))


def configure(brokers: Brokers, settings: Settings) -> None:
    """Set and remove settings of a topic, all or none; removing a missing setting is not a failure.

    Raises StepError if the controller refuses, ClusterError if none answers.
    """

    def request() -> IncrementalAlterConfigsRequest:
        kind = IncrementalAlterConfigsRequest.AlterConfigsResource
        configs = [
            kind.AlterableConfig(name=name, config_operation=_DELETE if value is None else _SET, value=value)
            for name, value in settings.values.items()
        ]
        topic = kind(resource_type=TOPIC, resource_name=settings.of.name, configs=configs)
        return IncrementalAlterConfigsRequest(resources=[topic], validate_only=False, version=1)

    answer = ask_controller(brokers, request, lambda one: [each.error_code for each in one.responses])
    refused = [one for one in answer.responses if one.error_code != codes.NONE]
    if refused:
        raise StepError(f"{settings.of}: its settings were not changed: {codes.reason(refused[0])}")


def _topic(brokers: Brokers, topic: str) -> Config:
    controller = brokers.controller()
    if controller is None:
        raise ClusterError(f"topic {topic}: its settings cannot be read: no broker knows the controller")
    return topic_config(brokers, controller, topic)


def _quotas(brokers: Brokers, entity: Entity) -> dict[str, str]:
    named = {"user": entity.user, "client-id": entity.client}
    asked = {kind: name for kind, name in named.items() if name is not None}

    def request() -> DescribeClientQuotasRequest:
        kind = DescribeClientQuotasRequest.ComponentData
        components = [kind(entity_type=each, match_type=_EXACTLY, match=name) for each, name in asked.items()]
        return DescribeClientQuotasRequest(components=components, strict=True, version=1)

    answer = ask_controller(brokers, request, lambda one: [one.error_code])
    if answer.error_code:
        raise ClusterError(f"{entity}: the quotas cannot be read: {codes.reason(answer)}")
    entries = [one for one in answer.entries or () if _named(one) == asked]
    return {each.key: number(each.value) for one in entries for each in one.values}


def _named(entry: Any) -> dict[str, str | None]:  # noqa: ANN401 - a part of one of kafka-python's answers
    return {one.entity_type: one.entity_name for one in entry.entity}

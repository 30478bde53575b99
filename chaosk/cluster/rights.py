"""Rights: the ACLs of a resource on every broker, and the operations that brokers permit to the probes' login.

Each broker decides by its own copy, so each is asked. There is no answer until they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka.protocol.admin import DescribeAclsRequest, DescribeGroupsRequest
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.coordinator import coordinator
from chaosk.cluster.views import current
from chaosk.cluster.wire import PATIENCE
from chaosk.core.errors import ClusterError
from chaosk.core.parallel import parallel_map
from chaosk.spec.entity import Entity

THERE = "there"
"""The value of an existing ACL, and of a granted right."""

_RESOURCES = {"topic": 2, "group": 3, "transactional_id": 5}
_OPERATIONS = {
    "unknown": 0, "any": 1, "all": 2, "read": 3, "write": 4, "create": 5, "delete": 6, "alter": 7, "describe": 8,
    "cluster_action": 9, "describe_configs": 10, "alter_configs": 11, "idempotent_write": 12, "create_tokens": 13,
    "describe_tokens": 14, "two_phase_commit": 15,
}  # fmt: skip
_PERMISSIONS = {2: "deny", 3: "allow"}
_ANY, _MATCH, _LITERAL = 1, 2, 3
_TRANSACTIONS = 1  # FindCoordinator: key type
_REFUSED = frozenset({codes.TOPIC_AUTHORIZATION_FAILED, codes.GROUP_AUTHORIZATION_FAILED,
                      codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED})  # fmt: skip


def acls_of(brokers: Brokers, entity: Entity) -> dict[str, str]:
    """Return every ACL that applies to a topic, a group or a ``transactional.id``, also by prefix and wildcard.

    The keys are like ``deny write User:ann``, followed by a host or a prefix if there is one. Raises ClusterError
    without an authorizer or an answer, and while brokers have different ACLs.
    """
    kind = _RESOURCES[str(entity.resource)]

    def request() -> DescribeAclsRequest:
        return DescribeAclsRequest(
            resource_type_filter=kind, resource_name_filter=entity.name, pattern_type_filter=_MATCH,
            principal_filter=None, host_filter=None, operation=_ANY, permission_type=_ANY,
        )  # fmt: skip

    return _agreed(entity, brokers, request, _acls)


def rights_of(as_probes: Brokers, brokers: Brokers, entity: Entity) -> dict[str, str]:
    """Return the operations on a resource that every broker permits to the probes' login; for a group its coordinator.

    For a ``transactional.id`` brokers only disclose ``describe``. Raises ClusterError without an answer, and while
    brokers differ.
    """
    name = entity.name
    if entity.resource == "topic":
        return _agreed(entity, as_probes, lambda: _metadata(name), lambda one: _allowed(one.topics[0]))
    if entity.resource == "transactional_id":
        return _agreed(entity, as_probes, lambda: _find(name), _describable)
    at = coordinator(brokers, name)
    if at is None:
        raise ClusterError(f"{entity}: the group has no coordinator at the moment")
    answer = as_probes.ask(at, DescribeGroupsRequest(groups=[name], include_authorized_operations=True, version=5))
    return _allowed(answer.groups[0])


def _agreed(
    entity: Entity, brokers: Brokers, request: Callable[[], ApiMessage], read: Callable[[Any], dict[str, str]]
) -> dict[str, str]:
    alive = sorted({broker for view in current(brokers.views()) for broker in view.alive})
    told = dict(zip(alive, parallel_map(lambda one: read(brokers.ask(one, request(), PATIENCE)), alive), strict=True))
    first = next(iter(told.values()))
    if others := [broker for broker, one in told.items() if one != first]:
        raise ClusterError(f"{entity}: {_listed(others)} and {_listed([next(iter(told))])} have different ones")
    return first


def _acls(answer: Any) -> dict[str, str]:  # noqa: ANN401 - kafka-python's answers
    if answer.error_code == codes.SECURITY_DISABLED:
        raise ClusterError("the brokers have no authorizer (authorizer.class.name), so rights cannot be changed")
    if answer.error_code:
        raise ClusterError(
            f"ACLs cannot be read: {codes.reason(answer)}; the login of chaosk needs Describe on Cluster"
        )
    named = {number: name for name, number in _OPERATIONS.items()}
    return dict(
        sorted(
            (_spelled(each, named.get(each.operation, str(each.operation)), one), THERE)
            for one in answer.resources
            for each in one.acls
        )
    )


def _spelled(acl: Any, operation: str, resource: Any) -> str:  # noqa: ANN401 - kafka-python's answers
    more = "" if acl.host == "*" else f" from {acl.host}"
    if (resource.pattern_type, resource.resource_name == "*") != (_LITERAL, False):
        more += f" on {resource.resource_name} by pattern {resource.pattern_type}"
    return f"{_PERMISSIONS.get(acl.permission_type, 'unknown')} {operation} {acl.principal}{more}"


def _metadata(topic: str) -> MetadataRequest:
    named = [MetadataRequest.MetadataRequestTopic(name=topic)]
    return MetadataRequest(
        topics=named, allow_auto_topic_creation=False, include_topic_authorized_operations=True, version=12
    )


def _find(transactional_id: str) -> FindCoordinatorRequest:
    return FindCoordinatorRequest(key=transactional_id, key_type=_TRANSACTIONS, version=2)


def _allowed(told: Any) -> dict[str, str]:  # noqa: ANN401 - kafka-python's answers
    if told.error_code in _REFUSED:
        return {}
    if told.error_code:
        raise ClusterError(f"rights cannot be read: {codes.error_name(told.error_code)}")
    return {name: THERE for name, number in _OPERATIONS.items() if number in told.authorized_operations}


def _describable(answer: Any) -> dict[str, str]:  # noqa: ANN401 - kafka-python's answers
    return {} if answer.error_code in _REFUSED else {"describe": THERE}


def _listed(brokers: list[int]) -> str:
    return f"{'broker' if len(brokers) == 1 else 'brokers'} {', '.join(map(str, brokers))}"

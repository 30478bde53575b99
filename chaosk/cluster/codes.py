"""Kafka's error codes by their documented names."""

from __future__ import annotations

from typing import Any

from kafka.errors import for_code

NONE = 0
NOT_LEADER_OR_FOLLOWER = 6
REQUEST_TIMED_OUT = 7
COORDINATOR_LOAD_IN_PROGRESS = 14
COORDINATOR_NOT_AVAILABLE = 15
NOT_COORDINATOR = 16
TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30
UNSUPPORTED_SASL_MECHANISM = 33
TOPIC_ALREADY_EXISTS = 36
NOT_CONTROLLER = 41
INVALID_REQUEST = 42
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
SECURITY_DISABLED = 54
OFFSET_NOT_AVAILABLE = 78
ELECTION_NOT_NEEDED = 84
NO_REASSIGNMENT_IN_PROGRESS = 85


def error_name(code: int) -> str:
    """Return the protocol's name of an error code, like ``NOT_CONTROLLER``; for an unknown one, its number."""
    message = getattr(for_code(code), "message", None)  # type: ignore[no-untyped-call]
    return f"error {code}" if message in (None, "UNKNOWN") else str(message)


def reason(one: Any) -> str:  # noqa: ANN401 - a part of one of kafka-python's answers
    """Return the name of an error, with the broker's message, if there is one."""
    name = error_name(one.error_code)
    return f"{name} ({one.error_message})" if one.error_message else name

"""Requests to the controller or to a group's coordinator, both of which may move during the search."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kafka.protocol.api_message import ApiMessage

from chaosk.cluster import codes
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.coordinator import coordinator
from chaosk.cluster.wire import NoAnswer
from chaosk.core.errors import ClusterError

WITHIN = 15.0
"""Seconds for finding the broker and getting an answer."""
_PAUSE = 0.1
_MOVED = frozenset(
    {codes.COORDINATOR_LOAD_IN_PROGRESS, codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR, codes.NOT_CONTROLLER}
)
_NOT_STORED = _MOVED | {codes.REQUEST_TIMED_OUT}
"""A coordinator also says so while the followers of its topic lag; to store the same again is harmless."""


def ask_controller(
    brokers: Brokers, request: Callable[[], ApiMessage], errors: Callable[[Any], list[int]], within: float = WITHIN
) -> Any:  # noqa: ANN401 - kafka-python's answers
    """Return the controller's answer to a request; ``errors`` reads the error codes from an answer.

    Raises ClusterError if no controller answers in time.
    """
    return _ask(brokers, brokers.controller, request, errors, ("controller", within))


def ask_coordinator(
    brokers: Brokers,
    group: str,
    request: Callable[[], ApiMessage],
    errors: Callable[[Any], list[int]],
    within: float = WITHIN,
) -> Any:  # noqa: ANN401 - kafka-python's answers
    """Return the answer of a group's coordinator; see :func:`ask_controller`. The request may be sent several times."""
    role = (f"coordinator of {group}", within)
    return _ask(brokers, lambda: coordinator(brokers, group), request, errors, role, _NOT_STORED)


def _ask(
    brokers: Brokers,
    find: Callable[[], int | None],
    request: Callable[[], ApiMessage],
    errors: Callable[[Any], list[int]],
    role: tuple[str, float],
    again: frozenset[int] = _MOVED,
) -> Any:  # noqa: ANN401 - kafka-python's answers
    name, within = role
    end = time.monotonic() + within
    seen = "none was found"
    while (left := end - time.monotonic()) > 0:
        broker = find()
        if broker is not None:
            try:
                answer = brokers.ask(broker, request(), within=left)
            except NoAnswer as error:
                seen = str(error)
            else:
                moved = [code for code in errors(answer) if code in again]
                if not moved:
                    return answer
                seen = f"broker {broker} answered {codes.error_name(moved[0])}"
        time.sleep(_PAUSE)
    raise ClusterError(f"no {name} answers within {within:g} s: {seen}")

"""Reachability of advertised listeners: clients must reach the address, and find the broker that the inventory names.

The advertised address depends on the listener that is asked, so every broker is asked at each client listener.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest

from chaosk.cluster import codes
from chaosk.cluster.configs import BROKER
from chaosk.cluster.endpoints import client_places
from chaosk.cluster.views import metadata_request, view
from chaosk.cluster.wire import TIMEOUT, BrokerConnection, Endpoint, NoAnswer
from chaosk.core.parallel import parallel_map
from chaosk.spec.inventory import Inventory


@dataclass(frozen=True, slots=True)
class Advertised:
    """One listener of one broker, as seen from this machine."""

    broker: int
    listener: str
    """Its name in the inventory."""
    says: tuple[str, int] | None
    """The advertised host and port; None if the broker does not answer at the inventory's address."""
    why_not: str | None
    """The problem; None if there is none."""
    todo: str | None = None
    """The remedy, if known."""
    is_broker: int | None = None
    """Id of the broker that answers there, if it is a different one."""


def advertised(inventory: Inventory, settings: Mapping[str, Any], timeout: float = TIMEOUT) -> tuple[Advertised, ...]:
    """Check every client listener of every broker; ``timeout``: seconds for each.

    Raises PreflightError if chaosk cannot connect with ``settings`` (librdkafka's, secrets resolved).
    """
    places = [
        (place, number, name)
        for number in sorted(inventory.brokers)
        for name, place in client_places(inventory, number, settings).items()
    ]
    return tuple(parallel_map(lambda one: _look(*one, timeout), places))


def _look(place: Endpoint, broker: int, listener: str, timeout: float) -> Advertised:
    """Ask a broker for its advertised address, and connect to it."""
    try:
        says, other = _says(place, broker, timeout)
    except NoAnswer as error:
        return Advertised(broker, listener, None, str(error).removeprefix(f"{place}: "), error.todo)
    why_not = todo = None
    if says != (place.address, place.port):
        try:
            socket.getaddrinfo(*says, type=socket.SOCK_STREAM)
            _says(replace(place, address=says[0], port=says[1]), broker, timeout)
        except (OSError, UnicodeError):
            why_not = f"this machine cannot resolve the name {says[0]}"
        except NoAnswer as error:
            why_not, todo = str(error).partition("): ")[2], error.todo
    return Advertised(broker, listener, says, why_not, todo, other)


def _says(place: Endpoint, broker: int, timeout: float) -> tuple[tuple[str, int], int | None]:
    """Return the broker's advertised address, and the id of the answering broker if it is a different one.

    Raises NoAnswer if the answering broker does not consider this broker alive.
    """
    with BrokerConnection(place, timeout) as link:
        seen = view(broker, link.ask(metadata_request(()))[0])
        other = _calls_itself(link, broker)
    if broker not in seen.advertised:
        raise NoAnswer(f"{place}: it is not alive to the cluster")
    says = seen.advertised[broker]
    if other is None and says != (place.address, place.port):
        other = next((one for one, at in seen.advertised.items() if at == (place.address, place.port)), None)
    return says, other if other != broker else None


def _calls_itself(link: BrokerConnection, broker: int) -> int | None:
    """Return the id of the answering broker from its own answer; None if it does not disclose it (for lack of rights).

    A broker describes its own settings and refuses those of any other, with its own id in the reason.
    """
    of = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(broker), configuration_keys=["broker.id"]
    )
    try:
        answer = link.ask(DescribeConfigsRequest(resources=[of], version=4))[0].results[0]
    except NoAnswer:
        return None
    if answer.error_code == codes.NONE:
        return broker
    told = _OWN_ID.search(answer.error_message or "") if answer.error_code == codes.INVALID_REQUEST else None
    return int(told[1]) if told else None


_OWN_ID = re.compile(r"expected (\d+)")
"""The error for another broker's settings: Unexpected broker id, expected 1 or empty string, but received 0."""

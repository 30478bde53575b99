"""Whether clients can come to where brokers tell them to: bootstrap works without it, and nothing after.

What a broker advertises depends on the listener that it is asked at, so each is asked at each listener for clients.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chaosk.cluster.places import client_places
from chaosk.cluster.views import metadata_request, view
from chaosk.cluster.wire import TIMEOUT, Link, NoAnswer, Place
from chaosk.inventory import Inventory
from chaosk.together import together


@dataclass(frozen=True, slots=True)
class Advertised:
    """One listener of one broker, as seen from this machine."""

    broker: int
    listener: str
    """Its name in the inventory."""
    says: tuple[str, int] | None
    """The host and port that it tells clients to come to; None if it does not answer where the inventory says."""
    why_not: str | None
    """What goes wrong there; None if all is well."""
    todo: str | None = None
    """What to do about it, where that follows."""


def advertised(inventory: Inventory, settings: Mapping[str, Any], timeout: float = TIMEOUT) -> tuple[Advertised, ...]:
    """Every listener for clients, of every broker; ``timeout``: seconds that one may take.

    Raises PreflightError where chaosk cannot connect as ``settings`` (librdkafka's, secrets resolved) say.
    """
    places = [
        (place, number, name)
        for number in sorted(inventory.brokers)
        for name, place in client_places(inventory, number, settings).items()
    ]
    return tuple(together(lambda one: _look(*one, timeout), places))


def _look(place: Place, broker: int, listener: str, timeout: float) -> Advertised:
    """Ask a broker where it wants to be called, and call it there."""
    try:
        says = _says(place, broker, timeout)
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
    return Advertised(broker, listener, says, why_not, todo)


def _says(place: Place, broker: int, timeout: float) -> tuple[str, int]:
    """Where the broker that answers there tells clients to come to; raises NoAnswer if it is another one."""
    with Link(place, timeout) as link:
        seen = view(broker, link.ask(metadata_request(()))[0])
    if broker not in seen.advertised:
        raise NoAnswer(f"{place}: it is not alive to the cluster")
    return seen.advertised[broker]

"""Whether clients can come to where brokers tell them to: bootstrap works without it, and nothing after.

What a broker advertises depends on the listener that it is asked at, so each is asked at each listener for clients.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

from chaosk.cluster.views import metadata_request, view
from chaosk.cluster.wire import TIMEOUT, Link, NoAnswer, Place
from chaosk.errors import ClusterError
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


def advertised(inventory: Inventory, timeout: float = TIMEOUT) -> tuple[Advertised, ...]:
    """Every listener for clients, of every broker; ``timeout``: seconds that one may take."""
    places = [
        (Place(f"broker {number}", at.address, at.port), number, name)
        for number, broker in sorted(inventory.brokers.items())
        for name, at in broker.listeners.items()
        if at.clients
    ]
    return tuple(together(lambda one: _look(*one, timeout), places))


def _look(place: Place, broker: int, listener: str, timeout: float) -> Advertised:
    """Ask a broker where it wants to be called, and call it there."""
    try:
        says = _says(place, broker, timeout)
    except ClusterError as error:
        return Advertised(broker, listener, None, str(error).removeprefix(f"{place}: "))
    why_not = None
    if says != (place.address, place.port):
        try:
            socket.getaddrinfo(*says, type=socket.SOCK_STREAM)
            _says(Place(place.who, *says), broker, timeout)
        except (OSError, UnicodeError):
            why_not = f"this machine cannot resolve the name {says[0]}"
        except ClusterError as error:
            why_not = str(error).partition("): ")[2]
    return Advertised(broker, listener, says, why_not)


def _says(place: Place, broker: int, timeout: float) -> tuple[str, int]:
    """Where the broker that answers there tells clients to come to; raises ClusterError if it is another one."""
    with Link(place, timeout) as link:
        seen = view(broker, link.ask(metadata_request(()))[0])
    if broker not in seen.advertised:
        raise NoAnswer(f"{place}: it is not alive to the cluster")
    return seen.advertised[broker]

"""A listener of a broker accepts connections from chaosk's machine."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import ClassVar

from chaosk.core.errors import ClusterError, UsageError
from chaosk.spec.contracts.condition import Answer, Condition
from chaosk.spec.contracts.live import Live
from chaosk.spec.inventory import Inventory

_WITHIN = 1.0
"""Seconds for a connection: a lost first packet is sent again after one."""


class ListenerUp(Condition):
    """A connection from the probes' machine to one listener of a broker is established, as a client's would be.

    No request is sent: a broker that is paused, or that no other broker knows, accepts connections as well.
    """

    spelling: ClassVar[str] = "listener_up(ID, LISTENER)"
    example: ClassVar[str] = "listener_up(2, PLAINTEXT)"

    id: int
    """Broker id."""
    listener: str
    """Its name in the inventory."""

    def ask(self, live: Live, inventory: Inventory) -> Answer:
        """Try once; raises ClusterError if the name of the listener's host does not resolve."""
        broker = inventory.brokers.get(self.id)
        at = broker.listeners.get(self.listener) if broker is not None else None
        if at is None:
            raise UsageError(f"listener_up({self.id}, {self.listener}): the inventory has no such listener")
        found = live.addresses(at.address)
        if not found:
            raise ClusterError(f"{at.address} leads nowhere")
        where = f"{self.listener} of broker {self.id} at {at.address}:{at.port}"
        try:
            with closing(socket.create_connection((found[0], at.port), _WITHIN)):
                return Answer(holds=True, seen=f"{where} is connected to")
        except socket.gaierror as error:
            raise ClusterError(f"{at.address} cannot be looked up: {error.strerror}") from error
        except OSError as error:
            return Answer(holds=False, seen=f"{where}: {error.strerror or error}")

"""The certificate that a broker presents at a listener, with any issuer."""

from __future__ import annotations

import base64
import socket
import ssl

from chaosk.cluster.wire import TIMEOUT
from chaosk.core.errors import ClusterError
from chaosk.hosts.certificate import fingerprint
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory, Listener

HANDSHAKES = 16
"""Each network thread of a broker takes over a new certificate separately, and threads take turns: twice eight of
them."""


def certificate_of(inventory: Inventory, entity: Entity, timeout: float = 5 * TIMEOUT) -> dict[str, str]:
    """Return ``sha256``, the fingerprint, and ``certificate``, DER in base64, from a handshake without verification.

    Raises ClusterError for an unknown listener, after a failed handshake, and while the broker presents alternating
    certificates: taking over a new one takes it some seconds.
    """
    place = inventory.brokers[int(entity.name)].listeners.get(str(entity.listener))
    if place is None:
        raise ClusterError(f"{entity}: the inventory has no such listener")
    first, *others = (_shown(entity, place, timeout) for _ in range(HANDSHAKES))
    if any(one != first for one in others):
        raise ClusterError(f"{entity}: it shows several at the moment")
    return {"sha256": fingerprint(first), "certificate": base64.b64encode(first).decode("ascii")}


def _shown(entity: Entity, place: Listener, timeout: float) -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((place.address, place.port), timeout) as plain,
            context.wrap_socket(plain, server_hostname=place.address) as opened,
        ):
            shown = opened.getpeercert(binary_form=True)
    except OSError as error:
        raise ClusterError(f"{entity}: no TLS handshake with {place.address}:{place.port}: {error}") from error
    if shown is None:
        raise ClusterError(f"{entity}: {place.address}:{place.port} shows none")
    return shown

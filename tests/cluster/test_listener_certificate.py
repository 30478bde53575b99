"""The certificate that a listener shows, whoever signed it."""

from __future__ import annotations

import base64
import socket
from itertools import cycle
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from fake_servers import server, unused_port
from fake_tls import serving
from sample_inventory import on_hosts

from chaosk.cluster.listener_certificate import HANDSHAKES, certificate_of
from chaosk.core.errors import ClusterError
from chaosk.hosts.certificate import fingerprint
from chaosk.lab import certificates
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory, Listener

CLIENT = Entity(kind="certificate", name="0", listener="CLIENT")


def at(address: str, port: int) -> Inventory:
    """One broker, that answers clients there."""
    plain = on_hosts(address)
    listeners = {"CLIENT": Listener(address=address, port=port)}
    return plain.model_copy(update={"brokers": {0: plain.brokers[0].model_copy(update={"listeners": listeners})}})


def shown(folder: Path, *pairs: certificates.Pair) -> dict[str, str]:
    """What is told of a server that shows these in turn."""
    turns = cycle([serving(folder, pair) for pair in pairs])

    def shake_hands(connection: socket.socket) -> None:
        with next(turns).wrap_socket(connection, server_side=True) as opened:
            opened.recv(1)

    with server(shake_hands) as place:
        return certificate_of(at(place.address, place.port), CLIENT)


def test_one_that_nobody_trusts_is_told(tmp_path: Path) -> None:
    """As its fingerprint, and whole."""
    pair = certificates.issue(certificates.authority("nobody"), "elsewhere.example.com")
    der = x509.load_pem_x509_certificate(pair.certificate.encode()).public_bytes(Encoding.DER)
    assert shown(tmp_path, pair) == {"sha256": fingerprint(der), "certificate": base64.b64encode(der).decode()}


def test_one_of_several_threads_is_not_the_listener(tmp_path: Path) -> None:
    """While some threads of a broker show the former one nothing is told, be it one handshake of many."""
    by = certificates.authority("a lab")
    old, new = certificates.issue(by, "a.example.com"), certificates.issue(by, "a.example.com")
    with pytest.raises(ClusterError, match="certificate of broker 0 at CLIENT: it shows several at the moment"):
        shown(tmp_path, *[old] * (HANDSHAKES - 1), new)


def test_who_shows_none_is_said() -> None:
    """Nobody answers; or there is no such listener."""
    with pytest.raises(ClusterError, match=r"no TLS handshake with 127\.0\.0\.1"):
        certificate_of(at("127.0.0.1", unused_port()), CLIENT)
    with pytest.raises(ClusterError, match="no such listener"):
        certificate_of(at("127.0.0.1", 1), CLIENT.model_copy(update={"listener": "OTHER"}))

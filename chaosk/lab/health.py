"""Whether hosts and services of a lab do their work: asked of them, not of our own notes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from typing import TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from chaosk.lab import namespace
from chaosk.lab.service import Service
from chaosk.together import together

T = TypeVar("T")
_TIMEOUT = 1.5
"""Seconds a server may take to answer."""
_CONNECT = 0.3
"""Seconds a kernel on the same bridge may take; short, since a packet sent before the host is there is lost."""
SSH_PORT = 22


def ssh_answers(address: str) -> bool:
    """Whether an SSH server greets at ``address``."""
    return _exchange(address, SSH_PORT, b"").startswith(b"SSH-2.0-")


def zookeeper_role(address: str, port: int) -> str | None:
    """``leader``, ``follower`` or ``standalone``, from the four-letter word ``srvr``; None if it serves nobody."""
    for line in _exchange(address, port, b"srvr").decode("ascii", "replace").splitlines():
        if line.startswith("Mode: "):
            return line.removeprefix("Mode: ").strip()
    return None


def brokers_seen(address: str, port: int) -> frozenset[int]:
    """The ids of the live brokers as this broker knows them; empty when it does not answer."""
    try:
        socket.create_connection((address, port), _CONNECT).close()
        client = AdminClient({"bootstrap.servers": f"{address}:{port}", "log_level": 0, "socket.timeout.ms": 1500})
        return frozenset(client.list_topics(timeout=_TIMEOUT).brokers)
    except (OSError, KafkaException):
        return frozenset()


def service_state(service: Service, brokers: frozenset[int]) -> str | None:
    """What a service that works says of itself; None for one that does not: a broker must know all ``brokers``."""
    if service.role == "zookeeper":
        return zookeeper_role(service.address, service.port)
    return "in the cluster" if brokers_seen(service.address, service.port) >= brokers else None


def in_lab(name: str, questions: Iterable[Callable[[], T]]) -> list[T]:
    """The answers to ``questions``, asked at the same time from inside the network namespace ``name``."""
    return namespace.inside(name, lambda: together(lambda question: question(), questions))


def _exchange(address: str, port: int, request: bytes) -> bytes:
    """The first bytes (all of them, after a request) that a server answers with; none if it does not."""
    answer = b""
    try:
        with socket.create_connection((address, port), _CONNECT) as connection:
            connection.settimeout(_TIMEOUT)
            connection.sendall(request)
            while chunk := connection.recv(4096):
                answer += chunk
                if not request:
                    break
    except OSError:
        return answer
    return answer

"""Health of a lab's hosts and services, by asking them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from chaosk.cluster.quorum import Quorum, quorum, quorum_request
from chaosk.cluster.wire import BrokerConnection, Endpoint, NoAnswer
from chaosk.core.parallel import parallel_map
from chaosk.lab import namespace
from chaosk.lab.service import Service

T = TypeVar("T")
_TIMEOUT = 1.5
"""Time-out in seconds for an answer of a server."""
_CONNECT = 0.3
"""Time-out in seconds for a connection on the same bridge; short, since packets to a host that is not up are lost."""
SSH_PORT = 22


def ssh_answers(address: str) -> bool:
    """Return whether an SSH server answers at ``address``."""
    return _exchange(address, SSH_PORT, b"").startswith(b"SSH-2.0-")


def zookeeper_role(address: str, port: int) -> str | None:
    """Return ``leader``, ``follower`` or ``standalone`` from the command ``srvr``; None if it does not serve."""
    for line in _exchange(address, port, b"srvr").decode("ascii", "replace").splitlines():
        if line.startswith("Mode: "):
            return line.removeprefix("Mode: ").strip()
    return None


def brokers_seen(address: str, port: int) -> frozenset[int]:
    """Return the ids of the live brokers in this broker's metadata; empty if it does not answer."""
    try:
        socket.create_connection((address, port), _CONNECT).close()
        client = AdminClient({"bootstrap.servers": f"{address}:{port}", "log_level": 0, "socket.timeout.ms": 1500})
        return frozenset(client.list_topics(timeout=_TIMEOUT).brokers)
    except (OSError, KafkaException):
        return frozenset()


def controller_role(number: int, controllers: Iterable[Endpoint]) -> str | None:
    """Return a controller's role in the quorum, ``leader`` or ``follower``; None if it is not a member.

    All ``controllers`` are asked; the first answer that has it counts.
    """
    return next((said.roles.get(number) for said in parallel_map(_describe, controllers) if said is not None), None)


def _describe(place: Endpoint) -> Quorum | None:
    with BrokerConnection(place, _TIMEOUT) as link:
        try:
            return quorum(link.ask(quorum_request())[0])
        except NoAnswer:
            return None


def service_state(service: Service, brokers: frozenset[int], controllers: Mapping[int, Endpoint]) -> str | None:
    """Return the state that a working service reports; None if it does not work.

    A broker works if it lists all ``brokers``. A node of ``controllers`` also has to be a member of their quorum.
    """
    if service.role == "zookeeper":
        return zookeeper_role(service.address, service.port)
    if service.role == "broker" and not brokers_seen(service.address, service.port) >= brokers:
        return None
    if service.number not in controllers:
        return "in the cluster"
    role = controller_role(service.number, controllers.values())
    return role if role is None or service.role == "controller" else f"in the cluster, controller: {role}"


def in_lab(name: str, questions: Iterable[Callable[[], T]]) -> list[T]:
    """Return the answers to ``questions``, asked in parallel from inside the network namespace ``name``."""
    return namespace.inside(name, lambda: parallel_map(lambda question: question(), questions))


def _exchange(address: str, port: int, request: bytes) -> bytes:
    """Return a server's answer: all of it after a request, otherwise its first bytes; empty without an answer."""
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

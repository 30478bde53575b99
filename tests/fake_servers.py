"""Servers on loopback that misbehave, and librdkafka's own mock cluster, for tests of what talks to brokers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confluent_kafka import Producer

from chaosk.cluster.wire import Endpoint

Behaviour = Callable[[socket.socket], None]


@contextmanager
def server(behaviour: Behaviour) -> Iterator[Endpoint]:
    """A server that does as told with each connection; yields where it is."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connections: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                connections.append(connection)
                threading.Thread(target=_quietly, args=(behaviour, connection), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield Endpoint("broker 7", "127.0.0.1", listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)
        for connection in connections:
            connection.close()


def _quietly(behaviour: Behaviour, connection: socket.socket) -> None:
    try:
        behaviour(connection)
    except OSError:
        return


def silent(connection: socket.socket) -> None:
    """Accept and never answer, as a frozen process does."""
    while connection.recv(4096):
        pass


def closing(connection: socket.socket) -> None:
    """Close after the first words."""
    connection.recv(4096)
    connection.close()


def babbling(connection: socket.socket) -> None:
    """Answer with what is no Kafka answer."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def answering(words: bytes) -> Behaviour:
    """Answer with these words and close."""

    def behave(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(words)
        connection.close()

    return behave


def holding(behind: Endpoint, released: threading.Event, asked: list[bytes]) -> Behaviour:
    """Pass requests to the server behind, and note them; of the answers only the first, until ``released``."""

    def behave(connection: socket.socket) -> None:
        with socket.create_connection((behind.address, behind.port)) as server, connection:

            def answers() -> None:
                for number, answer in enumerate(_frames(server)):
                    if number:
                        released.wait(60)
                    connection.sendall(answer)

            back = threading.Thread(target=_quietly, args=(lambda _: answers(), connection), daemon=True)
            back.start()
            for request in _frames(connection):
                asked.append(request)
                server.sendall(request)

    return behave


def _frames(connection: socket.socket) -> Iterator[bytes]:
    """Each message of Kafka's protocol, with its length before it."""
    with connection.makefile("rb") as stream:
        while length := stream.read(4):
            yield length + stream.read(int.from_bytes(length, "big"))


def unused_port() -> int:
    """A port of loopback where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def mock_cluster(brokers: int = 3) -> Iterator[tuple[Producer, dict[int, Endpoint]]]:
    """librdkafka's mock cluster: its producer, and where each broker (ids from 1) answers."""  # noqa: D403 - a name
    producer = Producer({"bootstrap.servers": "127.0.0.1:1", "test.mock.num.brokers": brokers, "log_level": 0})
    found = producer.list_topics(timeout=10).brokers.values()
    yield producer, {one.id: Endpoint(f"broker {one.id}", one.host, one.port) for one in found}
    producer.flush(5)

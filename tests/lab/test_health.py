"""Whether servers work, asked of servers: here small ones on loopback, in the tests of build real ones."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chaosk.cluster.wire import Endpoint
from chaosk.lab import broker, health
from chaosk.lab.kraft_mode import KRaftMode
from chaosk.lab.seating import Seat
from chaosk.lab.zookeeper_mode import ZooKeeperMode


@contextmanager
def server(greeting: bytes, answer: bytes = b"") -> Iterator[int]:
    """A server on loopback that says ``greeting``, reads four bytes, says ``answer`` and hangs up; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as connection:
                connection.sendall(greeting)
                if answer:
                    connection.recv(4)
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


@contextmanager
def silence() -> Iterator[int]:
    """A port where connections are accepted by the kernel and nobody ever answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize(("greeting", "expected"), [(b"SSH-2.0-OpenSSH_9.2\r\n", True), (b"HTTP/1.1 200\r\n", False)])
def test_ssh_is_known_by_its_greeting(monkeypatch: pytest.MonkeyPatch, greeting: bytes, expected: bool) -> None:  # noqa: FBT001
    """An open port is not enough: the SSH server has to speak."""
    with server(greeting) as port:
        monkeypatch.setattr(health, "SSH_PORT", port)
        assert health.ssh_answers("127.0.0.1") is expected


@pytest.mark.parametrize("mode", ["leader", "follower", "standalone"])
def test_zookeeper_says_its_role(mode: str) -> None:
    """The role is what ``srvr`` reports."""
    with server(b"", f"Zookeeper version: 3.8.4\nLatency min/avg/max: 0/0.0/0\nMode: {mode}\n".encode()) as port:
        assert health.zookeeper_role("127.0.0.1", port) == mode


def test_zookeeper_without_quorum_has_no_role() -> None:
    """A node that runs but serves nobody is not healthy."""
    with server(b"", b"This ZooKeeper instance is not currently serving requests\n") as port:
        assert health.zookeeper_role("127.0.0.1", port) is None


def test_nobody_there() -> None:
    """A closed port is an answer, at once."""
    started = time.monotonic()
    port = closed_port()
    assert health.zookeeper_role("127.0.0.1", port) is None
    assert health.brokers_seen("127.0.0.1", port) == frozenset()
    assert time.monotonic() - started < 3


def test_a_hung_server_costs_little() -> None:
    """A process that is stopped still has an open port: no question waits for it for long."""
    started = time.monotonic()
    with silence() as port:
        assert health.zookeeper_role("127.0.0.1", port) is None
        assert health.brokers_seen("127.0.0.1", port) == frozenset()
    assert time.monotonic() - started < 8


def test_a_broker_must_know_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that answers but misses another one is not ready."""
    one = broker.service(Seat("node1", "127.0.0.1", 0), 0)
    monkeypatch.setattr(health, "brokers_seen", lambda *_at: frozenset({0, 1}))
    assert health.service_state(one, frozenset({0, 1}), {}) == "in the cluster"
    assert health.service_state(one, frozenset({0, 1, 2}), {}) is None


def test_the_question_follows_the_role() -> None:
    """A ZooKeeper node is asked as one: nobody at its port is no state."""
    assert health.service_state(ZooKeeperMode().keeper("node1", "127.0.0.254", 1), frozenset({0}), {}) is None


def test_a_controller_has_to_take_part_in_the_quorum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody at its port is no state, of a controller alone and of a broker that is one as well."""
    nobody = Endpoint("controller 0", "127.0.0.1", closed_port())
    assert health.service_state(KRaftMode().keeper("node1", "127.0.0.1", 101), frozenset(), {101: nobody}) is None
    monkeypatch.setattr(health, "brokers_seen", lambda *_at: frozenset({0}))
    one = broker.service(Seat("node1", "127.0.0.1", 0), 0)
    assert health.service_state(one, frozenset({0}), {0: nobody}) is None
    assert health.service_state(one, frozenset({0}), {101: nobody}) == "in the cluster"

"""Which hosts are the machine that chaosk runs on, in any spelling."""

from __future__ import annotations

import socket

import pytest
from sample_inventory import on_hosts

from chaosk.planning.localhost import here, is_own, surely_here


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "0.0.0.0", "localhost"],  # noqa: S104 - a spelling
)
def test_this_machine_in_any_spelling(address: str) -> None:
    """IPv4, IPv6, IPv4 written as IPv6, a name that says it: with no look at the network, and with one."""
    cluster = on_hosts("198.51.100.7", address)
    assert surely_here(cluster) == {"node2"}
    assert here(cluster) == {"node2"}


@pytest.mark.parametrize("address", ["198.51.100.7", "2001:db8::7", "::ffff:198.51.100.7", "128.0.0.1"])
def test_other_machines(address: str) -> None:
    """Documentation's addresses are nobody's here."""
    assert here(on_hosts(address)) == frozenset()
    assert not is_own(address)


def test_a_name_that_resolves_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name says nothing; what it resolves to does. A name that nobody knows is somebody else."""

    def resolve(name: str, port: None) -> list[tuple[object, ...]]:
        if name == "kafka1.example":
            return [(0, 0, 0, "", ("198.51.100.7", 0)), (0, 0, 0, "", ("::ffff:127.0.0.1", 0, 0, 0))]
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert here(on_hosts("kafka1.example", "kafka2.example")) == {"node1"}


def test_looking_at_the_words_alone_opens_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `chaosk plan` asks, before anything is contacted."""

    def forbid(*args: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", forbid)
    monkeypatch.setattr(socket, "getaddrinfo", forbid)
    assert surely_here(on_hosts("127.0.0.1", "kafka1.example")) == {"node1"}

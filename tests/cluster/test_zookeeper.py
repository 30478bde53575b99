"""The role of a ZooKeeper node, and why there is none: from real answers, and from servers that misbehave."""

from __future__ import annotations

import time

import pytest
from fake_servers import answering, server, silent, unused_port

from chaosk.cluster.wire import Endpoint, NoAnswer
from chaosk.cluster.zookeeper import ask_mode, parse_mode

NODE = Endpoint("ZooKeeper 1", "198.18.0.11", 2181)
SRVR = """Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC
Latency min/avg/max: 0/0.8235/9
Received: 89
Sent: 88
Connections: 2
Outstanding: 0
Zxid: 0x100000034
Mode: {}
Node count: 31
"""
"""As ZooKeeper 3.8.4 answers."""


@pytest.mark.parametrize("mode", ["leader", "follower", "observer", "standalone"])
def test_reads_the_mode(mode: str) -> None:
    """Each mode that a node can have is read from its answer."""
    assert parse_mode(NODE, SRVR.format(mode)) == mode


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("This ZooKeeper instance is not currently serving requests\n", "serves no requests: This ZooKeeper instance"),
        ("srvr is not executed because it is not in the whitelist.\n", "add it to 4lw.commands.whitelist"),
        ("", "closed without an answer"),
        ("HTTP/1.1 400 Bad Request\r\n", "serves no requests: HTTP"),
        ("xMode: leader\n", "serves no requests"),
    ],
)
def test_says_why_there_is_none(answer: str, words: str) -> None:
    """A node that names no mode does not serve, and the reason is told with the node."""
    with pytest.raises(NoAnswer, match=words) as caught:
        parse_mode(NODE, answer)
    assert str(caught.value).startswith("ZooKeeper 1 (198.18.0.11:2181): ")


def test_asks_over_tcp() -> None:
    """The question goes over the wire, and the answer is read until the node closes."""
    with server(answering(SRVR.format("leader").encode())) as place:
        assert ask_mode(place) == "leader"


def test_a_frozen_node_costs_its_time_and_no_more() -> None:
    """A node that accepts and never answers is given up in time."""
    with server(silent) as place:
        began = time.monotonic()
        with pytest.raises(NoAnswer, match=r"no answer within 0\.2 s"):
            ask_mode(place, 0.2)
        assert time.monotonic() - began < 10


def test_a_node_that_drips_is_given_up_too() -> None:
    """The time counts for the whole answer, not for each byte of it."""

    def drip(connection: object) -> None:
        while True:
            connection.sendall(b"Zookeeper version: \n")  # type: ignore[attr-defined]
            time.sleep(0.05)

    with server(drip) as place:
        began = time.monotonic()
        with pytest.raises(NoAnswer, match="no answer within"):
            ask_mode(place, 0.3)
        assert time.monotonic() - began < 10


def test_a_dead_node_refuses() -> None:
    """A node whose process is gone refuses at once."""
    with pytest.raises(NoAnswer, match="connection refused"):
        ask_mode(Endpoint("ZooKeeper 1", "127.0.0.1", unused_port()))

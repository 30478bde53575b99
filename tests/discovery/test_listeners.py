"""Kafka's lists of listeners, voters and ZooKeeper nodes."""

from __future__ import annotations

import pytest

from chaosk.discovery.listeners import ListenerAddress, keepers_in, listeners_in, protocol_of, voters_in

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "listeners"),
    [
        ("PLAINTEXT://:9092", [ListenerAddress("PLAINTEXT", "", 9092)]),
        ("A://0.0.0.0:1, B://[::]:2", [ListenerAddress("A", "", 1), ListenerAddress("B", "", 2)]),
        ("A://[2001:db8::1]:9092", [ListenerAddress("A", "2001:db8::1", 9092)]),
        ("SASL_SSL://b1.example.net:9093", [ListenerAddress("SASL_SSL", "b1.example.net", 9093)]),
        ("", []),
        ("nonsense,A://b1", []),
    ],
)
def test_listeners(text: str, listeners: list[ListenerAddress]) -> None:
    """An address that stands for any is none."""
    assert [*listeners_in(text)] == listeners


def test_the_protocol_of_a_listener() -> None:
    """By the map, else by its name."""
    settings = {"listener.security.protocol.map": "CLIENT:SASL_SSL, INTERNAL:plaintext"}
    assert [protocol_of(name, settings) for name in ("CLIENT", "INTERNAL", "ssl")] == ["SASL_SSL", "PLAINTEXT", "SSL"]


def test_voters_and_keepers() -> None:
    """With IPv6, without a port, with a path in ZooKeeper."""
    assert [(one.number, one.address, one.port) for one in voters_in("1@c1:9093,2@[::1]:9094,x", "")] == [
        (1, "c1", 9093),
        (2, "::1", 9094),
    ]
    assert [(one.address, one.port) for one in keepers_in("zoo1:2182,zoo2,[2001:db8::1]:2181/kafka", "")] == [
        ("zoo1", 2182),
        ("zoo2", 2181),
        ("2001:db8::1", 2181),
    ]

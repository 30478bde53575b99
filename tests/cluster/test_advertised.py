"""Advertised addresses that lead nowhere are told before a run, by broker and listener (experiment C10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from fake_live import inventory
from fake_servers import babbling, mock_cluster, server, unused_port

from chaosk.cluster.advertised import misadvertised
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import View


@dataclass
class Saying:
    """Brokers that advertise these addresses."""

    advertised: dict[int, tuple[str, int]]

    def views(self) -> tuple[View, ...]:
        """What one of them says."""
        alive = tuple(self.advertised)
        return (View(0, 0, alive, racks=False, partitions=(), topic_ids={}, advertised=self.advertised),)


def told(advertised: dict[int, tuple[str, int]]) -> tuple[str, ...]:
    """What is told of these addresses."""
    return misadvertised(cast("Brokers", Saying(advertised)), inventory())


def test_addresses_that_work_are_fine() -> None:
    """Nothing is told of brokers that answer where they say."""
    with mock_cluster() as (_, places):
        assert told({broker: (place.address, place.port) for broker, place in places.items()}) == ()


def test_a_name_that_does_not_resolve() -> None:
    """The broker, the address, the listener of the inventory, the reason, and what to do."""
    (line,) = told({2: ("kafka-2.invalid", 9092)})
    assert line.startswith("broker 2 advertises kafka-2.invalid:9092 to clients (in the inventory listener CLIENT is ")
    assert "198.18.0.13:9092), and that leads nowhere from here: " in line
    assert line.endswith("; correct its advertised.listeners, or how that name resolves")


def test_each_broker_is_told_of_by_itself() -> None:
    """A dead address and one where somebody else answers are told, the one that works is not."""
    with mock_cluster(1) as (_, places), server(babbling) as other:
        good = (places[1].address, places[1].port)
        lines = told({0: ("127.0.0.1", unused_port()), 1: good, 7: ("127.0.0.1", other.port)})
    assert [line.split()[1] for line in lines] == ["0", "7"]
    assert "connection refused" in lines[0]
    assert "does not speak Kafka's protocol" in lines[1]
    assert "inventory" not in lines[1], "a broker that the inventory does not have has no listener there"

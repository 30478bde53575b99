"""Advertised addresses that lead nowhere are told before a run, by broker and listener (experiment C10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

from fake_live import inventory
from fake_servers import babbling, mock_cluster, server, unused_port

from chaosk.cluster import advertised as module
from chaosk.cluster.advertised import Advertised, advertised
from chaosk.cluster.views import ClusterView
from chaosk.cluster.wire import Endpoint
from chaosk.spec.inventory import Inventory, Listener


def cluster(places: Mapping[int, Endpoint], **more: Endpoint) -> Inventory:
    """An inventory whose brokers answer at these places, at further listeners too, and have one between brokers."""
    plain = inventory(brokers=len(places))
    inside = Listener(address="127.0.0.1", port=unused_port(), clients=False)
    brokers = {
        number: plain.brokers[0].model_copy(
            update={
                "host": "node1",
                "listeners": {
                    "CLIENT": Listener(address=place.address, port=place.port),
                    "INSIDE": inside,
                    **{name: Listener(address=at.address, port=at.port) for name, at in more.items()},
                },
            }
        )
        for number, place in places.items()
    }
    return plain.model_copy(update={"brokers": brokers})


@contextmanager
def saying(**says: tuple[str, int]) -> Iterator[None]:
    """Brokers that advertise these addresses, by their numbers behind a `b`; what they answer else is real."""

    def view(broker: int, answer: object) -> ClusterView:
        advertised = {int(name[1:]): at for name, at in says.items()}
        alive = tuple(advertised)
        return ClusterView(broker, 0, alive, racks=False, partitions=(), topic_ids={}, advertised=advertised)

    with patch.object(module, "view", view):
        yield


def test_addresses_that_work_are_fine() -> None:
    """Each listener for clients, and none of those between brokers, which need not be reached from here."""
    with mock_cluster() as (_, places):
        found = advertised(cluster(places), {})
    assert [(one.broker, one.listener, one.why_not) for one in found] == [
        (number, "CLIENT", None) for number in sorted(places)
    ]
    assert [one.says for one in found] == [(places[n].address, places[n].port) for n in sorted(places)]


def test_a_name_that_does_not_resolve() -> None:
    """What it says and why nobody can follow: not only that something is wrong."""
    with mock_cluster(1) as (_, places), saying(b1=("kafka-1.invalid", 9092)):
        (found,) = advertised(cluster(places), {})
    why = "this machine cannot resolve the name kafka-1.invalid"
    assert found == Advertised(1, "CLIENT", ("kafka-1.invalid", 9092), why)


def test_a_name_that_is_no_name() -> None:
    """A broker may advertise anything: no traceback."""
    with mock_cluster(1) as (_, places), saying(b1=("x" * 80 + ".example", 9092)):
        (found,) = advertised(cluster(places), {})
    assert found.why_not is not None
    assert "cannot resolve" in found.why_not


def test_an_address_where_nobody_answers_or_somebody_else() -> None:
    """The reason tells the two apart."""
    with mock_cluster(1) as (_, places), server(babbling) as other:
        dead, wrong = ("127.0.0.1", unused_port()), ("127.0.0.1", other.port)
        for says, why in ((dead, "connection refused"), (wrong, "does not speak Kafka's protocol")):
            with saying(b1=says):
                (found,) = advertised(cluster(places), {})
            assert found.says == says
            assert why in (found.why_not or "")


def test_every_listener_is_asked_by_itself() -> None:
    """One that is right does not speak for another of the same broker."""
    with mock_cluster(1) as (_, places):
        dead = Endpoint("broker 1", "127.0.0.1", unused_port())
        found = {one.listener: one for one in advertised(cluster(places, SECOND=places[1], THIRD=dead), {})}
    assert found.keys() == {"CLIENT", "SECOND", "THIRD"}
    assert (found["CLIENT"].why_not, found["SECOND"].why_not) == (None, None)
    assert found["THIRD"].says is None
    assert "connection refused" in (found["THIRD"].why_not or "")


def test_a_broker_that_the_cluster_does_not_know() -> None:
    """It answers, but its own answer has no place for it."""
    with mock_cluster(1) as (_, places), saying(b7=("127.0.0.1", 1)):
        (found,) = advertised(cluster(places), {})
    assert found.says is None
    assert "not alive to the cluster" in (found.why_not or "")

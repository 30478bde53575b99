"""One connection to one broker: right answers, and errors in time from brokers that misbehave."""

from __future__ import annotations

import threading
import time

import pytest
from fake_servers import Behaviour, babbling, closing, holding, mock_cluster, server, silent, unused_port
from kafka.protocol.admin import DescribeQuorumRequest

from chaosk.cluster.offsets import offsets_requests, replica_offsets
from chaosk.cluster.views import metadata_request, view
from chaosk.cluster.wire import BrokerConnection, Endpoint, NoAnswer

METADATA = 3
"""The key of its requests."""


def test_each_broker_answers_for_itself() -> None:
    """A link reaches the broker it is meant for, and answers come in the order of the requests."""
    with mock_cluster() as (producer, places):
        producer.produce("orders", b"x", partition=1)
        producer.flush(5)
        for broker, place in places.items():
            with BrokerConnection(place) as link:
                alone = view(broker, link.ask(metadata_request(()))[0])
                both = link.ask(metadata_request(["orders"]), metadata_request(()))
            assert alone.alive == (1, 2, 3)
            assert alone.partitions == ()
            assert [len(view(broker, one).partitions) for one in both] == [4, 0]


def test_only_the_leader_tells_offsets() -> None:
    """The offsets are those of the broker that was asked, not of the cluster."""
    with mock_cluster() as (producer, places):
        for _ in range(3):
            producer.produce("orders", b"x", partition=0)
        producer.flush(5)
        told = {}
        for broker, place in places.items():
            with BrokerConnection(place) as link:
                told[broker] = replica_offsets(link.ask(*offsets_requests({"orders": [0]})))
        with BrokerConnection(places[1]) as link:
            leader = view(1, link.ask(metadata_request(["orders"]))[0]).partitions[0].leader
        assert [(one.leader, one.log_start, one.high_watermark) for one in told[leader]] == [(True, 0, 3)]
        assert all(not rows for broker, rows in told.items() if broker != leader)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (silent, "no answer within 0.3 s"),
        (closing, "the connection was closed"),
        (babbling, "does not speak Kafka's protocol"),
    ],
)
def test_gives_up_in_time(behaviour: Behaviour, words: str) -> None:
    """Whatever a server does, the answer or an error that names it is there in time."""
    with server(behaviour) as place, BrokerConnection(place, timeout=0.3) as link:
        began = time.monotonic()
        with pytest.raises(NoAnswer, match=words) as caught:
            link.ask(metadata_request(()))
        assert time.monotonic() - began < 10
        assert str(place) in str(caught.value)
        assert not link.connected


def test_tells_a_refused_connection() -> None:
    """A dead broker refuses at once: that is another message than that of a frozen one."""
    with pytest.raises(NoAnswer, match=r"broker 7 \(127.0.0.1:\d+\): connection refused"):
        BrokerConnection(Endpoint("broker 7", "127.0.0.1", unused_port())).ask(metadata_request(()))


def test_a_name_that_resolves_to_nothing() -> None:
    """An address that cannot be looked up is told as such."""
    with pytest.raises(NoAnswer, match=r"broker 7 \(nowhere.invalid:1\)"):
        BrokerConnection(Endpoint("broker 7", "nowhere.invalid", 1)).ask(metadata_request(()))


def test_works_again_after_a_failure() -> None:
    """After an error the next question goes over a new connection, and gets its own answer."""
    with mock_cluster(1) as (_, places), BrokerConnection(places[1], timeout=20.0) as link:
        with pytest.raises(NoAnswer):
            link.ask(metadata_request(()), within=0.0)
        assert view(1, link.ask(metadata_request(()))[0]).alive == (1,)
        assert link.connected


@pytest.mark.parametrize(("patient", "sent"), [(True, 1), (False, 4)])
def test_a_patient_one_asks_nothing_twice(*, patient: bool, sent: int) -> None:
    """However often it is asked: the broker has one request until it answers. The late answer is taken for no other."""
    released, asked = threading.Event(), list[bytes]()
    with (
        mock_cluster(1) as (_, places),
        server(holding(places[1], released, asked)) as place,
        BrokerConnection(place, timeout=0.3, patient=patient) as link,
    ):
        for _ in range(4):
            with pytest.raises(NoAnswer, match=r"no answer within 0\.3 s"):
                link.ask(metadata_request(["orders"]))
        assert len([request for request in asked if request[5] == METADATA]) == sent
        released.set()
        answer = view(1, link.ask(metadata_request(()), within=20.0)[0])
        assert (answer.alive, answer.partitions) == ((1,), ())


def test_a_request_the_broker_does_not_know() -> None:
    """A broker too old (or a mock) for a request is named, with the request."""
    with (
        mock_cluster(1) as (_, places),
        BrokerConnection(places[1]) as link,
        pytest.raises(NoAnswer, match="DescribeQuorum"),
    ):
        link.ask(DescribeQuorumRequest(topics=[]))


def test_keeps_to_an_older_version() -> None:
    """A request that names its version is not sent in a newer one."""
    with mock_cluster(1) as (_, places), BrokerConnection(places[1]) as link:
        request = metadata_request(())
        request.API_VERSION = 1
        link.ask(request)
        assert request.API_VERSION == 1

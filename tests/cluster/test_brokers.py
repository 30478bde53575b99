"""All brokers at once: nobody waits for one that hangs, and nobody takes silence for an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fake_live import inventory
from fake_servers import mock_cluster, server, silent, unused_port

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import metadata_request
from chaosk.cluster.wire import Endpoint, NoAnswer
from chaosk.core.errors import ClusterError
from chaosk.spec.inventory import Inventory, Listener


def at(places: dict[int, Endpoint]) -> Inventory:
    """An inventory of brokers that answer there."""
    place = inventory(1, 0)
    brokers = {
        number: place.brokers[0].model_copy(
            update={"listeners": {"CLIENT": Listener(address=where.address, port=where.port)}}
        )
        for number, where in places.items()
    }
    return place.model_copy(update={"brokers": brokers})


@contextmanager
def brokers(places: dict[int, Endpoint], timeout: float = 1.0) -> Iterator[Brokers]:
    """Connections to them."""
    with Brokers(at(places), {}, timeout) as found:
        yield found


def dead() -> Endpoint:
    """Where nobody listens."""
    return Endpoint("", "127.0.0.1", unused_port())


def give_up(one: Brokers) -> None:
    """Ask a broker that does not answer."""
    with pytest.raises(NoAnswer):
        one.ask(1, metadata_request(()))


def test_asks_every_broker() -> None:
    """Each broker is asked, and each view is that of the broker it is said to be of."""
    with mock_cluster() as (producer, places), brokers(places) as all_of_them:
        producer.produce("orders", b"x")
        producer.flush(5)
        assert [view.asked for view in all_of_them.views(["orders"])] == [1, 2, 3]
        assert len(all_of_them.partitions("orders")) == 4
        assert all_of_them.controller() in (None, 0, 1, 2, 3)


def test_waits_for_most_and_a_little_longer() -> None:
    """With two of three answering, the third costs 0.3 s and not its whole time-out."""
    with (
        mock_cluster(2) as (_, places),
        server(silent) as hanging,
        brokers({**places, 9: hanging}, timeout=30.0) as three,
    ):
        three.views()
        began = time.monotonic()
        assert [view.asked for view in three.views()] == [1, 2]
        assert time.monotonic() - began < 10


def test_waits_for_its_time_where_most_are_missing() -> None:
    """One of three is not most: the others get their whole time, because they may know better."""
    with (
        mock_cluster(1) as (_, places),
        server(silent) as hanging,
        server(silent) as too,
        brokers({**places, 8: hanging, 9: too}, timeout=0.5) as three,
    ):
        began = time.monotonic()
        assert [view.asked for view in three.views()] == [1]
        assert 0.4 < time.monotonic() - began < 10


def test_dead_brokers_are_passed_over() -> None:
    """Brokers that refuse cost no time."""
    with mock_cluster(1) as (_, places), brokers({**places, 8: dead(), 9: dead()}, timeout=30.0) as three:
        began = time.monotonic()
        assert [view.asked for view in three.views()] == [1]
        assert time.monotonic() - began < 10


def test_says_why_nobody_answers() -> None:
    """With no answer at all the reason of each broker is told."""
    words = r"no broker answers: broker 1, .*refused; broker 2, .*no answer within"
    with (
        server(silent) as hanging,
        brokers({1: dead(), 2: hanging}, timeout=0.3) as two,
        pytest.raises(ClusterError, match=words),
    ):
        two.views()


def test_a_broker_that_is_not_in_the_inventory() -> None:
    """It cannot be asked, and the message says so."""
    with brokers({1: dead()}) as one, pytest.raises(ClusterError, match="broker 5: the inventory has no such broker"):
        one.ask(5, metadata_request(()))


def test_one_broker_is_asked_alone() -> None:
    """The answer, or the error, is that of the one broker."""
    with mock_cluster(1) as (_, places), brokers({**places, 9: dead()}) as two:
        assert two.ask(1, metadata_request(())).brokers
        with pytest.raises(NoAnswer, match="broker 9"):
            two.ask(9, metadata_request(()))


def test_many_threads_get_their_own_answers() -> None:
    """Questions from many threads at once never mix up answers."""
    wrong: list[Any] = []

    def work(mine: Brokers, broker: int) -> None:
        told = [mine.ask(broker, metadata_request(names)) for names in ((), ["orders"]) * 15]
        wrong.extend(answer for n, answer in enumerate(told) if len(answer.topics) != n % 2)

    with mock_cluster() as (_, places), brokers(places) as all_of_them:
        threads = [threading.Thread(target=work, args=(all_of_them, 1 + n % 3)) for n in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_connections_are_used_again_and_outlived() -> None:
    """A connection that the broker closed meanwhile costs nothing: it is opened anew, once."""
    with mock_cluster(1) as (_, places), brokers(places) as one:
        one.ask(1, metadata_request(()))
        link = one._idle[1][0]
        assert link._socket is not None
        link._socket.shutdown(2)
        assert one.ask(1, metadata_request(())).brokers
        assert one._idle[1] == [link]


def test_closing_does_not_wait_for_who_hangs() -> None:
    """The end of a run is not held up by a broker that does not answer."""
    with server(silent) as hanging:
        one = Brokers(at({1: hanging}), {}, 8.0)
        asking = threading.Thread(target=give_up, args=(one,))
        asking.start()
        began = time.monotonic()
        one.close()
        assert time.monotonic() - began < 6
        asking.join()

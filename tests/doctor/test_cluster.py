"""What is told of a cluster: listeners, partitions and reassignments in words that help."""

from __future__ import annotations

from unittest.mock import patch

from fake_live import FakeLive, inventory, state
from fake_servers import mock_cluster, unused_port

from chaosk.cluster.advertised import Advertised
from chaosk.cluster.brokers import Brokers
from chaosk.core.errors import ClusterError
from chaosk.run.preflight import cluster as module
from chaosk.run.preflight.cluster import FEW, cluster, listeners
from chaosk.run.preflight.diagnostic import Diagnostic
from chaosk.spec.inventory import Inventory, Listener


def of(inv: Inventory, live: FakeLive, moving: tuple[str, ...] = ()) -> dict[tuple[str, str], Diagnostic]:
    """What is found, by place and name. The mock brokers know no reassignments, so those are given."""
    with Brokers(inv, {}) as brokers, patch.object(module, "reassigning", lambda _: moving):
        return {(one.where, one.what): one for one in cluster(live, brokers, inv)}


def at(addresses: dict[int, tuple[str, int]]) -> Inventory:
    """An inventory whose brokers answer there."""
    plain = inventory(brokers=len(addresses))
    return plain.model_copy(
        update={
            "brokers": {
                number: plain.brokers[0].model_copy(update={"listeners": {"CLIENT": Listener(address=a, port=p)}})
                for number, (a, p) in addresses.items()
            }
        }
    )


def test_a_whole_cluster() -> None:
    """Every examination speaks, and none complains."""
    with mock_cluster() as (_, places):
        numbers = tuple(places)
        live = FakeLive(alive=numbers, answering=numbers, control=numbers[0])
        found = of(at({n: (p.address, p.port) for n, p in places.items()}), live)
    assert {one.state for one in found.values()} == {"ok"}
    assert {what for where, what in found if where == "cluster"} == {"health", "partitions", "reassignments"}


def test_a_cluster_where_nobody_answers_is_bad_and_no_crash() -> None:
    """Every part says so by itself."""
    inv = at({0: ("127.0.0.1", unused_port())})
    found = of(inv, FakeLive(silent=True))
    assert found["cluster", "health"].state == "bad"
    assert found["cluster", "partitions"].state == "bad"
    assert "no broker answers" in found["cluster", "partitions"].seen
    assert found["broker 0", "listener CLIENT"].state == "bad"


def test_a_controller_that_does_not_tell_hides_nothing_else() -> None:
    """After the controller has died, what the other brokers say of partitions is told all the same."""

    def silent(_: object) -> tuple[str, ...]:
        raise ClusterError("no controller answers")

    with mock_cluster() as (_, places), patch.object(module, "reassigning", silent):
        numbers = tuple(places)
        inv = at({n: (p.address, p.port) for n, p in places.items()})
        live = FakeLive(alive=numbers, answering=numbers, control=numbers[0])
        with Brokers(inv, {}) as brokers:
            found = {one.what: one for one in cluster(live, brokers, inv) if one.where == "cluster"}
    assert found["partitions"].state == "ok"
    assert (found["reassignments"].state, found["reassignments"].seen) == ("bad", "no controller answers")


def test_reassignments_are_named_but_not_all_of_a_thousand() -> None:
    """A few, and how many more; and how to get rid of them."""
    with mock_cluster() as (_, places):
        numbers = tuple(places)
        inv = at({n: (p.address, p.port) for n, p in places.items()})
        live = FakeLive(alive=numbers, answering=numbers, control=numbers[0])
        found = of(inv, live, tuple(f"orders-{n}" for n in range(1000)))["cluster", "reassignments"]
    assert found.state == "bad"
    assert found.seen.endswith(f"orders-{FEW - 1} and {1000 - FEW} more")
    assert "--cancel" in found.todo


def test_partitions_that_are_not_whole_are_named() -> None:
    """Which replicas are missing where; of many only the first."""
    few = [state(0, -1, (0, 1)), state(1, 0, (0, 1), (0,)), state(2, 0, (0, 1))]
    found = module._partitions(few)
    assert found.seen == "orders-0 has no leader; orders-1: replicas on 1 are not in sync"
    many = module._partitions([state(n, -1, (0,)) for n in range(20)])
    assert many.seen.endswith(f"; and {20 - FEW} more")
    assert module._partitions([few[2]]).state == "ok"


def test_listeners_are_told_by_broker_and_name() -> None:
    """What it advertises, why that is no use, and what to correct; or that it does not answer at all."""
    nowhere, silent, well = listeners(
        (
            Advertised(1, "CLIENT", ("kafka-1.invalid", 9092), "no such name"),
            Advertised(2, "OUTSIDE", None, "connection refused"),
            Advertised(3, "CLIENT", ("192.0.2.3", 9092), None),
        )
    )
    assert (nowhere.where, nowhere.what, nowhere.state) == ("broker 1", "listener CLIENT", "bad")
    assert nowhere.seen == "advertises kafka-1.invalid:9092, and that leads nowhere from here: no such name"
    assert "advertised.listeners" in nowhere.todo
    assert (silent.where, silent.what) == ("broker 2", "listener OUTSIDE")
    assert silent.seen == "does not answer at the address in the inventory: connection refused"
    assert well.state == "ok"

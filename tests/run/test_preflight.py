"""Whether a cluster is of the shape that a scenario needs."""

from __future__ import annotations

import pytest

from chaosk.core.errors import PreflightError
from chaosk.run.preflight.shape import check_shape
from chaosk.spec.inventory import Broker, Host, Inventory, Listener, SystemdService, ZooKeeper
from chaosk.spec.scenario import ClusterShape


def cluster(brokers: int, zookeepers: int) -> Inventory:
    """An inventory with that many of each, all on one host."""
    service = SystemdService(systemd="kafka.service")
    listener = {"CLIENT": Listener(address="192.0.2.1", port=9092)}
    return Inventory(
        name="mine",
        hosts={"a": Host(address="192.0.2.1")},
        brokers={number: Broker(host="a", service=service, listeners=listener) for number in range(brokers)},
        zookeepers={number: ZooKeeper(host="a", service=service) for number in range(zookeepers)},
    )


def shape(**sizes: object) -> ClusterShape:
    """A cluster shape as YAML says it."""
    return ClusterShape.model_validate(sizes)


@pytest.mark.parametrize(
    ("wanted", "brokers", "zookeepers"),
    [
        (shape(), 3, 3),
        (shape(), 5, 5),
        (shape(brokers=1, zookeepers=1), 1, 1),
        (shape(brokers={"min": 2, "max": 4}, zookeepers={"min": 0}), 4, 0),
    ],
)
def test_a_cluster_of_the_right_shape_may_be_used(wanted: ClusterShape, brokers: int, zookeepers: int) -> None:
    """Bounds are inclusive, and without a maximum more is fine."""
    check_shape(wanted, cluster(brokers, zookeepers))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (shape(brokers=1), "needs exactly 1 brokers, mine has 3"),
        (shape(brokers={"min": 4}), "needs at least 4 brokers, mine has 3"),
        (shape(zookeepers={"min": 5, "max": 7}), "needs 5 to 7 ZooKeeper nodes, mine has 3"),
    ],
)
def test_a_cluster_of_another_shape_is_refused(wanted: ClusterShape, said: str) -> None:
    """The message says what is needed, what is there, and what to do."""
    with pytest.raises(PreflightError, match=said) as refused:
        check_shape(wanted, cluster(3, 3))
    assert "--inventory" in str(refused.value)


def test_a_rack_without_a_broker_is_refused() -> None:
    """Each rack that the scenario is about needs one; others may be there."""
    plain = cluster(3, 3)
    racks = {number: one.model_copy(update={"rack": "ab"[number % 2]}) for number, one in plain.brokers.items()}
    check_shape(shape(racks=["b"]), plain.model_copy(update={"brokers": racks}))
    with pytest.raises(PreflightError, match=r"needs brokers in rack c, mine has none there; name another cluster"):
        check_shape(shape(racks=["a", "c"]), plain.model_copy(update={"brokers": racks}))
    with pytest.raises(PreflightError, match=r"in rack a, mine has none there; .*in rack b"):
        check_shape(shape(racks=["b", "a"]), plain)


def test_brokers_with_too_few_data_directories_are_refused() -> None:
    """The first one is named; nobody has to write down the only directory of a broker where one will do."""
    plain = cluster(2, 3)
    have = [("/data/1", "/data/2"), ("/data/1",)]
    brokers = {n: one.model_copy(update={"data": have[n]}) for n, one in plain.brokers.items()}
    mine = plain.model_copy(update={"brokers": brokers})
    wanted = shape(brokers=2, data_dirs=2)
    with pytest.raises(PreflightError, match="needs 2 data directories of each broker, broker 1 of mine has 1 in"):
        check_shape(wanted, mine)
    check_shape(wanted, mine.model_copy(update={"brokers": {0: brokers[0], 1: brokers[0]}}))
    check_shape(shape(brokers=2), plain)


def test_both_kinds_of_shortage_are_said_at_once() -> None:
    """One look at the message is enough."""
    with pytest.raises(PreflightError, match=r"brokers, .*ZooKeeper"):
        check_shape(shape(brokers=1, zookeepers=1), cluster(3, 3))


def test_a_cluster_of_the_other_mode_is_refused() -> None:
    """Numbers are not even looked at: nothing about it would be right."""
    with pytest.raises(PreflightError, match="needs a cluster in KRaft mode, mine is one with ZooKeeper"):
        check_shape(shape(mode="kraft", brokers=9), cluster(3, 3))
    with pytest.raises(PreflightError, match="needs a cluster with ZooKeeper, mine is one in KRaft mode"):
        check_shape(shape(mode="zookeeper"), cluster(3, 0))


def test_controllers_count_in_kraft_only() -> None:
    """A scenario that needs controllers apart from brokers runs with ZooKeeper, too: nothing is combined there."""
    check_shape(shape(controllers={"min": 3}), cluster(3, 3))
    with pytest.raises(PreflightError, match="needs at least 3 controllers that are no brokers, mine has 0"):
        check_shape(shape(controllers={"min": 3}), cluster(3, 0))


def test_clients_in_the_clear_are_refused_where_tls_is_wanted() -> None:
    """As is a cluster whose probes have no login of their own: nobody's rights could be withdrawn."""
    wanted, plain = shape(secure=True), cluster(3, 3)
    with pytest.raises(PreflightError, match=r"needs TLS.*clients of mine use PLAINTEXT"):
        check_shape(wanted, plain)
    alone = plain.model_copy(update={"client": {"security.protocol": "SASL_SSL", "sasl.username": "chaosk"}})
    with pytest.raises(PreflightError, match="`probe_client` is empty"):
        check_shape(wanted, alone)
    check_shape(wanted, alone.model_copy(update={"probe_client": {"sasl.username": "probes"}}))

"""Whether a run may start: shape of the cluster, every host at once, health."""

from __future__ import annotations

import threading

import pytest

from chaosk.errors import HostError, PreflightError
from chaosk.inventory import Broker, Host, Inventory, Listener, SystemdService, ZooKeeper
from chaosk.run.preflight import check_health, check_hosts, check_shape
from chaosk.scenario import ClusterShape


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


def test_both_kinds_of_shortage_are_said_at_once() -> None:
    """One look at the message is enough."""
    with pytest.raises(PreflightError, match=r"brokers, .*ZooKeeper"):
        check_shape(shape(brokers=1, zookeepers=1), cluster(3, 3))


def test_every_host_is_checked_and_every_problem_is_said() -> None:
    """Two bad hosts of three: both are named, not only the first."""

    def check(host: str) -> None:
        if host != "good":
            raise HostError(host, "no sudo")

    with pytest.raises(PreflightError) as refused:
        check_hosts(["a", "good", "b"], check)
    assert str(refused.value) == "the run cannot start:\n  a: no sudo\n  b: no sudo"


def test_hosts_are_checked_at_the_same_time() -> None:
    """Three hosts that each wait for the others: one after the other this would never end."""
    together = threading.Barrier(3, timeout=10)

    def check(host: str) -> None:
        together.wait()

    check_hosts(["a", "b", "c"], check)


def test_no_host_is_no_problem() -> None:
    """Nothing to check, nothing wrong."""
    check_hosts([], pytest.fail)


def test_an_unhealthy_cluster_is_refused_with_every_reason() -> None:
    """A fault on top of trouble would prove nothing; the reasons are what the operator mends."""
    with pytest.raises(PreflightError, match=r"not healthy[^\n]*:\n  a\n  b$"):
        check_health(("a", "b"))
    check_health(())

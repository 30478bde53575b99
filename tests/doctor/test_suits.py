"""What hosts must be able to do for the steps of a scenario: asked of whoever may be hit, before anything is broken."""

from __future__ import annotations

import pytest
from fake_live import kraft_inventory
from sample_inventory import INVENTORY

from chaosk.core.errors import ConnectionLost
from chaosk.run.preflight.diagnostic import Diagnostic
from chaosk.run.preflight.suits import suits
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Inventory

from .test_host_requirements import scenario

NOT_MAPPED = "/var/lib/kafka is on ext4, device 8:1, not on a device of device-mapper, as LVM makes them"


class Hosts:
    """Answers by host: what it says against a step; None if nothing."""

    def __init__(self, **against: str | None) -> None:
        """Hosts that are not named do not answer."""
        self.against = against
        self.asked: list[str] = []

    def run(self, command: Command) -> Result:
        """What the host says."""
        if command.host not in self.against:
            raise ConnectionLost(f"{command.host}: it does not answer")
        self.asked.append(f"{command.host}: {command.argv[4]}")
        why = self.against[command.host]
        stamps = dict.fromkeys(("sent", "received", "host_started", "host_ended"), 0)
        return Result(command=command, exit_status=int(why is not None), stdout="", stderr=why or "", **stamps)

    def close(self) -> None:
        """Nothing to close."""


def found(hosts: Hosts, step: str) -> tuple[Diagnostic, ...]:
    """What is found for a step."""
    return suits(hosts, INVENTORY, scenario(step))


def test_a_target_that_is_known_is_asked_alone() -> None:
    """And only asked: nothing is put anywhere."""
    hosts = Hosts(node2=None)
    assert [(one.where, one.state) for one in found(hosts, "slow_disk: {target: broker 1, write: 1s}")] == [
        ("node2", "ok"), ("node2", "ok"),
    ]  # fmt: skip
    assert hosts.asked == ["node2: is", "node2: fits"]


def test_where_only_the_cluster_knows_each_broker_is_asked() -> None:
    """The reason is the host's own, with what to do; a host that does not answer is bad as well."""
    answers = found(Hosts(node1=None, node2=NOT_MAPPED), 'fail_disk: {target: "leader(orders, 0)"}')
    assert [(one.where, one.what, one.state) for one in answers] == [
        ("node1", "fail_disk", "ok"), ("node1", "fail_disk", "ok"), ("node2", "fail_disk", "bad"),
        ("node2", "fail_disk", "bad"), ("node3", "fail_disk", "bad"), ("node3", "fail_disk", "bad"),
    ]  # fmt: skip
    assert NOT_MAPPED in answers[3].seen
    assert "leave the step out" in answers[3].todo
    assert "does not answer" in answers[5].seen


def test_a_kill_asks_whether_each_broker_is_the_one_that_is_meant() -> None:
    """An inventory with two brokers under each other's names is refused before any of them is killed."""
    why = "/opt/kafka/config/server.properties is of node 0, and the inventory calls this one 1"
    answers = found(Hosts(node1=None, node2=why, node3=None), 'kill_broker: {target: "leader(orders, 0)"}')
    assert {one.where for one in answers if one.state == "ok"} == {"node1", "node3"}
    assert all(why in one.seen for one in answers if one.state == "bad")
    assert {one.where for one in answers} == {"node1", "node2", "node3"}


@pytest.mark.parametrize(
    ("step", "cluster"),
    [
        ("stop_zookeeper: {target: zookeeper leader}", INVENTORY),
        ("stop_controller: {target: controller}", kraft_inventory()),
    ],
)
def test_servers_of_its_own_kind_are_asked(step: str, cluster: Inventory) -> None:
    """Brokers are none of those that a step on ZooKeeper nodes, or on controllers, may hit."""
    answers = suits(Hosts(node1=None, node2=None, node3=None), cluster, scenario(step))
    assert [one.state for one in answers] == ["ok"] * 3
    assert len({one.where for one in answers}) == 3


def test_a_directory_that_a_broker_has_not_is_told_before_the_run() -> None:
    """The leader may be one that has no such directory: only then it would be noticed otherwise."""
    step = 'remount_read_only: {target: "leader(orders, 0)", directory: /nowhere}'
    answers = found(Hosts(), step)
    assert [one.state for one in answers] == ["bad"] * 3
    assert "/nowhere is no data directory of broker 0 on node1" in answers[0].seen


def test_no_clock_is_moved_where_it_decides_which_process_is_a_servers() -> None:
    """A pid file that is known by its age alone would be disbelieved, and its server called dead, started twice."""
    step = "skew_clock: {target: host(broker 1), offset: 1h}"
    (told,) = found(Hosts(), step)
    assert told.state == "bad"
    assert "/run/zookeeper.pid on node2" in told.seen
    assert "`config`" in told.seen
    known = {number: one.model_copy(update={"config": "/etc/zoo.cfg"}) for number, one in INVENTORY.zookeepers.items()}
    assert suits(Hosts(), INVENTORY.model_copy(update={"zookeepers": known}), scenario(step)) == ()


def test_steps_that_any_host_can_do_are_no_question() -> None:
    """Nor is there any without a scenario."""
    hosts = Hosts()
    assert found(hosts, 'cut_network: {between: ["leader(orders, 0)", probes]}') == ()
    assert suits(hosts, INVENTORY, None) == ()
    assert hosts.asked == []


def test_a_step_without_a_target_asks_for_what_it_needs() -> None:
    """The host that is to keep the quota's undo, which no target names."""
    hosts = Hosts(node1="there is no /opt/kafka/bin/kafka-configs.sh")
    (answer,) = found(hosts, "set_quota: {probe: writer, producer_byte_rate: 1B}")
    assert (answer.where, answer.state) == ("node1", "bad")
    assert "there is no /opt/kafka/bin/kafka-configs.sh" in answer.seen
    assert found(Hosts(), "wait: {duration: 1s}") == ()

"""Kafka in KRaft mode: what the lab writes for it."""

from __future__ import annotations

import pytest
import yaml
from properties_reader import read_properties

from chaosk.core.errors import UsageError
from chaosk.lab.kraft_mode import KRaftMode, broker_config, controller_config, voters
from chaosk.lab.properties import properties
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

MODE = KRaftMode()
APART: dict[str, tuple[str, ...]] = {"b": ("broker 1",), "c": ("controller 7",), "both": ("broker 2", "controller 8")}


def layout(brokers: int = 3, controllers: int = 0, **more: object) -> LabLayout:
    """A lab of Kafka 4."""
    return LabLayout.model_validate({"kafka": "4.2.0", "brokers": brokers, "controllers": controllers, **more})


def test_clients_may_be_told_names() -> None:
    """Of the listener for clients alone, which then listens wherever its host is; the others do where they did."""
    named = layout(names=True)
    seats = MODE.seats(named)
    found = broker_config(seats[1], seats, named)
    assert found["advertised.listeners"] == "CLIENT://node2.lab.test:9092,REPLICATION://198.18.0.12:9093"
    assert found["listeners"].startswith("CLIENT://:9092,REPLICATION://198.18.0.12:9093,")
    assert found["listeners"].endswith(",CONTROLLER://198.18.0.12:9094")


def test_brokers_are_the_controllers_if_there_are_no_others() -> None:
    """Each of three has both roles, listeners for clients, brokers and controllers apart, and knows the quorum."""
    seats = MODE.seats(layout())
    found = broker_config(seats[1], seats, layout())
    assert (found["node.id"], found["process.roles"]) == ("1", "broker,controller")
    assert (
        found["listeners"] == "CLIENT://198.18.0.12:9092,REPLICATION://198.18.0.12:9093,CONTROLLER://198.18.0.12:9094"
    )
    assert found["advertised.listeners"] == "CLIENT://198.18.0.12:9092,REPLICATION://198.18.0.12:9093"
    assert found["controller.quorum.voters"] == "0@198.18.0.11:9094,1@198.18.0.12:9094,2@198.18.0.13:9094"
    assert found["broker.session.timeout.ms"] == "9000"
    assert not [name for name in found if "zookeeper" in name]


@pytest.mark.parametrize(("brokers", "quorum"), [(1, [0]), (2, [0]), (3, [0, 1, 2]), (9, [0, 1, 2])])
def test_of_many_brokers_three_are_controllers(brokers: int, quorum: list[int]) -> None:
    """Of two only one: a quorum of two could not lose any, and of one broker fewer processes are harmed."""
    seats = MODE.seats(layout(brokers))
    assert list(voters(seats)) == quorum
    roles = [broker_config(seat, seats, layout(brokers))["process.roles"] for seat in seats]
    assert roles == ["broker,controller"] * len(quorum) + ["broker"] * (brokers - len(quorum))


def test_controllers_with_a_process_of_their_own() -> None:
    """They alone are the quorum, under ids that no broker has, and decide by the same settings as the brokers."""
    wanted = layout(2, 3, broker_config={"unclean.leader.election.enable": "true"})
    seats = MODE.seats(wanted)
    assert [(seat.broker, seat.controller) for seat in seats] == [(0, 101), (1, 102), (None, 103)]
    found = controller_config(seats[2], seats, wanted)
    assert (found["node.id"], found["process.roles"], found["listeners"]) == (
        "103",
        "controller",
        "CONTROLLER://198.18.0.13:9094",
    )
    assert found["unclean.leader.election.enable"] == "true"
    broker = broker_config(seats[0], seats, wanted)
    assert (broker["process.roles"], broker["controller.quorum.voters"]) == (
        "broker",
        found["controller.quorum.voters"],
    )
    assert "CONTROLLER://" not in broker["listeners"]


def test_a_written_layout_places_controllers() -> None:
    """By host name, alone or beside a broker."""
    seats = MODE.seats(LabLayout(kafka="4.2.0", layout=APART))
    assert voters(seats) == {7: "198.18.0.12", 8: "198.18.0.13"}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (layout(zookeepers=3), "zookeepers: a cluster in KRaft mode has none"),
        (layout(layout={"a": ["broker 0", "zookeeper 1"]}), "zookeepers: a cluster in KRaft mode has none"),
        (layout(broker_config={"process.roles": "broker"}), "broker_config.process.roles: the lab sets this itself"),
        (layout(broker_config={"node.id": "1"}), "broker_config.node.id: the lab sets this itself"),
    ],
)
def test_what_kraft_does_not_have_is_refused(wanted: LabLayout, message: str) -> None:
    """Before anything is made, and with what to leave out."""
    with pytest.raises(UsageError, match=message):
        MODE.check(wanted)


def test_a_broker_and_a_controller_need_two_ids() -> None:
    """Nodes of a KRaft cluster are numbered together."""
    with pytest.raises(UsageError, match="broker 1 and controller 1: they are numbered together"):
        MODE.seats(LabLayout(kafka="4.2.0", layout={"a": ("broker 1", "controller 1")}))


def test_files_follow_the_roles() -> None:
    """A host gets the configuration and control scripts of what runs on it, and of nothing else."""
    wanted = LabLayout(kafka="4.2.0", layout=APART)
    seats = MODE.seats(wanted)
    broker, controller, both = ({file.path for file in MODE.files(seat, seats, wanted)} for seat in seats)
    of_broker = {"/opt/kafka/config/server.properties", "/opt/kafka/bin/kafka-start"}
    of_controller = {"/opt/kafka/config/controller.properties", "/opt/kafka/bin/kafka-controller-start"}
    assert of_broker <= broker
    assert of_controller <= controller
    assert of_broker | of_controller <= both
    assert not of_controller & broker
    assert not of_broker & controller


def test_services_of_one_host_do_not_share_places() -> None:
    """Broker and controller of a host have their own scripts, pid files, configuration, data, logs and ports."""
    controller, broker = MODE.services(MODE.seats(layout(1, 1)))
    assert (controller.host, broker.host, controller.role) == ("node1", "node1", "controller")
    for place in ("start", "stop", "pid_file", "config", "data", "log", "port"):
        assert getattr(controller, place) != getattr(broker, place), place


@pytest.mark.parametrize("controllers", [0, 3])
def test_inventory_reads_back_from_yaml(controllers: int) -> None:
    """What the lab writes is what chaosk reads: typed, strict, equal."""
    wanted = layout(3, controllers)
    written = MODE.inventory(MODE.seats(wanted), wanted, "chaosk-x")
    text = yaml.safe_dump(written.model_dump(mode="json", exclude_defaults=True), sort_keys=False)
    assert Inventory.model_validate(yaml.safe_load(text)) == written
    assert written.kraft
    assert list(written.voters()) == ([101, 102, 103] if controllers else [0, 1, 2])
    assert written.bootstrap_servers() == "198.18.0.11:9092,198.18.0.12:9092,198.18.0.13:9092"


def test_the_inventory_knows_the_listener_for_controllers() -> None:
    """So that a cut can be of that one alone; no client is sent there."""
    written = MODE.inventory(MODE.seats(layout()), layout(), "chaosk-x")
    assert written.brokers[0].controller_listener == "CONTROLLER"
    listener = written.brokers[0].listeners["CONTROLLER"]
    assert (listener.port, listener.clients) == (9094, False)


def test_settings_are_a_properties_file() -> None:
    """Every setting comes back from it."""
    seats = MODE.seats(layout())
    found = broker_config(seats[0], seats, layout())
    assert read_properties(properties(found)) == found


def test_who_logs_in_has_rights_and_those_among_themselves_all() -> None:
    """Controllers decide about ACLs and brokers by them, so both have the authorizer; without logins there is none."""
    wanted, plain = layout(controllers=3, secure=True), layout(controllers=3)
    places = MODE.seats(wanted)
    for of in (broker_config, controller_config):
        secure = of(places[0], places, wanted)
        assert secure["authorizer.class.name"] == "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        assert secure["super.users"] == "User:ANONYMOUS;User:chaosk"
        assert secure["allow.everyone.if.no.acl.found"] == "true"
        assert "authorizer.class.name" not in of(places[0], places, plain)

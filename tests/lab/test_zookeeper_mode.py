"""Kafka 3.x with ZooKeeper: what the lab writes for it."""

from __future__ import annotations

import pytest
import yaml
from properties_reader import read_properties

from chaosk.core.errors import UsageError
from chaosk.lab.seating import seats
from chaosk.lab.zookeeper_mode import ZooKeeperMode, broker_config, zoo_cfg
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

MODE = ZooKeeperMode()


def test_broker_settings_of_the_default_lab() -> None:
    """The settings experiments rely on are there, and replication follows the number of brokers."""
    layout = LabLayout()
    found = broker_config(seats(layout)[1], seats(layout), layout)
    assert found["broker.id"] == "1"
    assert found["listeners"] == "CLIENT://198.18.0.12:9092,REPLICATION://198.18.0.12:9093"
    assert found["advertised.listeners"] == found["listeners"]
    assert found["inter.broker.listener.name"] == "REPLICATION"
    assert found["zookeeper.connect"] == "198.18.0.11:2181,198.18.0.12:2181,198.18.0.13:2181"
    assert found["offsets.topic.replication.factor"] == found["default.replication.factor"] == "3"
    assert found["transaction.state.log.min.isr"] == "2"
    assert found["zookeeper.session.timeout.ms"] == "9000"
    wrong = {"auto.create.topics.enable", "auto.leader.rebalance.enable", "unclean.leader.election.enable"}
    assert {found[name] for name in wrong} == {"false"}
    assert found["delete.topic.enable"] == found["controlled.shutdown.enable"] == "true"


@pytest.mark.parametrize(("brokers", "copies", "least"), [(1, "1", "1"), (2, "2", "2"), (3, "3", "2"), (5, "3", "2")])
def test_replication_follows_the_number_of_brokers(brokers: int, copies: str, least: str) -> None:
    """Kafka's own topics can be made whatever the size of the lab."""
    layout = LabLayout(brokers=brokers)
    found = broker_config(seats(layout)[0], seats(layout), layout)
    assert found["transaction.state.log.replication.factor"] == found["offsets.topic.replication.factor"] == copies
    assert found["transaction.state.log.min.isr"] == least


def test_layout_settings_win() -> None:
    """``broker_config`` of the layout comes over the lab's own."""
    layout = LabLayout(broker_config={"unclean.leader.election.enable": "true", "num.io.threads": "4"})
    found = broker_config(seats(layout)[0], seats(layout), layout)
    assert (found["unclean.leader.election.enable"], found["num.io.threads"]) == ("true", "4")


@pytest.mark.parametrize("layout", [LabLayout(controllers=1), LabLayout(layout={"a": ("broker 0", "controller 9")})])
def test_controllers_are_refused(layout: LabLayout) -> None:
    """With the mode to write for whoever wants them."""
    with pytest.raises(UsageError, match="for KRaft write mode: kraft"):
        MODE.check(layout)


def test_clients_may_be_told_names() -> None:
    """Of the listener for clients alone, in settings and in the inventory; it listens wherever its host is."""
    layout = LabLayout(name="named", names=True)
    found = broker_config(seats(layout)[1], seats(layout), layout)
    assert found["listeners"] == "CLIENT://:9092,REPLICATION://198.18.0.12:9093"
    assert found["advertised.listeners"] == "CLIENT://node2.named.test:9092,REPLICATION://198.18.0.12:9093"
    written = MODE.inventory(seats(layout), layout, "chaosk-named").brokers[1].listeners
    assert (written["CLIENT"].address, written["REPLICATION"].address) == ("node2.named.test", "198.18.0.12")


@pytest.mark.parametrize("name", ["broker.id", "listeners", "advertised.listeners", "zookeeper.connect", "log.dirs"])
def test_settings_the_inventory_repeats_are_refused(name: str) -> None:
    """What would make the inventory wrong is an error that names the setting."""
    with pytest.raises(UsageError, match=f"broker_config.{name}: the lab sets this itself"):
        MODE.check(LabLayout(broker_config={name: "x"}))


def test_zoo_cfg_names_every_node() -> None:
    """All nodes share one file; four-letter words are allowed, the admin server is off."""
    found = read_properties(zoo_cfg(seats(LabLayout(brokers=1, zookeepers=3))))
    assert {key: value for key, value in found.items() if key.startswith("server.")} == {
        "server.1": "198.18.0.11:2888:3888",
        "server.2": "198.18.0.12:2888:3888",
        "server.3": "198.18.0.13:2888:3888",
    }
    assert (found["4lw.commands.whitelist"], found["admin.enableServer"]) == ("*", "false")
    assert 2 * int(found["tickTime"]) <= 9000 <= 20 * int(found["tickTime"]), "the brokers' session would be cut short"


def test_files_follow_the_roles() -> None:
    """A host gets the configuration and control scripts of what runs on it, and of nothing else."""
    layout = LabLayout(brokers=1, zookeepers=2)
    both, zookeeper_only = ({file.path for file in MODE.files(one, seats(layout), layout)} for one in seats(layout))
    broker_files = {"/opt/kafka/config/server.properties", "/opt/kafka/bin/kafka-start", "/opt/kafka/bin/kafka-stop"}
    zookeeper_files = {"/opt/kafka/config/zoo.cfg", "/opt/kafka/bin/zookeeper-start", "/var/lib/zookeeper/myid"}
    assert both >= broker_files | zookeeper_files | {"/opt/kafka/bin/kafka-topics.sh"}
    assert zookeeper_only >= zookeeper_files
    assert not broker_files & zookeeper_only


def test_myid() -> None:
    """Each ZooKeeper node knows its own number."""
    layout = LabLayout()
    texts = [
        f.text for seat in seats(layout) for f in MODE.files(seat, seats(layout), layout) if f.path.endswith("myid")
    ]
    assert texts == ["1\n", "2\n", "3\n"]


def test_what_one_broker_has_for_itself_wins() -> None:
    """Its overrides come over those of all brokers, and over nobody else's; its rack and directories are its own."""
    layout = LabLayout(
        broker_config={"num.io.threads": "4"},
        broker_overrides={1: {"num.io.threads": "9"}},
        racks=("a", "b"),
        data_dirs=2,
    )
    found = [broker_config(seat, seats(layout), layout) for seat in seats(layout)]
    assert [one["num.io.threads"] for one in found] == ["4", "9", "4"]
    assert [one["broker.rack"] for one in found] == ["a", "b", "a"]
    assert found[0]["log.dirs"] == "/var/lib/kafka/disk1,/var/lib/kafka/disk2"
    written = MODE.inventory(seats(layout), layout, "chaosk-x").brokers[1]
    assert (written.rack, written.data) == ("b", ("/var/lib/kafka/disk1", "/var/lib/kafka/disk2"))


@pytest.mark.parametrize("name", ["log.dirs", "broker.rack", "zookeeper.connect"])
def test_overrides_cannot_make_the_inventory_wrong(name: str) -> None:
    """What the inventory repeats is the lab's own to set, for single brokers as for all."""
    with pytest.raises(UsageError, match=f"broker_overrides.0.{name}: the lab sets this itself"):
        MODE.check(LabLayout(broker_overrides={0: {name: "x"}}))


def test_services_start_with_zookeeper() -> None:
    """The quorum is asked to start before the brokers that need it."""
    roles = [one.role for one in MODE.services(seats(LabLayout()))]
    assert roles == ["zookeeper"] * 3 + ["broker"] * 3


def test_inventory_reads_back_from_yaml() -> None:
    """What the lab writes is what chaosk reads: typed, strict, equal."""
    layout = LabLayout(name="x", brokers=2, zookeepers=1)
    written = MODE.inventory(seats(layout), layout, "chaosk-x")
    text = yaml.safe_dump(written.model_dump(mode="json", exclude_defaults=True), sort_keys=False)
    assert Inventory.model_validate(yaml.safe_load(text)) == written
    assert written.network_namespace == "chaosk-x"
    assert written.hosts["node2"].user == "ops"
    assert written.hosts["node1"].known_hosts == "known_hosts"


def test_inventory_offers_clients_their_listener_only() -> None:
    """The replication listener is in the inventory, but no client is sent there."""
    layout = LabLayout(brokers=2, zookeepers=1)
    written = MODE.inventory(seats(layout), layout, "chaosk-x")
    assert written.bootstrap_servers() == "198.18.0.11:9092,198.18.0.12:9092"
    assert written.brokers[1].listeners["REPLICATION"].port == 9093
    assert not written.brokers[1].listeners["REPLICATION"].clients


def test_who_logs_in_has_rights_and_brokers_among_themselves_all() -> None:
    """By the authorizer that keeps ACLs in ZooKeeper; without logins there is none."""
    places = MODE.seats(LabLayout())
    secure = broker_config(places[0], places, LabLayout(secure=True))
    assert secure["authorizer.class.name"] == "kafka.security.authorizer.AclAuthorizer"
    assert secure["super.users"] == "User:ANONYMOUS;User:chaosk"
    assert secure["allow.everyone.if.no.acl.found"] == "true"
    assert "authorizer.class.name" not in broker_config(places[0], places, LabLayout())

"""Several sources, one inventory: who is believed, what follows, and what is asked."""

from __future__ import annotations

import pytest

from chaosk.discovery.findings import Findings, Learned, QuorumMember, Unlearned
from chaosk.discovery.merge import InventoryDraft, merge

pytestmark = pytest.mark.pure
B1 = ("brokers", "1")
UNIT = Learned((*B1, "service", "systemd"), "kafka.service", "its process")
LISTENER = (
    Learned((*B1, "listeners", "CLIENT", "address"), "b1", "advertised.listeners"),
    Learned((*B1, "listeners", "CLIENT", "port"), 9092, "advertised.listeners"),
)
BROKER = Findings(facts=(UNIT, *LISTENER), addresses={B1: ("b1",)})


def merged(*findings: Findings, hosts: dict[str, str] | None = None, all_brokers: bool = True) -> InventoryDraft:
    """The draft of these findings, where an address is a host of the same name."""
    every = {"b1", "b2", "192.0.2.1", "192.0.2.2", "zoo1"}
    return merge(findings, hosts or {one: one for one in every}, {}, all_brokers=all_brokers)


def value(draft: InventoryDraft, *place: str) -> object:
    """The value at a place."""
    return draft.facts[place].value


def test_a_complete_broker_leaves_no_question() -> None:
    """Its host follows from its address."""
    found = merged(BROKER)
    assert found.questions == {}
    assert value(found, *B1, "host") == "b1"


def test_the_first_source_is_believed() -> None:
    """And an inferred value gives way to that of any source."""
    late = Findings(facts=(Learned((*B1, "config"), "/etc/late", "late"), Learned((*B1, "log"), "/late", "late")))
    guess = Findings(facts=(Learned((*B1, "log"), "/guess", "guess", inferred=True),))
    early = Findings(facts=(Learned((*B1, "config"), "/etc/early", "early"),))
    found = merged(guess, early, BROKER, late)
    assert (value(found, *B1, "config"), value(found, *B1, "log")) == ("/etc/early", "/late")


def test_listeners_of_two_sources_are_not_mixed() -> None:
    """A file that was edited since the start has another listener, which does not exist."""
    edited = Findings(facts=(Learned((*B1, "listeners", "OLD", "port"), 9099, "server.properties"),))
    found = merged(BROKER, edited)
    assert [place for place in found.facts if "OLD" in place] == []


def test_a_unit_and_a_pid_file_of_two_sources_are_not_mixed() -> None:
    """A service is one or the other."""
    other = Findings(facts=(Learned((*B1, "service", "pid_file"), "/run/kafka.pid", "elsewhere"),))
    assert (*B1, "service", "pid_file") not in merged(BROKER, other).facts


def test_a_question_stands_only_where_no_source_has_a_value() -> None:
    """Also if the value is below it."""
    asking = Findings(questions=(Unlearned((*B1, "listeners"), "which?"), Unlearned((*B1, "rack"), "which?")))
    assert [*merged(asking, BROKER).questions] == [(*B1, "rack")]


def test_an_unknown_service_is_asked_for_with_the_reason() -> None:
    """The reason why its host was not asked is in the question."""
    found = merge([Findings(facts=LISTENER, addresses={B1: ("b1",)})], {"b1": "b1"}, {"b1": "login was refused"},
                  all_brokers=True)  # fmt: skip
    assert "b1 was not asked: login was refused" in found.questions[*B1, "service"].asks


def test_a_pid_file_without_programs_leaves_both_to_be_asked() -> None:
    """The pid file is kept."""
    known = Findings(facts=(Learned((*B1, "service", "pid_file"), "/run/kafka.pid", "holds its id"), *LISTENER),
                     addresses={B1: ("b1",)})  # fmt: skip
    assert [*merged(known).questions] == [(*B1, "service", "start"), (*B1, "service", "stop")]


def test_a_voter_that_is_a_broker_is_combined() -> None:
    """It gets the controller's listener, which clients do not use."""
    found = merged(BROKER, Findings(voters=(QuorumMember(1, "b1", 9093, "DescribeQuorum", "CONTROLLER"),)))
    assert value(found, *B1, "controller_listener") == "CONTROLLER"
    assert value(found, *B1, "listeners", "CONTROLLER", "clients") is False
    assert all(place[0] != "controllers" for place in found.servers())


def test_a_voter_that_is_no_broker_is_a_controller_of_its_own() -> None:
    """The cluster has named all its brokers."""
    found = merged(BROKER, Findings(voters=(QuorumMember(101, "b2", 9094, "DescribeQuorum"),)))
    assert (value(found, "controllers", "101", "port"), value(found, "controllers", "101", "host")) == (9094, "b2")


def test_beside_a_combined_node_the_kind_of_a_voter_is_asked_from_files_alone() -> None:
    """One server.properties of three does not tell whether the others are brokers as well."""
    voters = (QuorumMember(1, "b1", 9093, "voters"), QuorumMember(2, "b2", 9093, "voters"))
    found = merged(BROKER, Findings(voters=voters), all_brokers=False)
    assert "whether it is a broker as well is not known" in found.questions["controllers", "2"].asks


def test_a_zookeeper_node_that_only_a_broker_names_is_asked_for() -> None:
    """Neither id nor service is known; one whose configuration is there is not asked for."""
    seat = QuorumMember(None, "zoo1", 2181, "zookeeper.connect")
    found = merged(BROKER, Findings(keepers=(seat,)))
    assert "ZooKeeper at zoo1:2181" in found.questions["zookeepers", "1"].asks
    known = Findings(facts=(Learned(("zookeepers", "7", "service", "systemd"), "zk.service", "its process"),),
                     addresses={("zookeepers", "7"): ("zoo1",)})  # fmt: skip
    assert merged(BROKER, Findings(keepers=(seat,)), known).questions == {}


def test_a_listener_on_any_address_is_at_its_hosts() -> None:
    """`listeners=PLAINTEXT://:9092` alone advertises the host's own name."""
    port = Learned((*B1, "listeners", "PLAINTEXT", "port"), 9092, "listeners")
    known = Findings(facts=(UNIT, port, Learned((*B1, "host"), "b1", "its process"),
                            Learned(("hosts", "b1", "address"), "192.0.2.1", "--ssh")))  # fmt: skip
    assert value(merged(known), *B1, "listeners", "PLAINTEXT", "address") == "192.0.2.1"


def test_several_versions_are_remarked_on() -> None:
    """The inventory has room for one."""
    two = [Findings(facts=(Learned(("kafka", "version"), one, "jar"),)) for one in ("3.9.1", "3.9.2")]
    assert any("several versions: 3.9.1, 3.9.2" in remark.text for remark in merged(BROKER, *two).remarks)


def test_a_host_that_is_only_a_proxys_address_is_left_out() -> None:
    """The process runs elsewhere, and nothing is left to be done on the machine that is advertised."""
    proxy = Learned(("hosts", "lb", "address"), "lb", "of broker 1")
    own = Learned(("hosts", "b1", "address"), "10.0.0.1", "--ssh")
    process = Findings(facts=(Learned((*B1, "host"), "b1", "its process runs there"),))
    broker = Findings(facts=(UNIT, *LISTENER), addresses={B1: ("lb",)})
    found = merged(Findings(facts=(proxy, own)), process, broker, hosts={"lb": "lb"})
    assert [place[1] for place in found.facts if place[0] == "hosts"] == ["b1"]
    found = merged(Findings(facts=(proxy, own)), broker, hosts={"lb": "lb"})
    assert ("hosts", "lb", "address") in found.facts

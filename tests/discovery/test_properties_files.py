"""Configuration files of servers, given by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.core.errors import UsageError
from chaosk.discovery.findings import Findings
from chaosk.discovery.properties_files import properties_findings

pytestmark = pytest.mark.pure
BROKER = """\
broker.id=1
broker.rack=a
listeners=REPLICATION://:9091,CLIENT://:9092,OTHER://:9095
advertised.listeners=REPLICATION://b1:9091,CLIENT://b1.example.net:9092,OTHER://b1:9095
listener.security.protocol.map=REPLICATION:PLAINTEXT,CLIENT:SASL_SSL,OTHER:PLAINTEXT
inter.broker.listener.name=REPLICATION
zookeeper.connect=zoo1:2181,zoo2/kafka
log.dirs=/data1,/data2
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
"""


def of(folder: Path, *texts: str, secured: bool = True) -> list[Findings]:
    """The findings of files with these texts."""
    paths = []
    for number, text in enumerate(texts, 1):
        paths.append(folder / f"server{number}.properties")
        paths[-1].write_text(text, "utf-8")
    return [*properties_findings(paths, secured=secured)]


def test_a_broker(tmp_path: Path) -> None:
    """Listeners as advertised, those that clients do not use marked, directories, rack."""
    said = of(tmp_path, BROKER)[0]
    values = {fact.place[2:]: fact.value for fact in said.facts}
    assert values == {
        ("data",): ("/data1", "/data2"),
        ("rack",): "a",
        ("listeners", "REPLICATION", "address"): "b1",
        ("listeners", "REPLICATION", "port"): 9091,
        ("listeners", "REPLICATION", "clients"): False,
        ("listeners", "CLIENT", "address"): "b1.example.net",
        ("listeners", "CLIENT", "port"): 9092,
        ("listeners", "OTHER", "address"): "b1",
        ("listeners", "OTHER", "port"): 9095,
        ("listeners", "OTHER", "clients"): False,
    }
    assert [(one.address, one.port) for one in said.keepers] == [("zoo1", 2181), ("zoo2", 2181)]
    assert "AclAuthorizer" in said.remarks[0].text


def test_each_value_names_its_file_and_line(tmp_path: Path) -> None:
    """For the comment."""
    data = next(fact for fact in of(tmp_path, BROKER)[0].facts if fact.place[-1] == "data")
    assert data.source == f"log.dirs, {tmp_path / 'server1.properties'}:8"


def test_a_secured_listener_asks_for_the_settings_of_clients(tmp_path: Path) -> None:
    """Unless they are given."""
    asked = [one for said in of(tmp_path, BROKER, secured=False) for one in said.questions]
    assert [one.place for one in asked] == [("client",)]
    assert "listener CLIENT speaks SASL_SSL" in asked[0].asks


def test_a_controller(tmp_path: Path) -> None:
    """It has a port, and no listeners for clients."""
    text = (
        "process.roles=controller\nnode.id=101\nlisteners=CONTROLLER://c1:9094\ncontroller.listener.names=CONTROLLER\n"
        "controller.quorum.voters=101@c1:9094,102@[2001:db8::1]:9094\nlog.dirs=/data\nmetadata.log.dir=/meta\n"
    )
    said = of(tmp_path, text)[0]
    assert {fact.place: fact.value for fact in said.facts} == {
        ("controllers", "101", "data"): ("/data", "/meta"),
        ("controllers", "101", "port"): 9094,
    }
    assert [(one.number, one.address) for one in said.voters] == [(101, "c1"), (102, "2001:db8::1")]


def test_a_zookeeper_node(tmp_path: Path) -> None:
    """Its id is in its data directory; the others' addresses and ports are in its configuration."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "myid").write_text("2\n", "utf-8")
    text = f"dataDir={tmp_path / 'data'}\nclientPort=2182\nserver.1=zoo1:2888:3888\nserver.2=zoo2:2889:3889;2182\n"
    said = of(tmp_path, text)[0]
    values = {fact.place: fact.value for fact in said.facts if not fact.inferred}
    assert values["zookeepers", "2", "peer_ports"] == (2889, 3889)
    assert values["zookeepers", "2", "data"] == (str(tmp_path / "data"),)
    assert values["zookeepers", "2", "client_port"] == 2182
    assert said.addresses["zookeepers", "1"] == ("zoo1",)


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        (("bootstrap.servers=b1:9092\n",), "has neither node.id nor broker.id, and no dataDir"),
        ((BROKER, BROKER), "is of node 1, as .*server1.properties is"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, texts: tuple[str, ...], what: str) -> None:
    """One line names the file and the remedy."""
    with pytest.raises(UsageError, match=what):
        of(tmp_path, *texts)

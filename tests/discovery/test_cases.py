"""Files that people had at hand: each gives an inventory with few questions, which runs once they are answered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode
from chaosk.document import load_inventory
from chaosk.spec.inventory import Inventory

pytestmark = pytest.mark.pure
ANSIBLE = """\
all:
  vars: {ansible_connection: ssh, ansible_user: ec2-user, ansible_become: true, ansible_ssh_private_key_file: /home/ec2-user/guest.pem, ssl_enabled: true}
kafka_controller:
  hosts: {c1.example.net: , c2.example.net: , c3.example.net: }
kafka_broker:
  hosts: {b1.example.net: , b2.example.net: , b3.example.net: }
"""  # noqa: E501 - as it was
SERVER = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@192.0.2.1:9093,2@192.0.2.2:9093,3@192.0.2.3:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://192.0.2.1:9092,CONTROLLER://192.0.2.1:9093
log.dirs=/data1/kafka,/data2/kafka
"""
JAVA = """\
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="app" password="x";
ssl.truststore.location=/nowhere/truststore.jks
ssl.truststore.password=changeit
ssl.endpoint.identification.algorithm=
"""
_QUESTION = re.compile(r'"\?\?\? (.*)"$', re.MULTILINE)


def discovered(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The inventory with open questions that a command prints; all of them are told on standard error as well."""
    assert main(["discover", *map(str, words)]) == ExitCode.PREFLIGHT
    said = capsys.readouterr()
    assert said.err.count("is an open question") == len(_QUESTION.findall(said.out)) > 0
    return said.out


def answered(folder: Path, text: str, *answers: str) -> Inventory:
    """The inventory with these answers in place of its questions, in their order."""
    rest = iter(answers)
    file = folder / "cluster.yaml"
    file.write_text(_QUESTION.sub(lambda _: next(rest), text), "utf-8")
    assert next(rest, None) is None
    found = load_inventory(file)
    assert isinstance(found, Inventory)
    return found


def test_an_inventory_of_confluents_roles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the authority's certificate is unknown: units, ids and ports are those roles' own."""
    file = tmp_path / "hosts.yml"
    file.write_text(ANSIBLE, "utf-8")
    found = answered(tmp_path, discovered(capsys, "--ansible", file), "/etc/ssl/ca.pem")
    assert sorted(found.brokers) == [1, 2, 3]
    assert sorted(found.controllers) == [9991, 9992, 9993]
    assert found.hosts["b1.example.net"].user == "ec2-user"
    assert found.client["security.protocol"] == "SSL"
    assert found.bootstrap_servers() == "b1.example.net:9092,b2.example.net:9092,b3.example.net:9092"


def test_one_server_properties_of_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It does not tell how it is started, nor what the other two voters are."""
    file = tmp_path / "server.properties"
    file.write_text(SERVER, "utf-8")
    text = discovered(capsys, "--properties", file)
    assert [asks.partition(";")[0] for asks in _QUESTION.findall(text)] == [
        "how is it started and stopped? 192.0.2.1 was not asked: name --ssh USER@ to ask the hosts",
        (
            "192.0.2.2:9093 is a voter of the quorum (controller.quorum.voters, "
            f"{file}:3), and whether it is a broker as well is not known"
        ),
        (
            "192.0.2.3:9093 is a voter of the quorum (controller.quorum.voters, "
            f"{file}:3), and whether it is a broker as well is not known"
        ),
    ]
    own = "{host: 192.0.2.2, service: {systemd: kafka.service}, port: 9093}"
    found = answered(tmp_path, text, "{systemd: kafka.service}", own, own.replace("0.2.2", "0.2.3"))
    assert found.brokers[1].data == ("/data1/kafka", "/data2/kafka")
    assert found.brokers[1].controller_listener == "CONTROLLER"


def test_all_three_server_properties(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More files after the first; only the services are left to be asked."""
    files = []
    for number in (1, 2, 3):
        files.append(tmp_path / f"server{number}.properties")
        own = SERVER.replace("node.id=1", f"node.id={number}").replace("//192.0.2.1", f"//192.0.2.{number}")
        files[-1].write_text(own, "utf-8")
    text = discovered(capsys, "--properties", *files)
    found = answered(tmp_path, text, *["{systemd: kafka.service}"] * 3)
    assert sorted(found.voters()) == sorted(found.brokers) == [1, 2, 3]
    assert found.controllers == {}


def test_a_java_clients_file_beside_servers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its login is translated; a trust store that is not on this machine is asked for."""
    server, client = tmp_path / "server.properties", tmp_path / "client.properties"
    text = "broker.id=1\nlisteners=SASL_SSL://b1:9093\nlog.dirs=/data\nzookeeper.connect=zoo1:2181\n"
    server.write_text(text, "utf-8")
    client.write_text(JAVA, "utf-8")
    said = discovered(capsys, "--properties", server, "--command-config", client)
    zookeeper = "{host: zoo1, service: {systemd: zookeeper.service}}"
    found = answered(tmp_path, said, "{systemd: kafka.service}", zookeeper, "/etc/ca.pem")
    assert found.client["sasl.username"] == "app"
    assert found.client["ssl.endpoint.identification.algorithm"] == "none"
    assert found.client["ssl.ca.location"] == "/etc/ca.pem"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "name what to ask: --bootstrap HOST:PORT, or files"),
        (["file.properties"], "file.properties: name files of servers after --properties"),
        (["--bootstrap", "b1"], "--bootstrap b1: no address; write HOST:PORT"),
        (["--ansible", "no.yml"], "no.yml:1:1: cannot be read"),
        (["--bootstrap", "b1:1", "--ssh", "a b"], "--ssh a b: no login"),
        (["--bootstrap", "b1:1", "--ssh-config", "no"], "no: cannot be read"),
        (["--inventory", "no.yaml"], "no.yaml:1:1: cannot be read"),
        (["--inventory", "no.yaml", "--ansible", "x"], "--ansible and --inventory: the inventory has it already"),
    ],
)
def test_wrong_words(capsys: pytest.CaptureFixture[str], words: list[str], what: str) -> None:
    """One line, exit code 64."""
    assert main(["discover", *words]) == ExitCode.USAGE
    assert what in capsys.readouterr().err


def test_a_cluster_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each address, with the remedy; nothing on standard output."""
    assert main(["discover", "--bootstrap", "127.0.0.1:1"]) == ExitCode.PREFLIGHT
    said = capsys.readouterr()
    assert said.out == ""
    assert "127.0.0.1:1): connection refused; check the address; if that listener speaks TLS" in said.err

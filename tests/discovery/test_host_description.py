"""What a host prints about itself, and what follows for the inventory."""

from __future__ import annotations

import pytest

from chaosk.core.errors import StepError
from chaosk.discovery.findings import Findings
from chaosk.discovery.host_description import WayToRun, home_of, log_of, read, version_of, ways_to_run
from chaosk.discovery.host_findings import host_findings

pytestmark = pytest.mark.pure
HOST = """\
uid 0
hostname kafka1
address 192.0.2.1
system Debian GNU/Linux 12 (bookworm)
timer systemd
firewall nft
server 80
account cp-kafka
kind kafka
config /etc/kafka/server.properties
setting broker.id=3
setting listeners=INTERNAL://:9092
unit confluent-server.service
jar /usr/share/java/kafka/kafka-clients-7.6.0-ccs.jar
lock /mnt/b
lock /mnt/a
log /var/log/kafka/server.log
log /var/log/kafka/controller.log
java 17.0.15
port 9092
"""


def facts(text: str) -> dict[tuple[str, ...], object]:
    """What the processes of a host say, by place."""
    found = host_findings("kafka1", "192.0.2.1", read("kafka1", text))
    return {fact.place: fact.value for one in found.processes for fact in one.facts}


def one(text: str) -> Findings:
    """The findings about the only process."""
    return host_findings("kafka1", "192.0.2.1", read("kafka1", text)).processes[1]


def test_a_broker_of_a_unit() -> None:
    """Its unit, its directories by the locks it holds, its own log, its version."""
    broker = ("brokers", "3")
    assert facts(HOST) == {
        (*broker, "host"): "kafka1",
        (*broker, "service", "systemd"): "confluent-server.service",
        (*broker, "config"): "/etc/kafka/server.properties",
        (*broker, "data"): ("/mnt/a", "/mnt/b"),
        (*broker, "log"): "/var/log/kafka/server.log",
        ("kafka", "version"): "7.6.0-ccs",
    }


def test_the_host_is_described_in_a_remark() -> None:
    """Distribution, init system, Java, firewall, root."""
    remark = host_findings("kafka1", "192.0.2.1", read("kafka1", HOST)).processes[0].remarks[0]
    assert remark.text == "Debian GNU/Linux 12 (bookworm), systemd, Java 17.0.15, nft, root by sudo"


def test_a_server_in_a_container_gets_a_question() -> None:
    """Its process cannot be acted on; a unit would be that of the container."""
    found = one(HOST + "container its control group\n")
    assert [question.place for question in found.questions] == [("brokers", "3", "service")]
    assert all("service" not in fact.place for fact in found.facts)


def test_a_server_without_an_id_is_remarked_on() -> None:
    """As with broker.id.generation.enable: the id is in meta.properties only."""
    found = one(HOST.replace("setting broker.id=3\n", ""))
    assert found.facts == ()
    assert "a server of Kafka, whose id cannot be read" in found.remarks[0].text


@pytest.mark.parametrize("line", ["uid zero", "unheard of", "server 80\nport many", "server 80\nprogram /x"])
def test_a_malformed_answer_is_an_error(line: str) -> None:
    """One line names the host and what it said."""
    with pytest.raises(StepError, match="kafka1: cannot parse what this host says of itself"):
        read("kafka1", f"uid 0\n{line}\n")


@pytest.mark.parametrize(
    ("lines", "way"),
    [
        (
            "pid_file /run/k.pid\nprogram /o/kafka-start\nprogram /o/kafka-stop",
            WayToRun("/run/k.pid", ("/o/kafka-start",), ("/o/kafka-stop",)),
        ),
        (
            "pid_file /run/k.pid\nprogram /o/kafka-start\nbeside /o/kafka-stop",
            WayToRun("/run/k.pid", ("/o/kafka-start",), ("/o/kafka-stop",)),
        ),
        (
            "pid_file /run/k.pid\nprogram /etc/init.d/kafka",
            WayToRun("/run/k.pid", ("/etc/init.d/kafka", "start"), ("/etc/init.d/kafka", "stop")),
        ),
        ("pid_file /run/k.pid", WayToRun("/run/k.pid")),
        ("pid_file /run/k.pid\nprogram /o/a-start\nprogram /o/b-start", WayToRun("/run/k.pid")),
    ],
)
def test_ways_to_run(lines: str, way: WayToRun) -> None:
    """Programs that name the pid file; of several that could be meant, none is chosen."""
    server = read("h", f"uid 0\nserver 80\n{lines}\n").servers[0]
    assert next(ways_to_run(server)) == way


def test_jars_and_logs() -> None:
    """Near misses: Connect's jars say nothing, and of two unknown logs none stands out."""
    assert version_of(["/opt/kafka/libs/connect-api-3.9.2.jar"]) is None
    assert home_of(["/opt/kafka/libs/kafka-clients-3.9.2.jar"]) == "/opt/kafka"
    assert home_of(["/usr/share/java/kafka/kafka-clients-7.6.0-ccs.jar"]) is None
    assert log_of(["/var/log/a.log", "/var/log/b.log"]) is None
    assert log_of(["/var/log/a.log"]) == "/var/log/a.log"


def test_a_process_that_listens_elsewhere_is_remarked_on() -> None:
    """Its configuration was edited since it was started, or something else listens there."""
    assert [remark for remark in one(HOST).remarks if "listen" in remark.text] == []
    found = one(HOST.replace("port 9092", "port 9192"))
    assert [remark.text for remark in found.remarks if "listen" in remark.text] == [
        "its process does not listen on 9092, as its configuration has it"
    ]

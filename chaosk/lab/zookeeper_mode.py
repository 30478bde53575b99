"""Kafka 3.x with its metadata in ZooKeeper: services, configuration and inventory. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from chaosk.errors import UsageError
from chaosk.inventory import Broker, Host, Inventory, Kafka, LabLayout, Listener, ScriptService, ZooKeeper
from chaosk.lab import launchers
from chaosk.lab.mode import Mode
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service

BROKER_LOG = "/var/log/kafka/server.log"
ZOOKEEPER_LOG = "/var/log/zookeeper/zookeeper.log"
BROKER_CONFIG = "/opt/kafka/config/server.properties"
ZOOKEEPER_CONFIG = "/opt/kafka/config/zoo.cfg"
CLIENT_PORT = 9092
REPLICATION_PORT = 9093
ZOOKEEPER_PORT = 2181
"""Every ZooKeeper node answers its clients here."""

_OWN = frozenset(
    {"broker.id", "listeners", "advertised.listeners", "inter.broker.listener.name", "zookeeper.connect", "log.dirs"}
)
"""Settings the inventory repeats: another value here would make it wrong."""


@dataclass(frozen=True, slots=True)
class ZooKeeperMode(Mode):
    """Brokers that elect their controller through ZooKeeper."""

    @override
    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for settings that would make the inventory wrong."""
        for name in sorted(_OWN & layout.broker_config.keys()):
            raise UsageError(f"broker_config.{name}: the lab sets this itself, by host; leave it out")

    @override
    def dependencies(self, layout: LabLayout) -> tuple[str, ...]:
        """Kafka, its tools, and the binding that lets it log through log4j 1."""
        return (
            f"org.apache.kafka:kafka_2.13:{layout.kafka}",
            f"org.apache.kafka:kafka-tools:{layout.kafka}",
            "org.slf4j:slf4j-reload4j:1.7.36",
        )

    @override
    def services(self, seats: tuple[Seat, ...]) -> tuple[Service, ...]:
        """ZooKeeper first: brokers wait for it."""
        nodes = [zookeeper(seat.host, seat.address, seat.zookeeper) for seat in seats if seat.zookeeper is not None]
        brokers = [broker(seat.host, seat.address, seat.broker) for seat in seats if seat.broker is not None]
        return (*nodes, *brokers)

    @override
    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """Kafka's tools on every host; configuration and control of what has a seat there."""
        files = launchers.tools()
        if seat.zookeeper is not None:
            files += launchers.control("zookeeper", launchers.ZOOKEEPER, "zoo.cfg", "128m", ZOOKEEPER_LOG)
            files += (
                HostFile(ZOOKEEPER_CONFIG, zoo_cfg(seats)),
                HostFile("/var/lib/zookeeper/myid", f"{seat.zookeeper}\n"),
            )
        if seat.broker is not None:
            files += launchers.control("kafka", launchers.BROKER, "server.properties", "320m", BROKER_LOG)
            files += (HostFile(BROKER_CONFIG, properties(broker_config(seat, seats, layout))),)
        return files

    @override
    def inventory(self, seats: tuple[Seat, ...], layout: LabLayout, namespace: str) -> Inventory:
        """Hosts reached as ops, brokers and ZooKeeper nodes controlled by scripts."""
        hosts = {
            seat.host: Host(address=seat.address, key_file="client_key", known_hosts="known_hosts") for seat in seats
        }
        return Inventory(
            name=layout.name,
            network_namespace=namespace,
            hosts=hosts,
            brokers={one.number: _broker_entry(one) for one in self.services(seats) if one.role == "broker"},
            zookeepers={one.number: _zookeeper_entry(one) for one in self.services(seats) if one.role == "zookeeper"},
            kafka=Kafka(home="/opt/kafka", version=layout.kafka),
        )


def broker(host: str, address: str, number: int) -> Service:
    """How the broker ``number`` is handled."""
    return Service(
        role="broker",
        number=number,
        host=host,
        address=address,
        port=CLIENT_PORT,
        start=(f"{launchers.BIN}/kafka-start",),
        stop=(f"{launchers.BIN}/kafka-stop",),
        pid_file="/run/kafka/kafka.pid",
        config=BROKER_CONFIG,
        data="/var/lib/kafka",
        log=BROKER_LOG,
    )


def zookeeper(host: str, address: str, number: int) -> Service:
    """How the ZooKeeper node ``number`` is handled."""
    return Service(
        role="zookeeper",
        number=number,
        host=host,
        address=address,
        port=ZOOKEEPER_PORT,
        start=(f"{launchers.BIN}/zookeeper-start",),
        stop=(f"{launchers.BIN}/zookeeper-stop",),
        pid_file="/run/kafka/zookeeper.pid",
        config=ZOOKEEPER_CONFIG,
        data="/var/lib/zookeeper",
        log=ZOOKEEPER_LOG,
    )


def _broker_entry(one: Service) -> Broker:
    return Broker(
        host=one.host,
        service=ScriptService(start=one.start, stop=one.stop, pid_file=one.pid_file),
        config=one.config,
        data=(one.data,),
        log=one.log,
        listeners={
            "CLIENT": Listener(address=one.address, port=CLIENT_PORT),
            "REPLICATION": Listener(address=one.address, port=REPLICATION_PORT, clients=False),
        },
    )


def _zookeeper_entry(one: Service) -> ZooKeeper:
    return ZooKeeper(
        host=one.host,
        service=ScriptService(start=one.start, stop=one.stop, pid_file=one.pid_file),
        config=one.config,
        data=(one.data,),
        log=one.log,
        client_port=one.port,
    )


def zoo_cfg(seats: tuple[Seat, ...]) -> str:
    """``zoo.cfg`` of every node: the same file for all, only ``myid`` differs."""
    servers = {f"server.{seat.zookeeper}": f"{seat.address}:2888:3888" for seat in seats if seat.zookeeper is not None}
    return properties(
        {
            "dataDir": "/var/lib/zookeeper",
            "clientPort": str(ZOOKEEPER_PORT),
            "tickTime": "2000",
            "initLimit": "5",
            "syncLimit": "2",
            "maxClientCnxns": "0",
            "4lw.commands.whitelist": "*",
            "admin.enableServer": "false",
            **servers,
        }
    )


def broker_config(seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> dict[str, str]:
    """The settings of the broker on ``seat``; those of the layout come last and win."""
    copies = str(min(3, sum(other.broker is not None for other in seats)))
    nodes = ",".join(f"{other.address}:{ZOOKEEPER_PORT}" for other in seats if other.zookeeper is not None)
    listeners = f"CLIENT://{seat.address}:{CLIENT_PORT},REPLICATION://{seat.address}:{REPLICATION_PORT}"
    return {
        "broker.id": str(seat.broker),
        "listeners": listeners,
        "advertised.listeners": listeners,
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT",
        "inter.broker.listener.name": "REPLICATION",
        "zookeeper.connect": nodes,
        "zookeeper.session.timeout.ms": "9000",
        "zookeeper.connection.timeout.ms": "60000",  # a broker may be up before its quorum is
        "log.dirs": "/var/lib/kafka",
        "default.replication.factor": copies,
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.num.partitions": "5",
        "transaction.state.log.min.isr": str(min(2, int(copies))),
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        "auto.leader.rebalance.enable": "false",
        "delete.topic.enable": "true",
        "unclean.leader.election.enable": "false",
        "controlled.shutdown.enable": "true",
        **layout.broker_config,
    }


def properties(settings: dict[str, str]) -> str:
    r"""A Java properties file; backslashes and line ends inside a value are escaped, as ``java.util.Properties`` reads.

    >>> properties({"a": "b"})
    'a=b\n'
    """
    return "".join(f"{_escaped(key, ':= ')}={_escaped(value, '')}\n" for key, value in settings.items())


def _escaped(text: str, separators: str) -> str:
    for plain, written in (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), *((one, f"\\{one}") for one in separators)):
        text = text.replace(plain, written)
    return text if not text.startswith((" ", "#", "!")) else f"\\{text}"

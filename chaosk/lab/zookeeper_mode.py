"""Kafka 3.x with its metadata in ZooKeeper: services, configuration and inventory. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from chaosk.core.errors import UsageError
from chaosk.lab import broker, launchers
from chaosk.lab.launchers import Control
from chaosk.lab.logfiles import LOG4J_1
from chaosk.lab.mode import Mode
from chaosk.lab.properties import properties
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service
from chaosk.spec.inventory import ZooKeeper
from chaosk.spec.lab_layout import LabLayout

ZOOKEEPER_LOG = "/var/log/zookeeper/zookeeper.log"
ZOOKEEPER_CONFIG = "/opt/kafka/config/zoo.cfg"
ZOOKEEPER_PORT = 2181
"""The client port of every ZooKeeper node."""

_OWN = broker.OWN | {"broker.id", "zookeeper.connect"}


@dataclass(frozen=True, slots=True)
class ZooKeeperMode(Mode):
    """Brokers that elect their controller through ZooKeeper."""

    metadata = "zookeeper"

    @override
    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for layouts of KRaft, and for settings that would contradict the inventory."""
        if layout.controllers or any(role.startswith("controller") for role in layout.roles()):
            raise UsageError("controllers: a cluster with ZooKeeper has none of their own; for KRaft write mode: kraft")
        broker.check(layout, _OWN)

    @override
    def keeper(self, host: str, address: str, number: int) -> Service:
        """Return the service of a ZooKeeper node."""
        return broker.scripted(
            "zookeeper", "zookeeper", number, host=host, address=address, port=ZOOKEEPER_PORT, config=ZOOKEEPER_CONFIG,
            data=("/var/lib/zookeeper",), log=ZOOKEEPER_LOG,
        )  # fmt: skip

    @override
    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """Return Kafka's tools, and the files of the ZooKeeper node and the broker on ``seat``."""
        files, again = launchers.tools(layout.kafka), layout.supervised
        if seat.zookeeper is not None:
            control = Control("zookeeper", launchers.ZOOKEEPER, "zoo.cfg", "128m", ZOOKEEPER_LOG, LOG4J_1)
            files += control.files(again=again)
            files += (
                HostFile(ZOOKEEPER_CONFIG, zoo_cfg(seats)),
                HostFile("/var/lib/zookeeper/myid", f"{seat.zookeeper}\n"),
            )
        if seat.broker is not None:
            control = Control("kafka", launchers.BROKER, "server.properties", "320m", broker.LOG, LOG4J_1)
            files += control.files(again=again)
            files += (HostFile(broker.CONFIG, properties(broker_config(seat, seats, layout))),)
        return files

    @override
    def servers(self, seats: tuple[Seat, ...]) -> dict[str, Any]:
        """Return brokers and ZooKeeper nodes."""
        return {
            "brokers": {one.number: broker.entry(one) for one in broker.services(seats)},
            "zookeepers": {
                one.number: ZooKeeper(**broker.process(one), client_port=one.port) for one in self.keepers(seats)
            },
        }


def zoo_cfg(seats: tuple[Seat, ...]) -> str:
    """Return ``zoo.cfg``, the same for every node; only ``myid`` differs."""
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
    """Return the settings of the broker on ``seat``; those of the layout override the others."""
    nodes = ",".join(f"{other.address}:{ZOOKEEPER_PORT}" for other in seats if other.zookeeper is not None)
    return {
        "broker.id": str(seat.broker),
        **broker.listeners(seat),
        **broker.protocols(layout, "CLIENT", "REPLICATION"),
        **broker.authorizer(layout, "kafka.security.authorizer.AclAuthorizer"),
        "inter.broker.listener.name": "REPLICATION",
        "zookeeper.connect": nodes,
        "zookeeper.session.timeout.ms": "9000",
        "zookeeper.connection.timeout.ms": "60000",  # a broker may start before ZooKeeper has a quorum
        **broker.settings(seats, layout),
        **broker.own(seat, layout),
    }

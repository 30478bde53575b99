"""Kafka with its metadata in a quorum of controllers (KRaft): services, configuration and inventory. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from chaosk.cluster.wire import Place
from chaosk.core.errors import UsageError
from chaosk.lab import broker, jars, launchers, seating
from chaosk.lab.launchers import BROKER, Control
from chaosk.lab.logfiles import logging_of
from chaosk.lab.mode import Mode
from chaosk.lab.properties import properties
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service
from chaosk.spec.inventory import Controller, Inventory, Kafka, Listener, ScriptService
from chaosk.spec.lab_layout import LabLayout

CONTROLLER = "kafka-controller"
"""What a controller with a process of its own is called on its host."""
CONFIG = "/opt/kafka/config/controller.properties"
DATA = "/var/lib/kafka-controller"
LOG = "/var/log/kafka-controller/controller.log"
PORT = 9094
"""Every controller answers here, also one that is a broker as well."""
CLUSTER_ID = "Y2hhb3NrLWxhYnMtb3duIQ"
"""The same for all labs: they do not meet."""
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
COMBINED = 3
"""Of so many brokers each is a controller as well, where no controller has a process of its own."""

_OWN = broker.OWN | {"node.id", "process.roles", "controller.quorum.voters", "controller.listener.names"}


@dataclass(frozen=True, slots=True)
class KRaftMode(Mode):
    """Brokers, and a quorum of controllers: processes of their own, or the first brokers' as well."""

    @override
    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for ZooKeeper nodes, and for settings that would make the inventory wrong."""
        if "zookeepers" in layout.model_fields_set or any(role.startswith("zookeeper") for role in layout.roles()):
            raise UsageError("zookeepers: a cluster in KRaft mode has none; leave them out, or write controllers")
        broker.check(layout, _OWN)

    @override
    def dependencies(self, layout: LabLayout) -> tuple[str, ...]:
        """Kafka, its tools, and a way to log."""
        return jars.dependencies(layout.kafka)

    @override
    def seats(self, layout: LabLayout) -> tuple[Seat, ...]:
        """Brokers, and controllers that are none."""
        return seating.seats(layout, "controller")

    @override
    def services(self, seats: tuple[Seat, ...]) -> tuple[Service, ...]:
        """Controllers first: brokers wait for them."""
        own = [controller(seat.host, seat.address, seat.controller) for seat in seats if seat.controller is not None]
        return (*own, *broker.services(seats))

    @override
    def controllers(self, seats: tuple[Seat, ...]) -> dict[int, Place]:
        """Those with a process of their own, else the first brokers."""
        return {number: Place(f"controller {number}", at, PORT) for number, at in voters(seats).items()}

    @override
    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """Kafka's tools on every host; configuration and control of what has a seat there."""
        files, logging = launchers.tools(layout.kafka), logging_of(layout.kafka)
        if seat.controller is not None:
            files += Control(CONTROLLER, BROKER, "controller.properties", "192m", LOG, logging, CLUSTER_ID).files(
                again=layout.supervised
            )
            files += (HostFile(CONFIG, properties(controller_config(seat, seats, layout))),)
        if seat.broker is not None:
            files += Control("kafka", BROKER, "server.properties", "320m", broker.LOG, logging, CLUSTER_ID).files(
                again=layout.supervised
            )
            files += (HostFile(broker.CONFIG, properties(broker_config(seat, seats, layout))),)
        return files

    @override
    def inventory(self, seats: tuple[Seat, ...], layout: LabLayout, namespace: str) -> Inventory:
        """Hosts reached as ops, brokers and controllers controlled by scripts."""
        quorum = voters(seats)
        every = self.services(seats)
        return Inventory(
            name=layout.name,
            network_namespace=namespace,
            hosts=broker.hosts(seats),
            brokers={
                one.number: broker.entry(one, _listener(one) if one.number in quorum else None)
                for one in every
                if one.role == "broker"
            },
            controllers={one.number: _entry(one) for one in every if one.role == "controller"},
            kafka=Kafka(home="/opt/kafka", version=layout.kafka),
        )


def voters(seats: tuple[Seat, ...]) -> dict[int, str]:
    """The quorum: by node id the address. Of two brokers only one is a controller: two could not lose any."""
    own = {seat.controller: seat.address for seat in seats if seat.controller is not None}
    if own:
        return own
    brokers = {seat.broker: seat.address for seat in seats if seat.broker is not None}
    return dict(list(brokers.items())[: COMBINED if len(brokers) >= COMBINED else 1])


def controller(host: str, address: str, number: int) -> Service:
    """How the controller ``number`` is handled that has a process of its own."""
    return Service(
        role="controller",
        number=number,
        host=host,
        address=address,
        port=PORT,
        start=(f"{launchers.BIN}/{CONTROLLER}-start",),
        stop=(f"{launchers.BIN}/{CONTROLLER}-stop",),
        pid_file=f"/run/kafka/{CONTROLLER}.pid",
        config=CONFIG,
        data=(DATA,),
        log=LOG,
    )


def _entry(one: Service) -> Controller:
    return Controller(
        host=one.host,
        service=ScriptService(start=one.start, stop=one.stop, pid_file=one.pid_file),
        config=one.config,
        data=one.data,
        log=one.log,
        port=one.port,
    )


def _listener(one: Service) -> Listener:
    return Listener(address=one.address, port=PORT, clients=False)


def _quorum_settings(seats: tuple[Seat, ...]) -> dict[str, str]:
    return {
        "controller.quorum.voters": ",".join(f"{number}@{at}:{PORT}" for number, at in voters(seats).items()),
        "controller.listener.names": broker.CONTROLLER_LISTENER,
    }


def controller_config(seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> dict[str, str]:
    """The settings of the controller on ``seat``; it decides by the cluster's settings, so it has them, too."""
    return {
        "node.id": str(seat.controller),
        "process.roles": "controller",
        "listeners": f"{broker.CONTROLLER_LISTENER}://{seat.address}:{PORT}",
        "log.dirs": DATA,
        **_quorum_settings(seats),
        **broker.protocols(layout, "CLIENT", "REPLICATION", broker.CONTROLLER_LISTENER),
        **broker.authorizer(layout, AUTHORIZER),
        **broker.settings(seats, layout),
    }


def broker_config(seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> dict[str, str]:
    """The settings of the broker on ``seat``; those of the layout come last and win."""
    combined = seat.broker in voters(seats)
    listeners = broker.listeners(seat)
    if combined:
        listeners["listeners"] += f",{broker.CONTROLLER_LISTENER}://{seat.address}:{PORT}"
    return {
        "node.id": str(seat.broker),
        "process.roles": "broker,controller" if combined else "broker",
        **listeners,
        "inter.broker.listener.name": "REPLICATION",
        "broker.session.timeout.ms": "9000",
        **_quorum_settings(seats),
        **broker.protocols(layout, "CLIENT", "REPLICATION", broker.CONTROLLER_LISTENER),
        **broker.authorizer(layout, AUTHORIZER),
        **broker.settings(seats, layout),
        **broker.own(seat, layout),
    }

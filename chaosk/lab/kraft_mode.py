"""Kafka with its metadata in a quorum of controllers (KRaft): services, configuration and inventory. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from chaosk.cluster.wire import Endpoint
from chaosk.core.errors import UsageError
from chaosk.lab import broker, launchers
from chaosk.lab.launchers import BROKER, Control
from chaosk.lab.logfiles import logging_of
from chaosk.lab.mode import Mode
from chaosk.lab.properties import properties
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service
from chaosk.spec.inventory import Controller, Listener
from chaosk.spec.lab_layout import LabLayout

CONTROLLER = "kafka-controller"
"""The service name of a controller with a separate process."""
CONFIG = "/opt/kafka/config/controller.properties"
DATA = "/var/lib/kafka-controller"
LOG = "/var/log/kafka-controller/controller.log"
PORT = 9094
"""The port of every controller, also of one that is a broker as well."""
CLUSTER_ID = "Y2hhb3NrLWxhYnMtb3duIQ"
"""The same for all labs, which are isolated from each other."""
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
COMBINED = 3
"""Number of brokers that are controllers as well, if no controller has a separate process."""

_OWN = broker.OWN | {"node.id", "process.roles", "controller.quorum.voters", "controller.listener.names"}


@dataclass(frozen=True, slots=True)
class KRaftMode(Mode):
    """Brokers, and a quorum of controllers: separate processes, or the first brokers."""

    metadata = "controller"

    @override
    def check(self, layout: LabLayout) -> None:
        """Raise UsageError for ZooKeeper nodes, and for settings that would contradict the inventory."""
        if "zookeepers" in layout.model_fields_set or any(role.startswith("zookeeper") for role in layout.roles()):
            raise UsageError("zookeepers: a cluster in KRaft mode has none; leave them out, or write controllers")
        broker.check(layout, _OWN)

    @override
    def keeper(self, host: str, address: str, number: int) -> Service:
        """Return the service of a controller that is no broker."""
        return broker.scripted(
            CONTROLLER,
            "controller",
            number,
            host=host,
            address=address,
            port=PORT,
            config=CONFIG,
            data=(DATA,),
            log=LOG,
        )

    @override
    def controllers(self, seats: tuple[Seat, ...]) -> dict[int, Endpoint]:
        """Return the separate controllers, or otherwise the first brokers."""
        return {number: Endpoint(f"controller {number}", at, PORT) for number, at in voters(seats).items()}

    @override
    def files(self, seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> tuple[HostFile, ...]:
        """Return Kafka's tools, and the files of the controller and the broker on ``seat``."""
        files, logging, again = launchers.tools(layout.kafka), logging_of(layout.kafka), layout.supervised
        if seat.controller is not None:
            control = Control(CONTROLLER, BROKER, "controller.properties", "192m", LOG, logging, CLUSTER_ID)
            files += control.files(again=again)
            files += (HostFile(CONFIG, properties(controller_config(seat, seats, layout))),)
        if seat.broker is not None:
            control = Control("kafka", BROKER, "server.properties", "320m", broker.LOG, logging, CLUSTER_ID)
            files += control.files(again=again)
            files += (HostFile(broker.CONFIG, properties(broker_config(seat, seats, layout))),)
        return files

    @override
    def servers(self, seats: tuple[Seat, ...]) -> dict[str, Any]:
        """Return brokers, some of them also controllers if none is separate, and controllers."""
        quorum = voters(seats)
        return {
            "brokers": {
                one.number: broker.entry(one, _listener(one) if one.number in quorum else None)
                for one in broker.services(seats)
            },
            "controllers": {
                one.number: Controller(**broker.process(one), port=one.port) for one in self.keepers(seats)
            },
        }


def voters(seats: tuple[Seat, ...]) -> dict[int, str]:
    """Return the quorum's addresses by node id. Of two brokers only one is a controller: two could not lose any."""
    own = {seat.controller: seat.address for seat in seats if seat.controller is not None}
    if own:
        return own
    brokers = {seat.broker: seat.address for seat in seats if seat.broker is not None}
    return dict(list(brokers.items())[: COMBINED if len(brokers) >= COMBINED else 1])


def _listener(one: Service) -> Listener:
    return Listener(address=one.address, port=PORT, clients=False)


def _quorum_settings(seats: tuple[Seat, ...]) -> dict[str, str]:
    return {
        "controller.quorum.voters": ",".join(f"{number}@{at}:{PORT}" for number, at in voters(seats).items()),
        "controller.listener.names": broker.CONTROLLER_LISTENER,
    }


def controller_config(seat: Seat, seats: tuple[Seat, ...], layout: LabLayout) -> dict[str, str]:
    """Return the settings of the controller on ``seat``, including the cluster's, which it also decides by."""
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
    """Return the settings of the broker on ``seat``; those of the layout override the others."""
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

"""Parts of a lab's broker that are the same in every mode: service, settings, entry in the inventory. Pure."""

from __future__ import annotations

from typing import Any

from chaosk.core.errors import UsageError
from chaosk.lab import launchers
from chaosk.lab.seating import Role, Seat
from chaosk.lab.service import Service
from chaosk.spec.inventory import Broker, Host, Listener, ScriptService
from chaosk.spec.lab_layout import LabLayout

LOG = "/var/log/kafka/server.log"
CONFIG = "/opt/kafka/config/server.properties"
CLIENT_PORT = 9092
REPLICATION_PORT = 9093
LISTENER_FILE = "/opt/kafka/config/client-listener.pem"
"""Key and certificate of the listener for clients, if it uses TLS."""
TRUST_FILE = "/opt/kafka/config/client-ca.pem"
"""The certificate authority of that certificate."""
TOOLS_FILE = "/opt/kafka/config/client.properties"
"""Client properties of Kafka's own tools for that listener."""
USER = "chaosk"
"""The login of chaosk and of Kafka's own tools there."""
CONTROLLER_LISTENER = "CONTROLLER"
"""The name of the listener for controllers, in KRaft."""

OWN = frozenset({"listeners", "advertised.listeners", "inter.broker.listener.name", "log.dirs", "broker.rack"})
"""Settings that the inventory repeats in every mode: another value would contradict it."""


def check(layout: LabLayout, own: frozenset[str]) -> None:
    """Raise UsageError if the layout has settings that the lab itself sets."""
    every = {f"broker_overrides.{number}": config for number, config in layout.broker_overrides.items()}
    for where, config in {"broker_config": layout.broker_config, **every}.items():
        for name in sorted(own & config.keys()):
            raise UsageError(f"{where}.{name}: the lab sets this itself, by host; leave it out")


def service(seat: Seat, number: int) -> Service:
    """Return the service of the broker ``number`` on ``seat``."""
    return scripted(
        "kafka", "broker", number, host=seat.host, address=seat.address, port=REPLICATION_PORT, config=CONFIG,
        data=seat.data, rack=seat.rack, advertised=seat.advertised, log=LOG,
    )  # fmt: skip


def scripted(name: str, role: Role, number: int, **more: Any) -> Service:  # noqa: ANN401 - Service's own
    """Return a service that the scripts ``NAME-start`` and ``NAME-stop`` control."""
    start, stop = ((f"{launchers.BIN}/{name}-{verb}",) for verb in ("start", "stop"))
    return Service(role=role, number=number, start=start, stop=stop, pid_file=f"/run/kafka/{name}.pid", **more)


def services(seats: tuple[Seat, ...]) -> tuple[Service, ...]:
    """Return the services of all brokers, in the order of the hosts."""
    return tuple(service(seat, seat.broker) for seat in seats if seat.broker is not None)


def listeners(seat: Seat) -> dict[str, str]:
    """Return ``listeners`` and ``advertised.listeners``, for clients and for brokers.

    A broker with a name is advertised to clients by that name. It may get another address, so it accepts clients at
    every address of its host.
    """
    at = seat.address if seat.advertised == seat.address else ""
    return {
        "listeners": f"CLIENT://{at}:{CLIENT_PORT},REPLICATION://{seat.address}:{REPLICATION_PORT}",
        "advertised.listeners": (
            f"CLIENT://{seat.advertised}:{CLIENT_PORT},REPLICATION://{seat.address}:{REPLICATION_PORT}"
        ),
    }


def protocols(layout: LabLayout, *names: str) -> dict[str, str]:
    """Return ``listener.security.protocol.map`` for the listeners ``names``, and the settings of a secure listener."""
    spoken = dict.fromkeys(names, "PLAINTEXT")
    if not layout.secure:
        return _map(spoken)
    return {
        **_map({**spoken, "CLIENT": "SASL_SSL"}),
        "listener.name.client.ssl.keystore.type": "PEM",
        "listener.name.client.ssl.keystore.location": LISTENER_FILE,
        "listener.name.client.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.client.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
    }


def authorizer(layout: LabLayout, name: str) -> dict[str, str]:
    """Return the settings of an authorizer class, if clients log in: without an ACL, everything is allowed.

    Brokers and controllers connect to each other without a login, as ANONYMOUS.
    """
    if not layout.secure:
        return {}
    return {
        "authorizer.class.name": name,
        "allow.everyone.if.no.acl.found": "true",
        "super.users": f"User:ANONYMOUS;User:{USER}",
    }


def _map(spoken: dict[str, str]) -> dict[str, str]:
    return {"listener.security.protocol.map": ",".join(f"{name}:{how}" for name, how in spoken.items())}


def settings(seats: tuple[Seat, ...], layout: LabLayout) -> dict[str, str]:
    """Return the common settings of all brokers of a small cluster; those of the layout override them."""
    copies = str(min(3, sum(seat.broker is not None for seat in seats)))
    return {
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
        # zeroed at every start; at 24 bytes a key and nine tenths full, it holds a whole 100 MiB segment of offsets
        "log.cleaner.dedupe.buffer.size": str(48 * 1024**2),
        **layout.broker_config,
    }


def own(seat: Seat, layout: LabLayout) -> dict[str, str]:
    """Return the settings of one broker in every mode: its directories and rack, then the layout's overrides."""
    rack = {} if seat.rack is None else {"broker.rack": seat.rack}
    overrides = {} if seat.broker is None else layout.broker_overrides.get(seat.broker, {})
    return {"log.dirs": ",".join(seat.data), **rack, **overrides}


def entry(one: Service, controller: Listener | None = None) -> Broker:
    """Return a broker's entry in the inventory; ``controller``: its listener for controllers, if it is one."""
    more = {} if controller is None else {CONTROLLER_LISTENER: controller}
    return Broker(
        **process(one),
        listeners={
            "CLIENT": Listener(address=one.advertised, port=CLIENT_PORT),
            "REPLICATION": Listener(address=one.address, port=REPLICATION_PORT, clients=False),
            **more,
        },
        controller_listener=None if controller is None else CONTROLLER_LISTENER,
        rack=one.rack,
    )


def process(one: Service) -> dict[str, Any]:
    """Return the common fields of a server's entry in the inventory."""
    service = ScriptService(start=one.start, stop=one.stop, pid_file=one.pid_file)
    return {"host": one.host, "service": service, "config": one.config, "data": one.data, "log": one.log}


def hosts(seats: tuple[Seat, ...]) -> dict[str, Host]:
    """Return the hosts' entries in the inventory, with the login ops."""
    return {seat.host: Host(address=seat.address, key_file="client_key", known_hosts="known_hosts") for seat in seats}

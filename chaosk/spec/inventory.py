"""The cluster as an operator writes it down: hosts, what runs on them, and how clients reach it.

Frozen, typed values; no network. ``chaosk.document`` reads the YAML and reports every mistake with its place.
An inventory names secrets, it never holds them: ``{env: NAME}`` or ``{file: PATH}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated

from pydantic import Discriminator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from chaosk.core.model import Model
from chaosk.core.units import Duration
from chaosk.spec.contracts.stop_rules import Rules
from chaosk.spec.fields import Address, Argv, Firewall, Id, Name, Path, Port, UnitName, User
from chaosk.spec.installation import Installation
from chaosk.spec.quorum import mistakes


class SecretRef(Model):
    """Where a secret is: an environment variable of chaosk's process, or a file on its machine."""

    env: str | None = None
    """Name of the environment variable that holds it."""
    file: str | None = None
    """Path of the file that holds it; one trailing newline is dropped."""

    @model_validator(mode="after")
    def _exactly_one(self) -> SecretRef:
        if (self.env is None) == (self.file is None):
            msg = "write exactly one of env and file"
            raise ValueError(msg)
        return self


class Power(Model):
    """A host's power switch: commands of the machine that chaosk runs on, like those of a hypervisor or of IPMI.

    They run as the account that runs chaosk, read by no shell, with ``PATH`` and ``HOME`` as all there is of its
    environment: what else they need, a password above all, belongs into a script of yours that they name.
    """

    switch_off: Argv
    """Takes the power away at once, with no shutdown."""
    switch_on: Argv
    """Gives it back."""
    state: Argv
    """Prints how it is: its last word is ``on`` or ``running``, or ``off``, ``stopped`` or ``crashed``. Ends with 0."""


class Host(Model):
    """A machine that chaosk reaches over SSH."""

    address: Address
    """Where SSH answers."""
    port: Port = 22
    """The SSH port."""
    user: User = "ops"
    """The account chaosk logs in as; never needs to be root."""
    key_file: str | None = None
    """The private key, relative to the inventory file; without it the SSH agent is asked."""
    known_hosts: str | None = None
    """The known_hosts file, relative to the inventory file; without it ``~/.ssh/known_hosts``. Always strict."""
    sudo: bool = True
    """Whether commands that need root go through ``sudo -n``; false when ``user`` is root."""
    gate: Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9._-]+)+$")] | None = None
    """The one program that sudo allows ``user``, as ``chaosk sudoers`` makes it; without it, sudo must allow all."""
    firewall: Firewall = "auto"
    """What cuts the network there: ``nft``, whose cuts the kernel ends by itself with their lease, ``iptables``, or
    ``auto``: ``nft`` where it is installed and the kernel can."""
    power: Power | None = None
    """Its power switch, if chaosk may throw it: for steps like ``power_off``."""
    own_kernel: bool = False
    """Whether it is a machine of its own, real or virtual, that chaosk may boot anew; one with ``power`` is."""
    boots_within: Annotated[Duration, Field(ge=5.0, le=3600.0)] = 180.0
    """How long it may take from power on, or from the beginning of a reboot, until SSH answers."""


class SystemdService(Model):
    """A service that systemd runs."""

    systemd: UnitName
    """The unit, for example ``kafka.service``."""


class ScriptService(Model):
    """A service that scripts start and stop, and whose process id is in a file."""

    start: Argv
    """Starts it and returns; what it starts outlives the SSH session."""
    stop: Argv
    """Stops it cleanly; may return before it is gone."""
    pid_file: Path
    """Holds the process id while it runs."""


def _is_name(address: str) -> bool:
    try:
        ip_address(address)
    except ValueError:
        return address != "localhost"
    return False


def _service_kind(value: object) -> str:
    named = isinstance(value, SystemdService) or (isinstance(value, dict) and "systemd" in value)
    return "<systemd>" if named else "<script>"


Service = Annotated[
    Annotated[SystemdService, Tag("<systemd>")] | Annotated[ScriptService, Tag("<script>")],
    Discriminator(_service_kind),
]
"""Which of the two is told by the key ``systemd``."""


class Listener(Model):
    """One place a broker answers at, as it is advertised."""

    address: Address
    port: Port
    clients: bool = True
    """Whether clients (the probes) come in here; false for listeners between brokers or controllers only."""


class ServerProcess(Model):
    """What brokers, controllers and ZooKeeper nodes have in common."""

    host: Name
    """The host it runs on."""
    service: Service
    """How it is started and stopped."""
    config: Path | None = None
    """Its configuration file."""
    data: Annotated[tuple[Path, ...], Field(strict=False)] = ()
    """Its data directories (``log.dirs``, ``dataDir``)."""
    log: Path | None = None
    """The log file it writes."""


class KafkaProcess(ServerProcess):
    """What only brokers and controllers have in common."""

    installation: Installation | None = None
    """Which versions of Kafka its host has, and the link that names the one in use; for ``switch_version``."""


class Broker(KafkaProcess):
    """A Kafka broker."""

    listeners: dict[str, Listener] = Field(min_length=1)
    """By listener name, as in ``advertised.listeners``."""
    controller_listener: str | None = None
    """Where the process is a KRaft controller as well: which of its listeners is for that."""
    rack: Name | None = None
    """Its ``broker.rack``: what the target ``rack(NAME)`` goes by."""


class Controller(KafkaProcess):
    """A KRaft controller in a process of its own."""

    port: Port = 9093
    """Where brokers and the other controllers come in."""


class ZooKeeper(ServerProcess):
    """A ZooKeeper node."""

    client_port: Port = 2181
    peer_ports: Annotated[tuple[Port, ...], Field(strict=False)] = (2888, 3888)
    """Quorum and election ports."""


class Kafka(Model):
    """Where Kafka's own tools are on the broker hosts."""

    home: Path = "/opt/kafka"
    client_config: Path | None = None
    """A file of client properties on those hosts, for Kafka's own tools where brokers want TLS or a password."""
    version: str | None = None
    """For the report; brokers are not asked."""


class Inventory(Model):
    """A cluster: what `chaosk run --inventory FILE` reads."""

    name: Name
    """What the cluster is called in reports."""
    network_namespace: Name | None = None
    """A Linux network namespace that reaches the hosts; chaosk enters it. The lab uses it; others need not."""
    hosts: dict[Name, Host] = Field(min_length=1)
    """By the name used everywhere else."""
    brokers: dict[Id, Broker] = Field(min_length=1)
    """By broker id."""
    zookeepers: dict[Id, ZooKeeper] = Field(default_factory=dict)
    """By ZooKeeper id (``myid``)."""
    controllers: dict[Id, Controller] = Field(default_factory=dict)
    """By node id the KRaft controllers that are no brokers."""
    kafka: Kafka = Kafka()
    client: dict[str, str | int | bool | SecretRef] = Field(default_factory=dict)
    """librdkafka settings that every client needs; ``bootstrap.servers`` defaults to the client listeners."""
    probe_client: dict[str, str | int | bool | SecretRef] = Field(default_factory=dict)
    """What probes have besides, or instead: a login of their own, for ``deny_access``. The rest of chaosk keeps to
    ``client``."""
    longest_lease: Annotated[Duration, Field(ge=2.0, le=3600.0)] = 60.0
    """The longest that a host keeps a fault once chaosk has died or lost it: then it heals itself."""

    stop_conditions: Rules = ()
    """What ends any run on this cluster at once; scenarios add their own."""

    @model_validator(mode="after")
    def _hosts_exist(self) -> Inventory:
        every: dict[str, Mapping[int, ServerProcess]] = {
            "brokers": self.brokers,
            "zookeepers": self.zookeepers,
            "controllers": self.controllers,
        }
        for kind, processes in every.items():
            for number, process in processes.items():
                if process.host not in self.hosts:
                    names = ", ".join(self.hosts)
                    says = f"{kind}.{number}.host: there is no host {process.host!r}; hosts are {names}"
                    raise PydanticCustomError("reference", "{says}", {"says": says})
        return self

    @model_validator(mode="after")
    def _one_quorum(self) -> Inventory:
        for path, what in mistakes(self.model_dump(include={"brokers", "controllers", "zookeepers"})):
            raise PydanticCustomError("reference", "{says}", {"says": f"{'.'.join(path)}: {what}"})
        return self

    @property
    def kraft(self) -> bool:
        """Whether controllers keep the cluster's metadata, not ZooKeeper."""
        return not self.zookeepers

    def voters(self) -> dict[int, Broker | Controller]:
        """By node id the controllers of a KRaft quorum, those that are brokers as well first; none with ZooKeeper."""
        combined = {number: one for number, one in self.brokers.items() if one.controller_listener is not None}
        return {**combined, **self.controllers}

    def processes(self, host: str) -> tuple[Broker | ZooKeeper | Controller, ...]:
        """What runs on a host: its brokers, then its ZooKeeper nodes or controllers."""
        return tuple(process for process in self.every_process() if process.host == host)

    def every_process(self) -> tuple[Broker | ZooKeeper | Controller, ...]:
        """All that the cluster consists of."""
        return (*self.brokers.values(), *self.zookeepers.values(), *self.controllers.values())

    def client_addresses(self) -> dict[int, tuple[str, int]]:
        """By broker id host and port of its first client listener; a broker without one is left out."""
        first = {number: [at for at in b.listeners.values() if at.clients][:1] for number, b in self.brokers.items()}
        return {number: (at.address, at.port) for number, found in sorted(first.items()) for at in found}

    def names(self) -> tuple[str, ...]:
        """The names by which clients know brokers, each once; none where they are told addresses."""
        listeners = (at for one in self.brokers.values() for at in one.listeners.values() if at.clients)
        return tuple(dict.fromkeys(at.address for at in listeners if _is_name(at.address)))

    def bootstrap_servers(self) -> str:
        """``host:port`` of every client listener, comma-separated, unless ``client`` names them itself."""
        named = self.client.get("bootstrap.servers")
        if isinstance(named, str):
            return named
        places = (f"{at.address}:{at.port}" for b in self.brokers.values() for at in b.listeners.values() if at.clients)
        return ",".join(places)

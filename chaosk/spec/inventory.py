"""The cluster as an operator describes it: hosts, their processes, and the access of clients.

Frozen, typed values; no network. ``chaosk.document`` reads the YAML and reports every mistake with its place. An
inventory refers to secrets and never contains them: ``{env: NAME}`` or ``{file: PATH}``.
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
    """The location of a secret: an environment variable of chaosk's process, or a file or a command of its machine."""

    env: str | None = None
    """Name of the environment variable that holds it."""
    file: str | None = None
    """Path of the file that holds it; one trailing newline is dropped."""
    command: Argv | None = None
    """A command that prints it, like that of a password store; it runs without a shell, one trailing newline is
    dropped."""

    @model_validator(mode="after")
    def _exactly_one(self) -> SecretRef:
        if [self.env, self.file, self.command].count(None) != 2:
            msg = "write exactly one of env, file and command"
            raise ValueError(msg)
        return self


class Power(Model):
    """A host's power switch: commands of the machine that runs chaosk, like those of a hypervisor or of IPMI.

    They run as chaosk's account, without a shell, with only ``PATH`` and ``HOME`` in their environment. Anything else
    that they need, above all a password, belongs into your own script that they call.
    """

    switch_off: Argv
    """Cuts the power at once, without a shutdown."""
    switch_on: Argv
    """Restores the power."""
    state: Argv
    """Prints the power state: the last word is ``on`` or ``running``, or ``off``, ``stopped`` or ``crashed``. Exits
    with 0."""


class SshSettings(Model):
    """How a host is reached, where an address, an account and a key are not enough."""

    config: str | None = None
    """A configuration of ssh(1), relative to the inventory file, for example ``~/.ssh/config``. It gives what the
    inventory leaves out: address, port, account, keys, certificates, known hosts, and the way there (``ProxyJump``,
    ``ProxyCommand``). Without it chaosk reads no such file."""
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_:][A-Za-z0-9_.:-]{0,252}$")] | None = None
    """The host's name in that file; without it, its ``address``."""
    key_passphrase: SecretRef | None = None
    """The passphrase of its key; without it chaosk asks at the terminal, once. It is kept in memory only."""
    password: SecretRef | None = None
    """The password of ``user`` for the login, if a key does not suffice. Without it chaosk asks at the terminal."""
    sudo_password: SecretRef | None = None
    """The password that sudo asks ``user`` for. Without it chaosk asks at the terminal, once. It is kept in memory
    only, and sent to nothing but sudo."""


class Host(Model):
    """A machine that chaosk reaches over SSH."""

    address: Address
    """The address of its SSH server."""
    port: Port = 22
    """The SSH port."""
    user: User = "ops"
    """The account for chaosk's logins; it need not be root."""
    key_file: str | None = None
    """The private key, relative to the inventory file; without it the SSH agent is used."""
    known_hosts: str | None = None
    """The known_hosts file, relative to the inventory file; without it ``~/.ssh/known_hosts``. Checking is always
    strict."""
    ssh: SshSettings = SshSettings()
    """A configuration of ssh(1), for jump hosts among other things; the passphrase of a key, and passwords."""
    sudo: bool = True
    """True if commands that need root go through ``sudo``; false if ``user`` is root."""
    gate: Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9._-]+)+$")] | None = None
    """The only program that sudo permits to ``user``, as ``chaosk sudoers`` makes it; without it, sudo must permit
    everything."""
    firewall: Firewall = "auto"
    """The tool that cuts its network: ``nft``, whose cuts the kernel removes when their lease expires, ``iptables``, or
    ``auto``: ``nft`` if it is installed and the kernel supports it."""
    power: Power | None = None
    """Its power switch, if chaosk may use it: for steps like ``power_off``."""
    own_kernel: bool = False
    """True for a separate machine, real or virtual, that chaosk may reboot; a host with ``power`` always is one."""
    boots_within: Annotated[Duration, Field(ge=5.0, le=3600.0)] = 180.0
    """The longest time from power on, or from the start of a reboot, until SSH answers."""


class SystemdService(Model):
    """A service that systemd runs."""

    systemd: UnitName
    """The unit, for example ``kafka.service``."""


class ScriptService(Model):
    """A service that scripts start and stop, with its process id in a file."""

    start: Argv
    """Starts it and returns; the started process outlives the SSH session."""
    stop: Argv
    """Stops it cleanly; may return before the process is gone."""
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
"""The key ``systemd`` distinguishes the two."""


class Listener(Model):
    """A listener of a broker, as it is advertised."""

    address: Address
    port: Port
    clients: bool = True
    """True if clients (the probes) connect to it; false for listeners between brokers or controllers only."""


class ServerProcess(Model):
    """Common settings of brokers, controllers and ZooKeeper nodes."""

    host: Name
    """Its host."""
    service: Service
    """The service that runs it."""
    config: Path | None = None
    """Its configuration file."""
    data: Annotated[tuple[Path, ...], Field(strict=False)] = ()
    """Its data directories (``log.dirs``, ``dataDir``)."""
    log: Path | None = None
    """Its log file."""


class KafkaProcess(ServerProcess):
    """Common settings of brokers and controllers."""

    installation: Installation | None = None
    """The installed Kafka versions of its host, and the link to the one in use; for ``switch_version``."""


class Broker(KafkaProcess):
    """A Kafka broker."""

    listeners: dict[str, Listener] = Field(min_length=1)
    """By listener name, as in ``advertised.listeners``."""
    controller_listener: str | None = None
    """In combined mode: the listener of the KRaft controller."""
    rack: Name | None = None
    """Its ``broker.rack``, for the target ``rack(NAME)``."""


class Controller(KafkaProcess):
    """A KRaft controller in its own process."""

    port: Port = 9093
    """The port for brokers and the other controllers."""


class ZooKeeper(ServerProcess):
    """A ZooKeeper node."""

    client_port: Port = 2181
    peer_ports: Annotated[tuple[Port, ...], Field(strict=False)] = (2888, 3888)
    """Quorum and election ports."""


class Kafka(Model):
    """Location of Kafka's own tools on the broker hosts."""

    home: Path = "/opt/kafka"
    client_config: Path | None = None
    """A file of client properties on those hosts, for Kafka's own tools if brokers require TLS or a password."""
    version: str | None = None
    """Only for the report; brokers are not asked."""


class Inventory(Model):
    """A cluster: the file that `chaosk run --inventory FILE` reads."""

    name: Name
    """The cluster's name in reports."""
    network_namespace: Name | None = None
    """A Linux network namespace with access to the hosts, which chaosk enters. The lab uses it; others need not."""
    hosts: dict[Name, Host] = Field(min_length=1)
    """Hosts by the name that the other blocks use."""
    brokers: dict[Id, Broker] = Field(min_length=1)
    """By broker id."""
    zookeepers: dict[Id, ZooKeeper] = Field(default_factory=dict)
    """By ZooKeeper id (``myid``)."""
    controllers: dict[Id, Controller] = Field(default_factory=dict)
    """The KRaft controllers that are not brokers, by node id."""
    kafka: Kafka = Kafka()
    client: dict[str, str | int | bool | SecretRef] = Field(default_factory=dict)
    """librdkafka settings that every client needs; ``bootstrap.servers`` defaults to the client listeners."""
    probe_client: dict[str, str | int | bool | SecretRef] = Field(default_factory=dict)
    """Additional or different settings of probes: a separate login, for ``deny_access``. The rest of chaosk uses
    ``client``."""
    longest_lease: Annotated[Duration, Field(ge=2.0, le=3600.0)] = 60.0
    """The longest lease: after chaosk died or lost a host, that host keeps a fault for at most this time, and heals
    itself."""

    stop_conditions: Rules = ()
    """Stop conditions of any run on this cluster; scenarios add their own."""

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
        """True if controllers keep the cluster's metadata, not ZooKeeper."""
        return not self.zookeepers

    def voters(self) -> dict[int, Broker | Controller]:
        """Return the controllers of a KRaft quorum by node id, combined nodes first; empty with ZooKeeper."""
        combined = {number: one for number, one in self.brokers.items() if one.controller_listener is not None}
        return {**combined, **self.controllers}

    def processes(self, host: str) -> tuple[Broker | ZooKeeper | Controller, ...]:
        """Return the processes of a host: its brokers, then its ZooKeeper nodes or controllers."""
        return tuple(process for process in self.every_process() if process.host == host)

    def every_process(self) -> tuple[Broker | ZooKeeper | Controller, ...]:
        """Return all processes of the cluster."""
        return (*self.brokers.values(), *self.zookeepers.values(), *self.controllers.values())

    def client_addresses(self) -> dict[int, tuple[str, int]]:
        """Map broker ids to host and port of their first client listener; a broker without one is left out."""
        first = {number: [at for at in b.listeners.values() if at.clients][:1] for number, b in self.brokers.items()}
        return {number: (at.address, at.port) for number, found in sorted(first.items()) for at in found}

    def names(self) -> tuple[str, ...]:
        """Return the names by which clients know brokers, each once; empty if they use addresses."""
        listeners = (at for one in self.brokers.values() for at in one.listeners.values() if at.clients)
        return tuple(dict.fromkeys(at.address for at in listeners if _is_name(at.address)))

    def bootstrap_servers(self) -> str:
        """Return ``host:port`` of every client listener, comma-separated, unless ``client`` sets them itself."""
        named = self.client.get("bootstrap.servers")
        if isinstance(named, str):
            return named
        places = (f"{at.address}:{at.port}" for b in self.brokers.values() for at in b.listeners.values() if at.clients)
        return ",".join(places)

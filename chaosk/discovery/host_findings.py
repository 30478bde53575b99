"""What a host says about the servers that run on it, as findings. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chaosk.discovery.findings import Findings, Learned, Place, Remark, Unlearned
from chaosk.discovery.host_description import (
    HostDescription,
    ProcessDescription,
    home_of,
    log_of,
    version_of,
    ways_to_run,
)
from chaosk.discovery.listeners import listeners_in
from chaosk.discovery.server_settings import ServerIdentity, identity, kafka_findings, zookeeper_findings

_NO_HOME = (
    "home is not known, because no directory has Kafka's bin and libs: steps that use Kafka's own tools need it, like "
    "set_broker_config"
)
_CONTAINER = "it runs in a container, whose processes chaosk does not stop, kill or freeze"


@dataclass(frozen=True, slots=True)
class HostFindings:
    """What one host says."""

    processes: tuple[Findings, ...]
    """About the processes themselves."""
    files: tuple[Findings, ...]
    """Of their configuration files, which may have been edited since they were started."""


def host_findings(name: str, address: str, host: HostDescription) -> HostFindings:
    """Return the findings of one host.

    ``name``: the host's name in the inventory; ``address``: where its SSH server answers.
    """
    processes, files = [Findings(remarks=tuple(_about(name, host)))], []
    for server in host.servers:
        its, said = _server(address, server)
        if its is not None:
            processes.append(_process(name, server, its))
        else:
            processes.append(Findings(remarks=(_nameless(name, server),)))
        files.append(said)
    return HostFindings(tuple(processes), tuple(files))


def _about(name: str, host: HostDescription) -> Iterator[Remark]:
    java = " and ".join(dict.fromkeys(f"Java {server.java}" for server in host.servers if server.java))
    firewall = " and ".join(host.firewalls) or "no nft, no iptables"
    timer = "systemd" if host.timer == "systemd" else "no systemd"
    root = "root by sudo" if host.as_root else "no root"
    words = (host.system or "an unknown distribution", timer, java, firewall, root)
    yield Remark(("hosts", name), ", ".join(word for word in words if word))
    if not host.as_root:
        yield Remark(("hosts", name), "asked without root: which files its processes have open is unknown")


def _server(address: str, server: ProcessDescription) -> tuple[ServerIdentity | None, Findings]:
    """Return which server a process is, if that can be told, and what its configuration file says."""

    def source(setting: str) -> str:
        return f"{setting} in {server.config or 'its command line'}"

    if server.kind == "zookeeper":
        said = zookeeper_findings(server.settings, server.myid, source, address)
        number = server.myid if server.myid is not None else _only(said, "zookeepers")
        return (None if number is None else ServerIdentity("zookeepers", number)), said
    its = identity(server.settings)
    return its, Findings() if its is None else kafka_findings(server.settings, its, source)


def _nameless(name: str, server: ProcessDescription) -> Remark:
    kind = "a server of Kafka" if server.kind == "kafka" else "a ZooKeeper node"
    where = f"in {server.config}" if server.config else "anywhere"
    return Remark(
        ("hosts", name), f"process {server.pid} of {server.account} is {kind}, whose id cannot be read {where}"
    )


def _only(said: Findings, role: str) -> int | None:
    """Return the number of the node whose data directory was told: the one that the configuration belongs to."""
    numbers = {fact.place[1] for fact in said.facts if fact.place[0] == role and fact.place[2] == "data"}
    return int(numbers.pop()) if len(numbers) == 1 else None


def _process(name: str, server: ProcessDescription, its: ServerIdentity) -> Findings:
    where = f"its process on {name}"
    facts = [Learned((*its.place, "host"), name, "its process runs there")]
    questions: list[Unlearned] = []
    remarks: list[Remark] = []
    if server.ports and (silent := sorted(_bound(server) - {*server.ports})):
        listed = ", ".join(map(str, silent))
        remarks.append(Remark(its.place, f"its process does not listen on {listed}, as its configuration has it"))
    if server.container is not None:
        questions.append(Unlearned((*its.place, "service"), f"{_CONTAINER} (known by {server.container})"))
    else:
        facts += _service(its.place, server)
    if server.config is not None:
        facts.append(Learned((*its.place, "config"), server.config, "command line of its process"))
    if server.locks:
        facts.append(Learned((*its.place, "data"), tuple(sorted(server.locks)), f"{where} has .lock open there"))
    if (log := log_of(server.logs)) is not None:
        facts.append(Learned((*its.place, "log"), log, f"{where} writes it"))
    if (version := version_of(server.jars)) is not None and its.role != "zookeepers":
        number, jar = version
        flavour = ", Confluent" if number.endswith(("-ccs", "-ce")) else ""
        facts.append(Learned(("kafka", "version"), number, f"{jar.rpartition('/')[2]} of {where}{flavour}"))
        home = home_of(server.jars)
        if home is not None:
            facts.append(Learned(("kafka", "home"), home, f"jars of {where}"))
        else:
            remarks.append(Remark(("kafka",), _NO_HOME))
    return Findings(facts=tuple(facts), questions=tuple(questions), remarks=tuple(remarks))


def _bound(server: ProcessDescription) -> set[int]:
    """Return the ports that a process of Kafka has in its configuration."""
    return {end.port for end in listeners_in(server.settings.get("listeners", ""))}


def _service(place: Place, server: ProcessDescription) -> list[Learned]:
    if server.unit is not None:
        return [Learned((*place, "service", "systemd"), server.unit, "control group of its process")]
    way = max(ways_to_run(server), key=lambda way: (bool(way.start), bool(way.stop)), default=None)
    if way is None:
        return []
    facts = [Learned((*place, "service", "pid_file"), way.pid_file, "holds the id of its process")]
    if way.start:
        facts.append(Learned((*place, "service", "start"), way.start, "names the pid file"))
    if way.stop:
        how = "is beside that, by its name" if way.stop[0] in server.beside else "names the pid file"
        facts.append(Learned((*place, "service", "stop"), way.stop, how))
    return facts

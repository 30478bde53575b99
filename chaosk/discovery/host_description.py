"""A host and its servers, as ``hosts/scripts/discover.sh`` prints them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from chaosk.core.errors import StepError


@dataclass(slots=True)
class ProcessDescription:
    """A server of Kafka or ZooKeeper that runs on a host."""

    pid: int
    account: str = ""
    kind: str = ""
    """``kafka`` or ``zookeeper``."""
    config: str | None = None
    """Its configuration file."""
    settings: dict[str, str] = field(default_factory=dict)
    """Those that hold no secret."""
    myid: int | None = None
    unit: str | None = None
    """Its systemd unit."""
    programs: dict[str, list[str]] = field(default_factory=dict)
    """By pid file that holds its id, the programs that name this pid file."""
    beside: list[str] = field(default_factory=list)
    """Programs beside those, to stop it, by their names."""
    locks: list[str] = field(default_factory=list)
    """Directories whose ``.lock`` it has open: its data directories."""
    logs: list[str] = field(default_factory=list)
    jars: list[str] = field(default_factory=list)
    java: str | None = None
    """The version of its Java."""
    ports: list[int] = field(default_factory=list)
    """Those on which it listens; empty without root."""
    container: str | None = None
    """How it is known to run in a container; None if it does not."""


@dataclass(slots=True)
class HostDescription:
    """A host."""

    uid: int = -1
    """The account that looked: 0 is root, others see less."""
    name: str = ""
    addresses: list[str] = field(default_factory=list)
    system: str = ""
    """Its distribution."""
    timer: str = ""
    """``systemd`` or ``setsid``."""
    firewalls: list[str] = field(default_factory=list)
    servers: list[ProcessDescription] = field(default_factory=list)

    @property
    def as_root(self) -> bool:
        """True if root looked."""
        return self.uid == 0


def read(host: str, said: str) -> HostDescription:
    """Parse the output of the script; raises StepError for a malformed one."""
    found = HostDescription()
    for line in said.splitlines():
        subject, _, what = line.partition(" ")
        try:
            if found.servers and subject != "server":
                _of_server(found.servers[-1], subject, what)
            else:
                _of_host(found, subject, what)
        except (ValueError, LookupError) as error:
            raise StepError(f"{host}: cannot parse what this host says of itself: {line[:200]!r}") from error
    if found.uid < 0:
        raise StepError(f"{host}: says nothing of itself")
    return found


def version_of(jars: list[str]) -> tuple[str, str] | None:
    """Return the version of Kafka and the jar whose name has it; None if no jar has."""
    for jar in jars:
        name = jar.rpartition("/")[2].removesuffix(".jar")
        for stem in ("kafka-clients-", "kafka_2.12-", "kafka_2.13-"):
            if name.startswith(stem):
                return name.removeprefix(stem), jar
    return None


def home_of(jars: list[str]) -> str | None:
    """Return the directory with Kafka's ``bin`` and ``libs``; None if it is installed in another way."""
    for jar in jars:
        folder, _, name = jar.rpartition("/")
        if name.startswith("kafka-clients-") and folder.endswith("/libs"):
            return folder.removesuffix("/libs") or "/"
    return None


def log_of(logs: list[str]) -> str | None:
    """Return the server's log among the files that it writes; None if there is none, or none stands out."""
    usual = ("server.log", "controller.log", "zookeeper.log", "kafka.log", "kafkaServer.log")
    ranked = [path for name in usual for path in logs if path.rpartition("/")[2] == name]
    return ranked[0] if ranked else logs[0] if len(logs) == 1 else None


def _of_host(found: HostDescription, subject: str, what: str) -> None:
    match subject:
        case "uid":
            found.uid = int(what)
        case "hostname":
            found.name = what
        case "address":
            found.addresses.append(what)
        case "system" | "timer":
            setattr(found, subject, what)
        case "firewall":
            found.firewalls.append(what)
        case "server":
            found.servers.append(ProcessDescription(int(what)))
        case _:
            raise ValueError(subject)


def _of_server(server: ProcessDescription, subject: str, what: str) -> None:
    lists = {"beside": server.beside, "lock": server.locks, "log": server.logs, "jar": server.jars}
    match subject:
        case "account" | "kind" | "config" | "unit" | "java" | "container":
            setattr(server, subject, what)
        case "setting":
            name, _, text = what.partition("=")
            server.settings[name] = text
        case "myid":
            server.myid = int(what)
        case "port":
            server.ports.append(int(what))
        case "pid_file":
            server.programs[what] = []
        case "program":
            server.programs[[*server.programs][-1]].append(what)
        case _:
            lists[subject].append(what)


@dataclass(frozen=True, slots=True)
class WayToRun:
    """A pid file, and the programs that start and stop the server through it; empty for unknown ones."""

    pid_file: str
    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


def ways_to_run(server: ProcessDescription) -> Iterator[WayToRun]:
    """Yield how a server may be started and stopped."""
    for pid_file, programs in server.programs.items():
        scripts = [program for program in programs if program.startswith("/etc/init.d/")]
        if len(scripts) == 1:
            yield WayToRun(pid_file, (scripts[0], "start"), (scripts[0], "stop"))
        start, stop = (
            [program for program in programs if word in program.rpartition("/")[2]] for word in ("start", "stop")
        )
        yield WayToRun(pid_file, _single(start), _single(stop or server.beside))


def _single(programs: list[str]) -> tuple[str, ...]:
    """Return the program as a command; nothing unless there is exactly one."""
    return (programs[0],) if len(programs) == 1 else ()

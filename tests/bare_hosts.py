"""Hosts of a lab with SSH on them and nothing else: up in a second, for all that needs a host and no Kafka."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from on_lab import inside, until

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.document import load_inventory
from chaosk.hosts.transport._contract import Transport
from chaosk.lab import build, health, jars, preflight, runner, ssh_files
from chaosk.lab.lab import Lab, describe
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.state import of
from chaosk.run.executor import Executor
from chaosk.run.faults import Faults
from chaosk.run.journal import Journal
from chaosk.run.leases import Leases
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.step import PreparedFault, Site
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Entry, steps

EVERYONE = Node(kind="everyone_else", id="")
DOOR = 9092
"""A port that nobody listens on: refused at once if the network is whole, silence if it is cut."""


@dataclass
class Bare:
    """The hosts, and what is asked of them without SSH, so that it can be asked whatever a test does to that."""

    inventory: Inventory
    path: Path
    """The inventory's file."""
    kind: NamespaceHosts

    def on(self, host: str, script: str, timeout: float = 30.0) -> str:
        """What a line of shell says on a host."""
        return self.kind.on_host(host, ["sh", "-c", script], timeout=timeout)

    def whole(self, host: str) -> bool:
        """Whether packets from chaosk's machine to a host and back pass at this moment."""
        with socket.socket() as probe:
            probe.settimeout(0.15)
            return probe.connect_ex((self.inventory.hosts[host].address, DOOR)) == 111  # refused

    def firewall(self, host: str) -> str:
        """Every rule of a host, by iptables and by nft, without counters."""
        return self.on(
            host, r"{ iptables-save; ip6tables-save; nft -s list ruleset; } | sed '/^#/d; s/ \[[0-9]*:[0-9]*\]//'"
        )

    def leases(self, host: str) -> list[str]:
        """The folders of leases on a host."""
        return self.on(host, "ls /var/lib/chaosk/leases 2>/dev/null || true").split()

    def kill_timers(self, host: str) -> int:
        """SIGKILL to the timer of every lease of a host: how many there were."""
        script = "for timer in /var/lib/chaosk/leases/*/timer; do kill -KILL $(cat $timer) && echo; done"
        return len(self.on(host, script).splitlines())

    def forced(self, firewall: str) -> Inventory:
        """The inventory, with the kind of packet filter that cuts named for every host."""
        hosts = {name: host.model_copy(update={"firewall": firewall}) for name, host in self.inventory.hosts.items()}
        return self.inventory.model_copy(update={"hosts": hosts})

    def faults(self, transport: Transport, folder: Path, longest: float) -> Faults:
        """The engine's own driver of faults, on these hosts."""
        live = LiveCluster(self.inventory, Brokers(self.inventory, client_settings(self.inventory)), _no_probe)
        hands = Executor(self.inventory, transport, live, _nobody, _nobody)
        return Faults(hands, Journal(folder), Leases(transport, "bare-run", "tests", longest), _unread)


def cut(
    inventory: Inventory,
    host: str,
    name: str = "cut",
    other: str | None = None,
    action: str = "drop",
    direction: str = "both",
) -> tuple[PreparedFault, Entry]:
    """A fault that cuts a host from another, or from everyone else, and its timeline entry."""
    away = "everyone else" if other is None else f"host {other}"
    how = {"action": action, "direction": direction}
    step = steps()["cut_network"].model_validate({"between": [f"host {host}", away], **how})
    entry = Entry.model_construct(name=name, kind="cut_network", step=step, lasts=None, when=None)
    node = Node(kind="host", id=host, host=host)
    whom = EVERYONE if other is None else Node(kind="host", id=other, host=other)
    site = Site(inventory, "bare-run", name, {f"host {host}": (node,), away: (whom,)})
    fault = PreparedFault(
        name=name, step="cut_network", targets=(node, whom), before=tuple(step.before(site)),
        inject=tuple(step.inject(site)), verify=tuple(step.verify(site)), undo=tuple(step.undo(site)),
        healed=tuple(step.healed(site)), watch=tuple(step.watch(site)),
    )  # fmt: skip
    return fault, entry


@contextmanager
def bare(name: str, count: int = 3) -> Iterator[Bare]:
    """So many hosts, node1 and so on, up; the calling thread, and those it starts, are in their network."""
    wanted = describe(LabLayout(name=name, brokers=count, zookeepers=1), of(name))
    kind = NamespaceHosts(wanted.state)
    build.clear(kind, wanted.state)
    try:
        _create(wanted, kind)
        for seat in wanted.seats:
            kind.start(seat.host)
        questions = [lambda seat=seat: health.ssh_answers(seat.address) for seat in wanted.seats]
        until(lambda: all(health.in_lab(wanted.state.namespace, questions)), 30.0)
        loaded = load_inventory(wanted.state.inventory)
        assert isinstance(loaded, Inventory)
        with inside(wanted.state.namespace):
            yield Bare(loaded, wanted.state.inventory, kind)
    finally:
        build.clear(kind, wanted.state)


def _create(wanted: Lab, kind: NamespaceHosts) -> None:
    directory = runner.directory(wanted.state.directory)
    client = ssh_files.make_key()
    keys = {seat.host: ssh_files.make_key() for seat in wanted.seats}
    runner.write(directory / "client_key", client.private, 0o600)
    runner.write(directory / "known_hosts", ssh_files.known_hosts(wanted.seats, keys))
    files = {seat.host: ssh_files.files(seat, wanted.seats, keys[seat.host], client) for seat in wanted.seats}
    init = directory / "init.py"
    runner.write(init, Path(build.__file__).with_name("init.py").read_text(encoding="utf-8"))
    cached = jars.ensure(wanted.layout.kafka, jars.dependencies(wanted.layout.kafka), print)
    kind.check()
    kind.create(wanted.seats, files, preflight.machine({wanted.layout.kafka: cached}, init))
    inventory = wanted.mode.inventory(wanted.seats, wanted.layout, wanted.state.namespace)
    values = inventory.model_dump(mode="json", exclude_defaults=True)
    runner.write(wanted.state.inventory, yaml.safe_dump(values, sort_keys=False))


def _no_probe(name: str) -> ProbeState:
    raise AssertionError(name)


def _nobody(asked: object) -> None:
    raise AssertionError(asked)


def _unread(life: object) -> None:
    """Nobody reads the rows of these faults."""

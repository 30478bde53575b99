"""A real cluster in a lab, and faults on it driven by the run's own engine."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from on_lab import inside

from chaosk import lab as labs
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings, probe_settings
from chaosk.cluster.live_cluster import LiveCluster
from chaosk.cluster.operate import operate
from chaosk.core.errors import StepError
from chaosk.document import load_inventory
from chaosk.hosts import lease
from chaosk.hosts.transport.local import RoutingTransport
from chaosk.hosts.transport.ssh import Ssh, Transport
from chaosk.planning.resolve import aim
from chaosk.run.clock import wait_for
from chaosk.run.executor import Executor
from chaosk.run.fault_progress import FaultProgress
from chaosk.run.faults import Faults
from chaosk.run.journal import Journal
from chaosk.run.leases import Leases
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.step import Fact, Signal
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Entry

from .conftest import step


@contextmanager
def standing(layout: LabLayout) -> Iterator[Inventory]:
    """A lab that is up until this is over."""
    lines: list[str] = []
    loaded = load_inventory(labs.up(layout, lines.append))
    assert isinstance(loaded, Inventory)
    yield loaded
    labs.down(layout.name, lines.append)


@dataclass
class Ground:
    """The cluster, its hosts, and the faults of one test."""

    inventory: Inventory
    ssh: Transport
    brokers: Brokers
    live: LiveCluster
    faults: Faults
    rows: list[tuple[object, ...]]

    def inject(self, text: str, name: str = "fault") -> FaultProgress:
        """Inject a step as a user writes it, and verify it; raises StepError if it does not take."""
        ((kind, _),) = [text.split(":", 1)]
        entry = Entry.model_construct(name=name, kind=kind, step=step(text), lasts=None, when=None)
        fault = aim(entry, self.inventory, self.live, 1, "run-1")
        return self.faults.inject(fault, entry, threading.Event())

    def half(self, text: str, without: int, name: str = "fault") -> FaultProgress:
        """Inject a step but for some of its last deeds, and break it off there: as if chaosk died before them."""
        entry = Entry.model_construct(name=name, kind=text.split(":", 1)[0], step=step(text), lasts=None, when=None)
        whole = aim(entry, self.inventory, self.live, 1, "run-1")
        broken = Fact(says="it went on", query=Command(host=whole.targets[0].host or "", argv=("false",)))
        half = whole.model_copy(update={"inject": whole.inject[:-without], "verify": (broken,)})
        with pytest.raises(StepError, match="it went on"):
            self.faults.inject(half, entry, threading.Event())
        return self.faults.lives()[-1]

    def end(self, life: FaultProgress) -> None:
        """Look at the fault once more, undo it, and see it healed."""
        self.faults.end(life)
        assert life.healed is not None, life.why

    def heal(self, host: str, life: FaultProgress) -> None:
        """Have a host carry out by itself what it keeps of a fault, as when chaosk has died."""
        done = self.ssh.run(lease.heal(host, lease.lease_id("run-1", life.fault.name)))
        assert done.ok, done.stderr

    def run(self, host: str, *argv: str, sudo: bool = True) -> Result:
        """Run a command on a host."""
        return self.ssh.run(Command(host=host, argv=argv, sudo=sudo, timeout=30.0))

    def said(self, host: str, *argv: str) -> str:
        """What a command said that must succeed."""
        result = self.run(host, *argv)
        assert result.ok, result
        return result.stdout

    def firewall(self, host: str) -> str:
        """Every rule of a host, by iptables and by nft, without comments and counters that change by themselves."""
        script = "iptables-save; ip6tables-save; nft --stateless list ruleset"
        return re.sub(r"^#.*\n|\[\d+:\d+\]", "", self.said(host, "sh", "-c", script), flags=re.MULTILINE)

    def cut_by(self, firewall: str) -> None:
        """From now on every host's inventory names what cuts the network there."""
        hosts = {name: host.model_copy(update={"firewall": firewall}) for name, host in self.inventory.hosts.items()}
        self.inventory = self.inventory.model_copy(update={"hosts": hosts})

    def foreign_rules(self, host: str, rules: str) -> None:
        """Give a host rules of its own, for both families."""
        six = rules.replace("192.0.2.1/32", "2001:db8::1/128").replace("icmp-port", "icmp6-port")
        for tool, text in (("iptables-restore", rules), ("ip6tables-restore", six)):
            assert self.ssh.run(Command(host=host, argv=(tool,), sudo=True, stdin=text)).ok

    def connects(self, host: str, address: str, port: int) -> bool:
        """Whether a TCP connection from a host to a port comes about within a second."""
        return self.run(host, "timeout", "1", "bash", "-c", f"</dev/tcp/{address}/{port}", sudo=False).ok

    def pid(self, host: str, service: str) -> int:
        """A service's process id."""
        return int(self.said(host, "cat", f"/run/kafka/{service}.pid"))

    def await_condition(self, text: str, within: float = 60.0) -> None:
        """Until a condition holds."""
        condition = parse_condition(text)
        assert wait_for(lambda: condition.ask(self.live, self.inventory).holds, within, threading.Event()), text


@contextmanager
def ground(inventory: Inventory, folder: Path) -> Iterator[Ground]:
    """From inside the lab's network; afterwards every fault is healed."""
    rows: list[tuple[object, ...]] = []
    ssh = RoutingTransport(Ssh(inventory.hosts), folder / "kept")
    with (
        inside(str(inventory.network_namespace)),
        Brokers(inventory, client_settings(inventory)) as brokers,
        Brokers(inventory, probe_settings(inventory)) as as_probes,
    ):
        live = LiveCluster(inventory, brokers, _no_probe, as_probes=as_probes)
        hands = Executor(inventory, ssh, live, lambda operation: operate(brokers, operation), _no_signal)
        leases = Leases(ssh, "run-1", "tests", longest=60.0)
        faults = Faults(hands, Journal(folder), leases, lambda life: rows.append(life.row()))
        try:
            yield Ground(inventory, ssh, brokers, live, faults, rows)
        finally:
            unhealed = faults.heal_all()
            ssh.close()
    assert unhealed == ()


def _no_probe(name: str) -> ProbeState:
    raise AssertionError(name)


def _no_signal(deed: Signal) -> None:
    raise AssertionError(deed)

"""Loads on real hosts, under real leases; without Kafka."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from bare_hosts import Bare, bare
from on_lab import until

from chaosk.core.errors import StepError
from chaosk.hosts import fingerprint
from chaosk.hosts.transport.ssh import Ssh
from chaosk.planning.resolve import freeze
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.contracts.target import Node
from chaosk.spec.scenario import Entry

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

LOADS = ["burn_cpu: {target: it, cores: 1}", "eat_memory: {target: it, size: 200MiB}"]


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """One host."""
    with bare("loads", 1) as here:
        yield here


@pytest.fixture
def ssh(hosts: Bare) -> Iterator[Ssh]:
    """The way to it; afterwards it is as it was."""
    transport = Ssh(hosts.inventory.hosts)
    before = state(hosts, transport)
    yield transport
    assert state(hosts, transport) == before
    assert hosts.leases("node1") == []
    transport.close()


def state(hosts: Bare, ssh: Ssh) -> str:
    """What a run compares before and after."""
    return ssh.run(fingerprint.ask(hosts.inventory, "node1")).stdout


def aimed(hosts: Bare, text: str) -> tuple[PreparedFault, Entry]:
    """A step as a user writes it, aimed at the host, and its entry."""
    ((kind, fields),) = yaml.safe_load(text).items()
    entry = Entry.model_validate({"name": "load", kind: fields})
    return freeze(entry, hosts.inventory, {"it": (Node(kind="host", id="node1", host="node1"),)}, "bare-run"), entry


def processes(hosts: Bare) -> list[str]:
    """The processes of any load."""
    return hosts.on("node1", "grep -l -s -a CHAOSK_LOAD= /proc/[0-9]*/environ || true").split()


@pytest.mark.parametrize("text", LOADS)
def test_it_takes_lasts_and_goes(hosts: Bare, ssh: Ssh, tmp_path: Path, text: str) -> None:
    """The kernel counts it when it is injected and when it is undone, and a look at the host tells of it."""
    faults = hosts.faults(ssh, tmp_path, 30.0)
    was = state(hosts, ssh)
    life = faults.inject(*aimed(hosts, text), threading.Event())
    assert any("load chaosk-" in one for one in fingerprint.unhealed(fingerprint.changes(was, state(hosts, ssh))))
    faults.end(life)
    assert (life.took, life.healed is not None) == (True, True), life.why
    assert processes(hosts) == []


@pytest.mark.parametrize("text", LOADS)
def test_it_ends_by_itself_when_the_timer_is_killed(hosts: Bare, ssh: Ssh, tmp_path: Path, text: str) -> None:
    """Nobody is left on the host who could lift it; and such a load did not last."""
    faults = hosts.faults(ssh, tmp_path, 30.0)
    life = faults.inject(*aimed(hosts, text), threading.Event())
    assert processes(hosts)
    assert hosts.kill_timers("node1") == 1
    until(lambda: processes(hosts) == [], 5.0)
    faults.end(life)
    assert not life.took
    assert life.healed is not None


def test_memory_that_others_would_be_killed_for(hosts: Bare, ssh: Ssh, tmp_path: Path) -> None:
    """Refused with the figures, and nothing is started."""
    with pytest.raises(StepError, match=r"did not take: .* would leave less than 131072"):
        hosts.faults(ssh, tmp_path, 30.0).inject(
            *aimed(hosts, "eat_memory: {target: it, share: 100 %}"), threading.Event()
        )
    assert processes(hosts) == []

"""Kills where systemd starts a broker again: held down, or left to it. On a virtual machine, whose systemd is real."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from on_vms import faults_on, kill_chaosk, lab_of

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.core.errors import StepError
from chaosk.hosts import lease
from chaosk.hosts.commands import service
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab import state
from chaosk.planning.resolve import freeze
from chaosk.run.faults import Faults
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout
from chaosk.spec.scenario import Entry

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(1_500)]

LAYOUT = LabLayout(name=f"u{os.getpid() % 1_000_000}", brokers=1, zookeepers=1, hosts="vms")
BROKER = Node(kind="broker", id="0", host="node1")
UNIT = "kafka.service"
PATIENCE = 240.0
"""Seconds until a broker serves again where everything is emulated."""


@pytest.fixture(scope="module")
def inventory() -> Iterator[Inventory]:
    """Of the lab, which is up."""
    with lab_of(LAYOUT) as found:
        yield found


@pytest.fixture
def ssh(inventory: Inventory) -> Iterator[Ssh]:
    """The way to the machine; afterwards the broker's unit is byte for byte what it was, and the broker serves."""
    transport = Ssh(inventory.hosts)
    wait_until(lambda: runs(inventory, transport))
    before = unit(transport)
    yield transport
    assert unit(transport) == before
    wait_until(lambda: runs(inventory, transport))
    transport.close()


@pytest.fixture
def faults(inventory: Inventory, ssh: Ssh, tmp_path: Path) -> Iterator[Faults]:
    """What drives them; its connections are closed afterwards."""
    with Brokers(inventory, client_settings(inventory)) as brokers:
        yield faults_on(inventory, ssh, tmp_path, brokers)


def root(ssh: Ssh, *argv: str) -> str:
    """What a command says that is run as root."""
    done = ssh.run(Command(host="node1", argv=argv, sudo=True, timeout=60.0))
    assert done.ok, done
    return done.stdout


def unit(ssh: Ssh) -> str:
    """The unit's files, and how systemd has them."""
    return root(ssh, "systemctl", "cat", UNIT) + root(
        ssh, "systemctl", "show", "-p", "Restart,RestartUSec,DropInPaths,NeedDaemonReload", UNIT
    )


def leases(ssh: Ssh) -> tuple[lease.ReportedLease, ...]:
    """The leases on the machine."""
    return lease.held("node1", ssh.run(lease.listing("node1")).stdout)


def runs(inventory: Inventory, ssh: Ssh) -> bool:
    """Whether the broker's process is there."""
    return ssh.run(service.is_running(inventory.brokers[0])).ok


def wait_until(holds: Callable[[], bool]) -> None:
    """Until it holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(1)


def aimed(inventory: Inventory, fields: str = "") -> tuple[PreparedFault, Entry]:
    """A kill of the broker, and its entry."""
    entry = Entry.model_validate({"name": "kill", "kill_broker": yaml.safe_load(f"{{target: it{fields}}}")})
    return freeze(entry, inventory, {"it": (BROKER,)}, "vm-run"), entry


def test_what_systemd_would_start_again_stays_down(inventory: Inventory, ssh: Ssh, faults: Faults) -> None:
    """For four times its RestartSec the broker is gone; then systemd does again what it did before."""
    assert "Restart=on-failure" in unit(ssh)
    life = faults.inject(*aimed(inventory), threading.Event())
    for _ in range(10):
        assert not runs(inventory, ssh)
        time.sleep(2)
    assert "Restart=no" in unit(ssh)
    faults.end(life)
    assert (life.took, life.healed is not None) == (True, True), life.why


def test_what_is_supervised_comes_back_by_itself(inventory: Inventory, ssh: Ssh, faults: Faults) -> None:
    """Nothing of its unit is changed, and systemd starts it five seconds after the kill; chaosk says so."""
    before = unit(ssh)
    life = faults.inject(*aimed(inventory, ", restart: supervised"), threading.Event())
    assert unit(ssh) == before
    wait_until(lambda: runs(inventory, ssh))
    faults.end(life)
    assert (life.took, life.healed is not None) == (True, True), life.why
    (back,) = [look for look in life.looks if "not by chaosk" in look.says]
    assert "s after the kill" in back.seen


def test_a_supervisor_that_does_nothing_is_told(inventory: Inventory, ssh: Ssh, faults: Faults) -> None:
    """Somebody has set Restart=no: at its end the fault has not done what was asked, and chaosk starts the broker."""
    place = "/run/systemd/system/kafka.service.d"
    root(ssh, "sh", "-c", f"mkdir {place} && printf '[Service]\\nRestart=no\\n' >{place}/theirs.conf")
    root(ssh, "systemctl", "daemon-reload")
    try:
        life = faults.inject(*aimed(inventory, ", restart: supervised"), threading.Event())
        time.sleep(10)
        assert not runs(inventory, ssh)
        faults.end(life)
        assert (life.took, life.healed is not None) == (False, True)
        assert "Restart=no" in " ".join(life.why)
        assert root(ssh, "ls", place) == "theirs.conf\n"
    finally:
        root(ssh, "rm", "-r", place)
        root(ssh, "systemctl", "daemon-reload")


def test_a_host_lets_its_supervisor_go_when_chaosk_dies(inventory: Inventory, ssh: Ssh, tmp_path: Path) -> None:
    """SIGKILL to chaosk while the broker is held down: the lease gives systemd back what is its own, and starts it."""
    step: dict[str, object] = {"kill_broker": {"target": "broker 0"}}
    kill_chaosk(state.of(LAYOUT.name).inventory, tmp_path, step, 30)
    wait_until(lambda: runs(inventory, ssh) and "zz-chaosk" not in unit(ssh))
    wait_until(lambda: {held.state for held in leases(ssh)} == {"healed"})
    assert all(ssh.run(lease.disarm("node1", held.id)).ok for held in leases(ssh))


def test_what_somebody_has_changed_is_not_put_into_force(inventory: Inventory, ssh: Ssh, faults: Faults) -> None:
    """Another unit's file was changed and not reloaded: nothing is killed, and that unit is named."""
    path = "/etc/systemd/system/somebodys.service"
    root(ssh, "sh", "-c", f"printf '[Service]\\nExecStart=/bin/sleep 600\\n' >{path}")
    root(ssh, "systemctl", "daemon-reload")
    root(ssh, "systemctl", "start", "somebodys.service")
    root(ssh, "sh", "-c", f"sleep 1; printf '[Service]\\nExecStart=/bin/sleep 700\\n' >{path}")
    try:
        with pytest.raises(StepError, match=r"files of somebodys\.service were changed and not reloaded"):
            faults.inject(*aimed(inventory), threading.Event())
        assert runs(inventory, ssh)
    finally:
        root(ssh, "systemctl", "stop", "somebodys.service")
        root(ssh, "rm", path)
        root(ssh, "systemctl", "daemon-reload")


def test_what_a_hold_would_set_off_keeps_it_out(inventory: Inventory, ssh: Ssh, faults: Faults) -> None:
    """A unit that is there for the day the broker's fails: held down it would be started, which nobody asked for."""
    place = "/run/systemd/system/kafka.service.d"
    root(ssh, "sh", "-c", f"mkdir {place} && printf '[Unit]\\nOnFailure=pager.service\\n' >{place}/theirs.conf")
    root(ssh, "systemctl", "daemon-reload")
    try:
        with pytest.raises(StepError, match=r"OnFailure=pager\.service, which a hold would set off"):
            faults.inject(*aimed(inventory), threading.Event())
        assert runs(inventory, ssh)
    finally:
        root(ssh, "rm", "-r", place)
        root(ssh, "systemctl", "daemon-reload")

"""What a lab says of itself, whole and half dead."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk import lab
from chaosk.lab import runner, state
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.status import HostStatus, LabStatus, ServiceStatus
from chaosk.spec.lab_layout import LabLayout

OnHost = Callable[..., str]
Ssh = Callable[..., "subprocess.CompletedProcess[str]"]


def test_json_is_one_line_and_reads_back() -> None:
    """Scripts read it line by line; nothing is lost on the way."""
    value = LabStatus(
        name="x",
        up=True,
        healthy=False,
        kafka="3.9.2",
        hosts=(
            HostStatus(
                name="node1",
                address="198.18.0.11",
                runs=True,
                ssh=False,
                services=(ServiceStatus(role="broker", number=0, state=None),),
            ),
        ),
    )
    text = value.model_dump_json()
    assert "\n" not in text
    assert LabStatus.model_validate_json(text) == value


def test_no_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No state, or state without a keeper, is a lab that is not up: an answer, not an error."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    monkeypatch.setattr("chaosk.lab.privilege.is_root", lambda: True)
    assert lab.status("x") == LabStatus(name="x", up=False, healthy=False)
    state.of("x").directory.mkdir(parents=True)
    state.of("x").layout.write_text("{}", encoding="utf-8")
    assert lab.status("x") == LabStatus(name="x", up=False, healthy=False)


def services(found: LabStatus) -> dict[str, str | None]:
    """The states of all services, by role."""
    return {one.role: one.state for host in found.hosts for one in host.services}


@pytest.mark.lab
def test_a_whole_lab(whole: LabLayout) -> None:
    """Everything answers, and the inventory's place is told."""
    found = lab.status(whole.name)
    assert found.healthy
    assert services(found) == {"broker": "in the cluster", "zookeeper": "standalone"}
    assert found.inventory == str(state.of(whole.name).inventory)
    assert found.namespace == state.of(whole.name).namespace


@pytest.mark.lab
def test_a_paused_broker_is_not_healthy(whole: LabLayout, on_host: OnHost) -> None:
    """Its port is open and its process is there, but it does not answer: that is asked within seconds, and told."""
    on_host("sh", "-c", "kill -STOP $(cat /run/kafka/kafka.pid)")
    try:
        started = time.monotonic()
        found = lab.status(whole.name)
        assert time.monotonic() - started < 20
        assert (found.up, found.healthy, found.hosts[0].ssh) == (True, False, True)
        assert services(found) == {"broker": None, "zookeeper": "standalone"}
    finally:
        on_host("sh", "-c", "kill -CONT $(cat /run/kafka/kafka.pid)")


@pytest.mark.lab
def test_a_host_that_is_cut_off(whole: LabLayout, on_host: OnHost) -> None:
    """A host behind a firewall runs but is silent; when the rule is gone it is healthy as it was."""
    on_host("iptables", "-A", "INPUT", "-s", "198.18.0.1", "-j", "DROP")
    try:
        found = lab.status(whole.name)
        assert (found.hosts[0].runs, found.hosts[0].ssh, found.healthy) == (True, False, False)
        assert set(services(found).values()) == {None}
    finally:
        on_host("iptables", "-D", "INPUT", "-s", "198.18.0.1", "-j", "DROP")
    assert lab.status(whole.name).healthy


@pytest.mark.lab
def test_a_host_that_is_down(whole: LabLayout) -> None:
    """A dead host is told apart from a silent one."""
    kind = NamespaceHosts(state.of(whole.name))
    pid = (state.of(whole.name).host("node1") / "pid").read_text(encoding="ascii").strip()
    runner.run([*kind._in_lab(), "kill", "-KILL", pid])
    deadline = time.monotonic() + 20
    while kind.runs("node1"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    found = lab.status(whole.name)
    assert (found.up, found.hosts[0].runs, found.hosts[0].ssh, found.healthy) == (True, False, False, False)


@pytest.mark.lab
def test_a_lab_without_its_inventory_is_not_healthy(whole: LabLayout) -> None:
    """The inventory is written last: while it is missing the lab is not ready, whatever answers; ``up`` writes it."""
    state.of(whole.name).inventory.unlink()
    found = lab.status(whole.name)
    assert (found.up, found.healthy, found.inventory) == (True, False, None)
    lab.up(whole, print)
    assert lab.status(whole.name).healthy

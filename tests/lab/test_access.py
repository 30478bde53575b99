"""Looking into a lab: shell, logs, status, commands in its network; through the command line as people use it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from chaosk.core.errors import LabError, UsageError
from chaosk.lab import access, state
from chaosk.spec.lab_layout import LabLayout

from .conftest import TAG, chaosk

pytestmark = pytest.mark.long


def answer(*words: str, stdin: str = "") -> tuple[int, str]:
    """Exit status and output of ``chaosk WORDS``."""
    process = chaosk(*words, stdin=stdin)
    told = process.communicate(timeout=100)[0]
    return process.returncode, told


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabLayout:
    """A lab that is only written down: enough for questions that connect to nothing."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    layout = LabLayout(name="noted", brokers=1, zookeepers=2)
    state.of("noted").directory.mkdir(parents=True)
    state.of("noted").layout.write_text(layout.model_dump_json(exclude_unset=True), encoding="utf-8")
    return layout


@pytest.mark.usefixtures("noted")
def test_shell_is_strict(tmp_path: Path) -> None:
    """It uses the lab's own key and known hosts and nothing of the user's."""
    found = access.shell("noted", "node2")
    at = tmp_path / "labs" / "noted"
    assert found[:3] == ["ssh", "-F", "none"]
    assert found[found.index("-i") + 1] == str(at / "client_key")
    assert {"StrictHostKeyChecking=yes", "IdentitiesOnly=yes", f"UserKnownHostsFile={at / 'known_hosts'}"} <= set(found)
    assert found[-1] == "ops@198.18.0.12"


@pytest.mark.usefixtures("noted")
def test_what_is_not_there_is_named() -> None:
    """A lab, a host, a service that does not exist: one sentence each."""
    with pytest.raises(LabError, match="lab nowhere is not up; do: chaosk lab up --name nowhere"):
        access.shell("nowhere", "node1")
    with pytest.raises(UsageError, match="lab noted has no host 'node3'; its hosts are node1, node2"):
        access.shell("noted", "node3")
    with pytest.raises(UsageError, match="node2 has no broker; see: chaosk lab status --name noted"):
        access.log("noted", "node2", "broker", 5)


@pytest.mark.lab
def test_logs(whole: LabLayout) -> None:
    """The end of the broker's own log comes, as many lines as asked for; it is there: log4j is configured."""
    status, text = answer("lab", "logs", "node1", "broker", "-n", "3", "--name", whole.name)
    assert status == 0
    assert len(text.splitlines()) == 3
    assert " INFO " in access.log(whole.name, "node1", "broker", 500)
    assert "QuorumPeerMain" in access.log(whole.name, "node1", "zookeeper", 500)


@pytest.mark.lab
def test_exec_is_inside(whole: LabLayout) -> None:
    """A command of this machine sees the lab's network and no other; its exit status is the answer."""
    status, text = answer("lab", "exec", "--name", whole.name, "--", "ip", "-o", "-4", "address")
    assert (status, [line.split()[1] for line in text.splitlines()]) == (0, ["lo", "br0"])
    assert answer("lab", "exec", "--name", whole.name, "--", "sh", "-c", "exit 7")[0] == 7
    assert answer("lab", "exec", "--name", whole.name, "--", "/nowhere") == (
        69,
        "chaosk: /nowhere: No such file or directory\n",
    )


@pytest.mark.lab
def test_shell(whole: LabLayout) -> None:
    """It is ssh as ops: what is typed runs on the host."""
    status, text = answer("lab", "shell", "node1", "--name", whole.name, stdin="id -un; hostname; exit 5\n")
    assert (status, text.splitlines()[-2:]) == (5, ["ops", "node1"])


@pytest.mark.lab
def test_status(whole: LabLayout) -> None:
    """A table for people, JSON for programs, and an exit status for scripts."""
    status, table = answer("lab", "status", "--name", whole.name)
    assert status == 0
    assert [line.split() for line in table.splitlines()[1:3]] == [
        ["node1", "198.18.0.11", "answers", "zookeeper", "1", "standalone"],
        ["broker", "0", "in", "the", "cluster"],
    ]
    status, text = answer("lab", "status", "--name", whole.name, "--json")
    assert (status, json.loads(text)["healthy"]) == (0, True)
    status, text = answer("lab", "status", "--name", f"{TAG}z")
    assert (status, text) == (1, f"lab {TAG}z: is not up; do: chaosk lab up --name {TAG}z\n")


@pytest.mark.lab
def test_up_from_a_file(tmp_path: Path, own_state: Path) -> None:
    """``--file`` takes the `lab:` block of an inventory; options on the command line win; ``down --all`` ends it."""
    name = f"{TAG}f"
    written = "lab: {name: other, kafka: 3.9.2, layout: {zoo: [zookeeper 3], solo: [broker 7]}}\n"
    (tmp_path / "lab.yaml").write_text(written, encoding="utf-8")
    status, text = answer("lab", "up", "--file", str(tmp_path / "lab.yaml"), "--name", name)
    assert (status, text.splitlines()[-1]) == (0, str(own_state / "labs" / name / "inventory.yaml")), text
    told = json.loads(answer("lab", "status", "--name", name, "--json")[1])
    services = {(host["name"], one["role"], one["number"]) for host in told["hosts"] for one in host["services"]}
    assert services == {("zoo", "zookeeper", 3), ("solo", "broker", 7)}
    environment = os.environ | {"CHAOSK_STATE": str(tmp_path)}
    subprocess.run(["chaosk", "lab", "down", "--all"], check=True, env=environment)
    assert state.of(name).directory.exists(), "another state directory's labs are not ours to end"
    assert answer("lab", "down", "--name", name) == (0, f"lab {name}: down\n")

"""From a bootstrap address to the first verdict, on a real cluster of either mode, without a line of YAML by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.hosts import sudo_gate
from chaosk.hosts.commands.looks import describe
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab.namespace import inside
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Host, Inventory
from chaosk.spec.lab_layout import LabLayout

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(900)]
LAYOUTS = {
    "zookeeper": LabLayout(name="found-z", kafka="3.9.2"),
    "kraft": LabLayout(name="found-k", kafka="4.2.0", secure=True, names=True),
}
"""With ZooKeeper in plain text by addresses; combined nodes with TLS and logins by names."""


@dataclass(frozen=True)
class FoundCluster:
    """A lab, and the folder that `chaosk init` has written for it."""

    name: str
    folder: Path
    own: Inventory
    """The lab's own inventory, which the discovery has not seen."""
    said: subprocess.CompletedProcess[str]

    @property
    def state(self) -> Path:
        """The lab's folder: keys, passwords."""
        return lab.inventory(self.name).parent

    @property
    def path(self) -> Path:
        """The discovered inventory."""
        return self.folder / "cluster.yaml"

    def chaosk(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run a command of chaosk with the one secret that the inventory refers to."""
        password = self.state / "client_password"
        secret = {"CHAOSK_SASL_PASSWORD": password.read_text("utf-8").strip()} if password.exists() else {}
        return chaosk(*words, cwd=self.folder, secret=secret)


def chaosk(*words: object, cwd: Path, secret: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command of chaosk in a folder."""
    command = [sys.executable, "-m", "chaosk", *map(str, words)]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), **secret}
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=cwd, env=environment)


@pytest.fixture(scope="module", params=LAYOUTS)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FoundCluster]:
    """A cluster, found by an address, an account and a key; where it wants a login, by a Java client's file as well."""
    layout = LAYOUTS[request.param]
    own = load_inventory(lab.up(layout, print))
    assert isinstance(own, Inventory)
    folder = tmp_path_factory.mktemp("found")
    state = lab.inventory(layout.name).parent
    words: list[object] = ["--network-namespace", own.network_namespace, "--ssh", "ops@",
                           "--key", state / "client_key", "--known-hosts", state / "known_hosts"]  # fmt: skip
    words += ["--command-config", _client(folder, state), "--pem", folder / "pem"] if layout.secure else []
    listener = own.brokers[1].listeners["CLIENT"]
    words += ["--bootstrap", f"{listener.address}:{listener.port}"]
    said = chaosk("init", folder, *words, cwd=folder, secret={})
    try:
        yield FoundCluster(layout.name, folder, own, said)
    finally:
        lab.down(layout.name, print, force=True)


def _client(folder: Path, state: Path) -> Path:
    """Write the client.properties of a Java client: a trust store as JKS, and its login as JAAS."""
    store = folder / "trust.jks"
    keytool = ("keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", str(state / "ca.pem"))
    words = (*keytool, "-keystore", str(store), "-storetype", "JKS", "-storepass", "changeit")
    subprocess.run(words, check=True, capture_output=True)
    password = (state / "client_password").read_text("utf-8").strip()
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    file = folder / "client.properties"
    file.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
        f'sasl.jaas.config={module} required \\\n  username="chaosk" \\\n  password="{password}";\n'
        "ssl.truststore.location=trust.jks\nssl.truststore.password=changeit\n",
        "utf-8",
    )
    return file


def test_it_is_complete_and_the_doctor_is_content(found: FoundCluster) -> None:
    """No question is open, a run may start, and three scenarios and a gate are beside it."""
    assert found.said.returncode == 0, found.said.stderr
    assert "A run may start." in found.said.stderr
    assert "???" not in found.path.read_text("utf-8")
    assert len([*(found.folder / "scenarios").glob("*.yaml")]) == 3
    files = [found.path, *(found.folder / "scenarios").glob("*.yaml")]
    assert found.chaosk("validate", *files).returncode == 0


def test_it_says_what_the_labs_own_inventory_says(found: FoundCluster) -> None:
    """Servers, hosts, services, files, listeners: all that the lab knows, since the lab has made it."""
    loaded = load_inventory(found.path)
    assert isinstance(loaded, Inventory)
    for block in ("brokers", "controllers", "zookeepers"):
        assert getattr(loaded, block) == getattr(found.own, block)
    assert {name: host.address for name, host in loaded.hosts.items()} == {
        name: host.address for name, host in found.own.hosts.items()
    }
    assert loaded.kafka.version == found.own.kafka.version


def test_no_secret_is_in_it(found: FoundCluster) -> None:
    """Neither in the inventory nor in what is said."""
    password = found.state / "client_password"
    if password.exists():
        secret = password.read_text("utf-8").strip()
        assert secret not in found.path.read_text("utf-8") + found.said.stdout + found.said.stderr


def test_there_is_no_drift_and_then_there_is(found: FoundCluster, tmp_path: Path) -> None:
    """Against the file that was written, and against the lab's own; a broker taken out of the file is told of."""
    for path in (found.path, lab.inventory(found.name)):
        said = found.chaosk("discover", "--inventory", path)
        assert (said.returncode, said.stdout) == (0, f"{path}: no difference to the cluster\n"), said.stderr
    other = tmp_path / "other.yaml"
    text = found.path.read_text("utf-8")
    other.write_text(text.replace("log: /var/log/kafka/server.log", "log: /var/log/kafka/old.log", 1), "utf-8")
    said = found.chaosk("discover", "--inventory", other)
    assert said.returncode == 1
    assert "brokers.0.log: /var/log/kafka/old.log here, /var/log/kafka/server.log found" in said.stdout


@pytest.mark.parametrize("group", ["kafka", "kafka_broker"])
def test_an_inventory_of_ansibles_in_place_of_an_address(found: FoundCluster, tmp_path: Path, group: str) -> None:
    """It has no ids: the hosts tell them, and the defaults of Confluent's roles count for nothing then."""
    hosts = [f"{name} ansible_host={host.address}" for name, host in found.own.hosts.items()]
    login = ("ansible_user=ops", f"ansible_ssh_private_key_file={found.state / 'client_key'}")
    file = tmp_path / "hosts"
    file.write_text("\n".join((f"[{group}]", *hosts, "[all:vars]", *login, "")), "utf-8")
    said = found.chaosk("discover", "--ansible", file, "--ssh", "ops@", "--known-hosts", found.state / "known_hosts",
                        "--network-namespace", found.own.network_namespace)  # fmt: skip
    text = said.stdout.replace("client: ", "# ")  # the question for the settings of clients, where they want a login
    (tmp_path / "cluster.yaml").write_text(text, "utf-8")
    loaded = load_inventory(tmp_path / "cluster.yaml")
    assert isinstance(loaded, Inventory)
    assert (loaded.brokers, loaded.zookeepers) == (found.own.brokers, found.own.zookeepers)


def test_through_a_sudo_gate_it_says_the_same(found: FoundCluster) -> None:
    """A host whose account may run only the gate can be asked for drift."""
    gate = "/usr/local/sbin/chaosk-gate"
    gated = {name: host.model_copy(update={"gate": gate}) for name, host in found.own.hosts.items()}
    text = sudo_gate.program(found.own, gate)
    for name in gated:
        argv = ("sh", "-c", f"cat >{gate}; chmod 755 {gate}")
        assert _on(found, found.own.hosts, Command(host=name, argv=argv, sudo=True, stdin=text)).ok
    plain, through = (_on(found, hosts, describe("node1")) for hosts in (found.own.hosts, gated))
    assert plain.ok
    assert through.stdout == plain.stdout


def _on(found: FoundCluster, hosts: Mapping[str, Host], command: Command) -> Result:
    """Send a command to a host from inside the lab's network."""

    def work() -> Result:
        transport = Ssh(hosts)
        try:
            return transport.run(command)
        finally:
            transport.close()

    return inside(str(found.own.network_namespace), work)


def test_the_first_verdict(found: FoundCluster) -> None:
    """A leader is killed, started again by what was found to start it, and the run passes."""
    scenario = found.folder / "scenarios" / "kill-the-leader.yaml"
    said = found.chaosk("run", scenario, "--inventory", found.path, "--set", "down=10s")
    assert said.returncode == 0, said.stdout + said.stderr

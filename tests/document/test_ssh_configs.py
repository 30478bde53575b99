"""Hosts whose address, port and account a configuration of ssh(1) names, read by OpenSSH itself."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from sample_documents import INVENTORY, spoil, written

from chaosk.document import DocumentError, load_inventory
from chaosk.hosts.ssh_config import entry
from chaosk.spec.inventory import Host, Inventory

NODE1 = "address: 192.0.2.11, user: chaosk, key_file: keys/id, known_hosts: keys/known"


def host(folder: Path, config: str, node: str) -> Host:
    """The first host of an inventory beside a configuration."""
    (folder / "ssh_config").write_text(config)
    found = load_inventory(written(folder, spoil(INVENTORY, NODE1, node)))
    assert isinstance(found, Inventory)
    return found.hosts["node1"]


def mistake(folder: Path, config: str, node: str) -> str:
    """The only mistake."""
    with pytest.raises(DocumentError) as caught:
        host(folder, config, node)
    assert len(caught.value.problems) == 1
    return f"{caught.value.problems[0].path}: {caught.value.problems[0].what}"


def test_what_the_inventory_leaves_out(tmp_path: Path) -> None:
    """Address, port and account are there once it is loaded, so that the guard of SSH sees the port."""
    config = "Match host kafka1\n HostName 192.0.2.77\n Port 2222\nHost *\n User nina\n"
    found = host(tmp_path, config, "address: kafka1, ssh: {config: ssh_config}")
    assert (found.address, found.port, found.user) == ("192.0.2.77", 2222, "nina")
    assert (found.ssh.config, found.ssh.name) == (str(tmp_path / "ssh_config"), "kafka1")


def test_what_the_inventory_says_goes_first(tmp_path: Path) -> None:
    """As options of ssh(1) do, also for `Match user`."""
    config = "Match user ops\n HostName 192.0.2.5\nHost *\n User nina\n Port 2222\n HostName 192.0.2.6\n"
    found = host(tmp_path, config, "address: kafka1, user: ops, port: 23, ssh: {config: ssh_config}")
    assert (found.address, found.port, found.user) == ("192.0.2.5", 23, "ops")


def test_another_name_in_the_configuration(tmp_path: Path) -> None:
    """The address of the inventory stays where the configuration has none for that name."""
    node = "address: 192.0.2.9, ssh: {config: ssh_config, name: broker_1}"
    assert host(tmp_path, "Host broker_1\n Port 2222\n", node).address == "192.0.2.9"
    assert host(tmp_path, "Host broker_1\n HostName 192.0.2.8\n", node).address == "192.0.2.8"


def test_an_account_that_nobody_names(tmp_path: Path) -> None:
    """This account, as with ssh(1)."""
    assert host(tmp_path, "", "address: kafka1, ssh: {config: ssh_config}").user == getpass.getuser()


def test_a_plan_keeps_the_way(tmp_path: Path) -> None:
    """A heal from the plan goes the same way as the run: nothing is looked up again but keys and jump hosts."""
    found = host(tmp_path, "Host kafka1\n HostName 192.0.2.77\n", "address: kafka1, ssh: {config: ssh_config}")
    assert Host.model_validate_json(found.model_dump_json()) == found


def test_a_mistake_in_the_configuration(tmp_path: Path) -> None:
    """With its file and line, at the key of the inventory that names the file."""
    said = mistake(tmp_path, "Host *\n Prot 22\n", "address: kafka1, ssh: {config: ssh_config}")
    assert said.startswith(f"hosts.node1.ssh.config: {tmp_path}/ssh_config:2: Bad configuration option: prot")


def test_no_such_configuration(tmp_path: Path) -> None:
    """It is named."""
    said = mistake(tmp_path, "", "address: kafka1, ssh: {config: elsewhere}")
    assert f"{tmp_path}/elsewhere: cannot be read" in said


@pytest.mark.parametrize("key", ["own_kernel: true", "power: {switch_off: [a], switch_on: [b], state: [c]}"])
def test_power_behind_a_jump_host(tmp_path: Path, key: str) -> None:
    """This machine could not see that the host is silent: it always is. Without a jump host it can."""
    node = f"address: kafka1, ssh: {{config: ssh_config}}, {key}"
    said = mistake(tmp_path, "Host kafka1\n ProxyJump bastion\n", node)
    assert said.startswith(f"hosts.node1.{key.partition(':')[0]}: power off and reboot are verified by its SSH server")
    host(tmp_path, "ProxyJump none\n", node)


def test_included_files_and_lists(tmp_path: Path) -> None:
    """OpenSSH reads the file, so that Include, tokens and quotes count; the line of the way there is told."""
    (tmp_path / "more").write_text("IdentityFile /keys/%r-%h\n")
    file = tmp_path / "ssh_config"
    file.write_text(
        'Host a\n  ProxyJump nina@b:2222,c\n  UserKnownHostsFile "/x/known hosts" /y\n'
        f"Host *\nInclude {tmp_path}/more\n"
    )
    found = entry(file, "a", "ops")
    assert found.key_files == (Path("/keys/ops-a"),)
    assert found.known_hosts[:2] == (Path("/x/known hosts"), Path("/y"))
    assert (found.jumps, found.proxied_at) == (("nina@b:2222", "c"), f"{file}:2")
    assert (entry(file, "b").jumps, entry(file, "b").direct) == ((), True)


@pytest.mark.parametrize("jumps", ["ProxyJump ops@b", "ProxyJump outside,b"])
def test_a_jump_host_that_is_part_of_the_cluster(tmp_path: Path, jumps: str) -> None:
    """A cut of it would be one of the way to heal: refused, with the line; a host outside is none."""
    node = "address: kafka1, ssh: {config: ssh_config}"
    config = f"Host kafka1\n {jumps}\nHost b\n HostName 192.0.2.12\n"
    said = mistake(tmp_path, config, node)
    assert said.startswith(f"hosts.node1.ssh.config: its jump host ({tmp_path}/ssh_config:2) is the host node2")
    host(tmp_path, config.replace("192.0.2.12", "192.0.2.13"), node)

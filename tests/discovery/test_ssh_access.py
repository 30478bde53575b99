"""Logins to hosts, from options and from a configuration of ssh(1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.core.errors import UsageError
from chaosk.discovery.inventory_text import inventory_text
from chaosk.discovery.machines import DiscoveredMachine, host_findings
from chaosk.discovery.merge import InventoryDraft
from chaosk.discovery.ssh_access import SshAccess, SshLogin, login_of

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "login"),
    [
        ("ops", SshLogin("ops")),
        ("ops@", SshLogin("ops")),
        ("ops@kafka1.example.net", SshLogin("ops", "kafka1.example.net")),
        ("ops@192.0.2.1:2222", SshLogin("ops", "192.0.2.1", 2222)),
        ("ops@[2001:db8::1]:22", SshLogin("ops", "2001:db8::1", 22)),
        ("kafka1.example.net:22", SshLogin(None, "kafka1.example.net", 22)),
    ],
)
def test_logins(text: str, login: SshLogin) -> None:
    """An account for all hosts, or one host with what belongs to it."""
    assert login_of(text) == login


@pytest.mark.parametrize("text", ["", "@", "ops@host:port", "a b"])
def test_no_login(text: str) -> None:
    """One line shows the forms."""
    with pytest.raises(UsageError, match="write USER@ for all hosts, or USER@HOST"):
        login_of(text)


def access(folder: Path, text: str, *logins: str) -> SshAccess:
    """Access by a configuration with this text, and these options."""
    file = folder / "config"
    file.write_text(text, "utf-8")
    return SshAccess(logins=tuple(map(login_of, logins)), config_file=file)


def test_a_configuration_is_translated(tmp_path: Path) -> None:
    """Patterns, address, port, account, key and known hosts; options win."""
    key = tmp_path / "key"
    key.touch()
    login = f"HostName 192.0.2.7\n User nina\n Port 2222\n IdentityFile {key}\n UserKnownHostsFile {tmp_path}/known"
    text = f"Host kafka*\n {login}\n"
    found = access(tmp_path, text, "ops@").settings("kafka1")
    assert {name: value for name, (value, _) in found.items()} == {
        "address": "192.0.2.7", "user": "ops", "port": 2222, "key_file": str(key), "known_hosts": f"{tmp_path}/known",
    }  # fmt: skip


@pytest.mark.parametrize("line", ["ProxyJump bastion.example.net", "ProxyCommand ssh -W %h:%p bastion"])
def test_a_host_behind_others_gets_the_name_of_the_configuration(tmp_path: Path, line: str) -> None:
    """Its line is the source; an option of chaosk still goes first. `none` is no jump host."""
    found = access(tmp_path, f"Host *\n {line}\n User nina\n Port 2222\n", "ops@").settings("kafka1")
    assert found == {
        "address": ("kafka1", "where it is named"),
        "ssh.config": (f"{tmp_path}/config", f"reached as in {tmp_path}/config:2"),
        "user": ("ops", "--ssh"),
    }  # fmt: skip
    assert "ssh.config" not in access(tmp_path, f"Host *\n {line.partition(' ')[0]} none\n").settings("kafka1")


def test_a_mistake_in_a_configuration(tmp_path: Path) -> None:
    """With its line."""
    with pytest.raises(UsageError, match=rf"{tmp_path}/config:2: Bad configuration option: prot"):
        access(tmp_path, "Host *\n Prot 22\n").settings("kafka1")


def test_the_configuration_is_a_block_in_the_inventory() -> None:
    """As an inventory has it."""
    machine = DiscoveredMachine(names=["kafka1"], settings={"ssh.config": ("/x/config", "there")}, name="kafka1")
    facts = {fact.place: fact for fact in host_findings([machine]).facts}
    assert "    ssh: {config: /x/config}" in inventory_text(InventoryDraft(facts, {}))

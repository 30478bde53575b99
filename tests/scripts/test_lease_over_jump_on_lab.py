"""Leases on a host behind a jump host: armed and renewed over it, carried out when it is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_hosts import Bare, bare
from on_lab import until

from chaosk.core.errors import ChaoskError
from chaosk.hosts import lease
from chaosk.hosts.lease import Lease
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.inventory import SshSettings

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

ABOUT = '{"run": "run-1", "entry": "e", "step": "s", "targets": "t", "by": "me"}'


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """Two hosts: node2 is the way to node1."""
    with bare("leasejump", count=2) as here:
        yield here


def test_a_lease_over_a_jump_host(hosts: Bare, tmp_path: Path) -> None:
    """As over a direct connection: a renewed lease is kept, and one that nobody can renew heals the host."""
    target, jump = hosts.inventory.hosts["node1"], hosts.inventory.hosts["node2"]
    config = tmp_path / "ssh_config"
    config.write_text(
        f"Host jump\n HostName {jump.address}\n User {jump.user}\n ProxyJump none\n"
        f"Host *\n IdentityFile {jump.key_file}\n UserKnownHostsFile {jump.known_hosts}\n ProxyJump jump\n"
    )
    ssh = Ssh({"node1": target.model_copy(update={"ssh": SshSettings(config=str(config))})})
    kept = Lease(id="run-1.e", run="run-1", host="node1", about=ABOUT, undo="touch /tmp/undone\n", check="true\n")
    assert ssh.run(lease.arm(kept, 6.0)).ok
    assert [one.id for one in lease.held("node1", ssh.run(lease.listing("node1")).stdout)] == ["run-1.e"]
    assert hosts.on("node1", "ls /tmp").split().count("undone") == 0
    hosts.on("node2", "pkill -KILL sshd")
    with pytest.raises(ChaoskError, match=r"node1: jump host jump \(.*cannot be reached"):
        ssh.run(lease.listing("node1"))
    until(lambda: "undone" in hosts.on("node1", "ls /tmp").split(), 20.0)
    ssh.close()

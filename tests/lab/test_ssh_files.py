"""What makes a host reachable as ops, and only so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import paramiko
import pytest

from chaosk.lab import ssh_files
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile
from chaosk.lab.ssh_files import KeyPair

SEATS = (Seat("node1", "198.18.0.11", 0, 1), Seat("node2", "198.18.0.12", 1, 2))
HOST, CLIENT = KeyPair("host private\n", "ssh-ed25519 HHHH"), KeyPair("client private\n", "ssh-ed25519 CCCC")


def files() -> dict[str, HostFile]:
    """The files of node1, by path."""
    return {file.path: file for file in ssh_files.files(SEATS[0], SEATS, HOST, CLIENT)}


def test_secrets_are_closed() -> None:
    """Only root reads the host's key; what allows ops to be root has the mode sudo insists on."""
    assert files()["/etc/ssh/ssh_host_ed25519_key"].mode == 0o600
    assert files()["/etc/sudoers"].mode == files()["/etc/sudoers.d/ops"].mode == 0o440


def test_a_host_never_sees_the_client_key() -> None:
    """The private half of chaosk's key stays with chaosk."""
    assert not [file for file in files().values() if CLIENT.private.strip() in file.text]


@pytest.mark.parametrize("line", ["PermitRootLogin no", "PasswordAuthentication no", "AllowUsers ops"])
def test_only_ops_with_a_key(line: str) -> None:
    """The SSH server lets in nobody else."""
    assert line in files()["/etc/ssh/sshd_config"].text.splitlines()


def test_own_name_is_known() -> None:
    """Without the host's own name in /etc/hosts sudo warns on every call."""
    assert "198.18.0.11 node1\n" in files()["/etc/hosts"].text
    assert files()["/etc/hostname"].text == "node1\n"


def test_sudoers_is_valid(tmp_path: Path) -> None:
    """A sudoers file with a mistake would lock everyone out: visudo reads it."""
    at = tmp_path / "sudoers"
    at.write_text(files()["/etc/sudoers"].text + files()["/etc/sudoers.d/ops"].text, encoding="ascii")
    checked = subprocess.run(["/usr/sbin/visudo", "-cf", str(at)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_keys_are_keys(tmp_path: Path) -> None:
    """A new pair is read by SSH itself and by paramiko, and its halves match; the next one is another."""
    pair, private = ssh_files.make_key(), tmp_path / "private"
    private.touch(0o600)
    private.write_text(pair.private, encoding="ascii")
    told = subprocess.run(["ssh-keygen", "-y", "-f", str(private)], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == pair.public
    key = paramiko.Ed25519Key.from_private_key_file(str(private))
    assert f"{key.get_name()} {key.get_base64()}" == pair.public
    assert ssh_files.make_key().public != pair.public


def test_known_hosts_is_read_strictly(tmp_path: Path) -> None:
    """Every host is known under its address and its name, by its own key."""
    keys = {seat.host: ssh_files.make_key() for seat in SEATS}
    (tmp_path / "known_hosts").write_text(ssh_files.known_hosts(SEATS, keys), encoding="ascii")
    known = paramiko.HostKeys(str(tmp_path / "known_hosts"))
    for seat in SEATS:
        for name in (seat.address, seat.host):
            entry = known.lookup(name)
            assert entry is not None
            assert f"ssh-ed25519 {entry['ssh-ed25519'].get_base64()}" == keys[seat.host].public

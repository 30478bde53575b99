"""Files that make a host reachable over SSH as ``ops`` only. Keys are made here; the rest is pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from chaosk.lab.seating import OUTSIDE, Seat
from chaosk.lab.service import HostFile

_SSHD = """# No passwords, no root: chaosk comes in as ops with a key.
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile .ssh/authorized_keys
AuthenticationMethods publickey
PermitRootLogin no
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowUsers ops
UsePAM no
UseDNS no
PrintMotd no
# chaosk keeps many channels open at once
MaxSessions 200
MaxStartups 200
Subsystem sftp internal-sftp
"""

_SUDOERS = """Defaults env_reset
Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
"""
_OPS = "ops ALL=(ALL:ALL) NOPASSWD: ALL\n"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An Ed25519 key pair in OpenSSH's own formats."""

    private: str
    public: str
    """``ssh-ed25519 AAAA...``, without a comment."""


def make_key() -> KeyPair:
    """Make a new key pair in memory: a separate program that writes it to files might outlive its caller."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return KeyPair(private.decode("ascii"), public.decode("ascii"))


def known_hosts(seats: tuple[Seat, ...], keys: dict[str, KeyPair]) -> str:
    """Return one line a host, under its address and its name."""
    return "".join(f"{seat.address},{seat.host} {keys[seat.host].public}\n" for seat in seats)


def files(seat: Seat, seats: tuple[Seat, ...], host_key: KeyPair, client: KeyPair) -> tuple[HostFile, ...]:
    """Return the files of every host, whatever its roles."""
    return (
        HostFile("/etc/hostname", f"{seat.host}\n"),
        HostFile("/etc/hosts", etc_hosts(seats)),
        HostFile("/etc/resolv.conf", ""),
        HostFile("/etc/sudoers", _SUDOERS + _OPS, 0o440, only="hosts"),  # otherwise it would be the machine's
        HostFile("/etc/sudoers.d/ops", _OPS, 0o440, only="vms"),
        HostFile("/etc/ssh/sshd_config", _SSHD),
        HostFile("/etc/ssh/ssh_host_ed25519_key", host_key.private, 0o600),
        HostFile("/etc/ssh/ssh_host_ed25519_key.pub", f"{host_key.public}\n"),
        HostFile("/etc/ssh/ops/authorized_keys", f"{client.public}\n"),
    )


def client(directory: Path, address: str) -> list[str]:
    """Return the command that logs in at ``address`` as ops, with the keys in the lab's ``directory`` alone."""
    return [
        *("ssh", "-F", "none", "-i", str(directory / "client_key"), "-o", "IdentitiesOnly=yes"),
        *("-o", f"UserKnownHostsFile={directory / 'known_hosts'}", "-o", "StrictHostKeyChecking=yes"),
        f"ops@{address}",
    ]


def etc_hosts(seats: tuple[Seat, ...]) -> str:
    """Return ``/etc/hosts``, with chaosk's own end; without the host's name in it, sudo warns on every call."""
    return "".join(
        [
            "127.0.0.1 localhost\n",
            f"{OUTSIDE} chaosk\n",
            *(f"{' '.join(filter(None, (seat.address, seat.host, seat.alias)))}\n" for seat in seats),
        ]
    )

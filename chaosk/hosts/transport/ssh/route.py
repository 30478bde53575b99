"""The way to a host: its jump hosts, nearest first, and the host itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from chaosk.core.errors import HostError, UsageError
from chaosk.hosts import ssh_config
from chaosk.hosts.ssh_config import Jump, SshConfigEntry
from chaosk.spec.inventory import Host, SecretRef


@dataclass(frozen=True, slots=True)
class Hop:
    """One SSH server on the way, and how to log in there."""

    label: str
    """What messages call it; empty for the host itself."""
    address: str
    port: int
    user: str
    key_files: tuple[Path, ...]
    certificates: tuple[Path, ...]
    agent: str | None
    """The socket of the SSH agent; None to ask none."""
    only_these_keys: bool
    """True if an agent is asked for the keys in ``key_files`` only."""
    known_hosts: tuple[Path, ...]
    key_alias: str | None
    proxy_command: str | None = None
    """The command that leads there, on the first hop only."""
    proxied_at: str = ""
    """File and line that name this hop or the command."""
    passphrase: SecretRef | None = None
    password: SecretRef | None = None
    """The password of ``user``; never one for a jump host."""
    strict_key: bool = False
    """True if the inventory names the key, so that it must be there."""

    @property
    def key_name(self) -> str:
        """Return the name under which its host key is known, without a port."""
        return self.key_alias or self.address


def route(name: str, host: Host) -> tuple[Hop, ...]:
    """Return the hops to a host of the inventory, itself last; raises HostError."""
    if host.ssh.config is None:
        return (_own(host),)
    try:
        own = ssh_config.entry(Path(host.ssh.config), host.ssh.name or host.address, host.user, host.port)
        jumps = (_jump(jump, host.ssh.key_passphrase) for jump in ssh_config.jumps(own))
        return (*jumps, _configured(own, host))
    except UsageError as error:
        raise HostError(name, str(error)) from error


def _own(host: Host) -> Hop:
    """Return the hop to a host that is described by the inventory alone."""
    return Hop(
        label="", address=host.address, port=host.port, user=host.user,
        key_files=() if host.key_file is None else (Path(host.key_file).expanduser(),), certificates=(),
        agent=None if host.key_file is not None else os.environ.get("SSH_AUTH_SOCK"), only_these_keys=False,
        known_hosts=(Path(host.known_hosts or "~/.ssh/known_hosts").expanduser(),), key_alias=None,
        passphrase=host.ssh.key_passphrase, password=host.ssh.password, strict_key=host.key_file is not None,
    )  # fmt: skip


def _configured(own: SshConfigEntry, host: Host) -> Hop:
    """Return the hop to a host whose settings in the inventory precede those of a configuration."""
    keys = own.key_files if host.key_file is None else (Path(host.key_file).expanduser(),)
    return Hop(
        label="", address=host.address, port=host.port, user=host.user, key_files=keys, certificates=own.certificates,
        agent=own.agent if host.key_file is None else None, only_these_keys=own.only_these_keys,
        known_hosts=own.known_hosts if host.known_hosts is None else (Path(host.known_hosts).expanduser(),),
        key_alias=own.key_alias, proxy_command=own.proxy_command, proxied_at=own.proxied_at,
        passphrase=host.ssh.key_passphrase, password=host.ssh.password, strict_key=host.key_file is not None,
    )  # fmt: skip


def _jump(jump: Jump, passphrase: SecretRef | None) -> Hop:
    own = jump.entry
    return Hop(
        label=f"jump host {jump.written} ({jump.at})", address=own.address, port=own.port, user=own.user,
        key_files=own.key_files, certificates=own.certificates, agent=own.agent, only_these_keys=own.only_these_keys,
        known_hosts=own.known_hosts, key_alias=own.key_alias,
        proxy_command=own.proxy_command if jump.nearest else None, proxied_at=own.proxied_at, passphrase=passphrase,
    )  # fmt: skip
